import type { Tx } from '../../../storage/index.ts'
import type { PushItem, PushResult } from '../../store.ts'
import type { KeptMessage } from '../buffer-rows.ts'
import type { Answer, StoreContext } from './handler.ts'
import { type Outgoing, type PushAnswer, planPush, sendPush } from './push-batch.ts'

/** What is to be stored in one step. */
export interface Appending {
  readonly items: readonly PushItem[]
  readonly producerSub: string | null
  readonly nowUs: number
}

/** Without diversion nothing is buffered. */
function stored({ value, ...rest }: PushAnswer): Answer<readonly PushResult[]> {
  return { value: value.filter((result) => result.status !== 'buffered'), ...rest }
}

/**
 * Stores the items in order inside the caller's transaction, whatever push maintenance says; a known
 * transaction id stores nothing. Locks: the gates of the queues, then the partitions. Queue API 5.2.
 */
export async function append(
  tx: Tx,
  { items, producerSub, nowUs }: Appending,
  context: StoreContext,
): Promise<Answer<readonly PushResult[]>> {
  const batch = items.map((item): Outgoing => ({ item, producerSub }))
  return stored(await sendPush(tx, planPush(batch, nowUs, context), false))
}

/** Stores messages that were diverted, as they are, with the normal duplicate check. Queue API 13.1. */
export async function appendKept(
  tx: Tx,
  messages: readonly KeptMessage[],
  nowUs: number,
  context: StoreContext,
): Promise<Answer<readonly PushResult[]>> {
  const batch = messages.map(({ item, producerSub, id, encrypted }): Outgoing => {
    return { item, producerSub, kept: { id, encrypted } }
  })
  return stored(await sendPush(tx, planPush(batch, nowUs, context), false))
}
