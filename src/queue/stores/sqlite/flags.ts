import type { DatabaseSync } from 'node:sqlite'
import type { FlagName, Reads, Writes } from '../../store.ts'
import { change, query } from './rows.ts'

/** The stored switches of queue API 13. */
export function flagTable(db: DatabaseSync) {
  const rows = query<{ name: string; value: number }>(db, 'SELECT name, value FROM flag')
  const set = change(
    db,
    `INSERT INTO flag (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  )
  return {
    set({ name, value }: Writes['setFlag']['args']): Writes['setFlag']['result'] {
      set(name, value ? 1 : 0)
      return { value }
    },
    all(): Reads['flags']['result'] {
      const stored = new Map(rows.all().map(({ name, value }) => [name, value === 1]))
      const isOn = (name: FlagName): boolean => stored.get(name) ?? false
      return { pushMaintenance: isOn('pushMaintenance'), popMaintenance: isOn('popMaintenance') }
    },
  }
}
