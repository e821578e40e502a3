import type { Tx } from '../../../storage/index.ts'
import type { AckResult, Writes } from '../../store.ts'
import { sendAcks } from './ack-batch.ts'
import { type Answer, quiet } from './handler.ts'

/** Acks inside the caller's transaction; results in the order of the items. Locks cursors. Queue API 6.2. */
export async function ackIn(
  tx: Tx,
  args: Writes['ack']['args'],
): Promise<Answer<readonly AckResult[]>> {
  const [answer] = await sendAcks(tx, [args])
  return answer ?? quiet([])
}
