import type { DatabaseSync } from 'node:sqlite'
import type { Reads, Writes } from '../../store.ts'
import { switchesOf } from '../stored-flags.ts'
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
      return switchesOf(rows.all())
    },
  }
}
