import type { Statements } from '../../../../storage/index.ts'
import type { FlagName, Reads } from '../../../store.ts'

/** The stored switches of queue API 13. */
export async function readFlags(db: Statements): Promise<Reads['flags']['result']> {
  const rows = await db.rows<{ name: string; value: boolean }>(
    'flags',
    'SELECT name, value FROM hivegate.flag',
  )
  const stored = new Map(rows.map(({ name, value }) => [name, value]))
  const isOn = (name: FlagName): boolean => stored.get(name) ?? false
  return { pushMaintenance: isOn('pushMaintenance'), popMaintenance: isOn('popMaintenance') }
}
