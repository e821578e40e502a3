import type { Tx } from '../../../../storage/index.ts'
import type { Writes } from '../../../store.ts'
import { type Answer, quiet } from '../handler.ts'

/** Sets one of the stored switches of queue API 13. */
export async function setFlag(
  tx: Tx,
  { name, value }: Writes['setFlag']['args'],
): Promise<Answer<Writes['setFlag']['result']>> {
  // No push may go into a buffer of which the drain believes that it is empty.
  await tx.rows('buffer_gate_alone', 'SELECT hivegate.enter_buffer_gate(true)')
  await tx.rows(
    'set_flag',
    `INSERT INTO hivegate.flag (name, value) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [name, value],
  )
  return quiet({ value })
}
