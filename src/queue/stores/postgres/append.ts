import { StoreFailedError, type Tx } from '../../../storage/index.ts'
import type { PushItem, PushResult } from '../../store.ts'
import type { Answer, StoreContext } from './handler.ts'

/** A message that was diverted and is now stored with the id and the payload it got then. */
export interface KeptMessage {
  readonly item: PushItem
  readonly id: string
  readonly encrypted: boolean
  readonly producerSub: string | null
}

/** What is to be stored in one step. */
export interface Appending {
  readonly items: readonly PushItem[]
  readonly producerSub: string | null
  readonly nowUs: number
}

/**
 * Stores the items in order inside the caller's transaction, whatever push maintenance says; a known
 * transaction id stores nothing. Locks: the gates of the queues, then the partitions. Queue API 5.2.
 */
export async function append(
  tx: Tx,
  { items }: Appending,
  context: StoreContext,
): Promise<Answer<readonly PushResult[]>> {
  throw new StoreFailedError(`${tx}${items.length}${context}`)
}

/** Stores messages that were diverted, as they are, with the normal duplicate check. Queue API 13.1. */
export async function appendKept(
  tx: Tx,
  messages: readonly KeptMessage[],
  nowUs: number,
): Promise<Answer<readonly PushResult[]>> {
  throw new StoreFailedError(`${tx}${messages.length}${nowUs}`)
}
