import type { Statements } from '../../../../storage/index.ts'
import type { Reads } from '../../../store.ts'
import { switchesOf } from '../../stored-flags.ts'

/** The stored switches of queue API 13. */
export async function readFlags(db: Statements): Promise<Reads['flags']['result']> {
  const rows = await db.rows<{ name: string; value: boolean }>(
    'flags',
    'SELECT name, value FROM hivegate.flag',
  )
  return switchesOf(rows)
}
