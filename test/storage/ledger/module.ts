import { readMigrations, type StoreModule } from '../../../src/storage/index.ts'

/** One write of the test ledger. */
export interface LedgerWrite {
  readonly name: string
  readonly amount: number
}

/** A small store module: named amounts that must be positive. */
export const storeModule: StoreModule = {
  name: 'ledger',
  migrations: readMigrations(new URL('./migrations/', import.meta.url)),
  open(db) {
    const upsert = db.prepare(
      `INSERT INTO entry (name, amount) VALUES (?, ?)
       ON CONFLICT (name) DO UPDATE SET amount = amount + excluded.amount RETURNING amount`,
    )
    const total = db.prepare('SELECT coalesce(sum(amount), 0) AS total FROM entry')
    let writes = 0
    return {
      write(batch) {
        return batch.map((operation) => {
          const { name, amount } = operation as LedgerWrite
          if (amount <= 0) throw new Error(`${name} must be positive`)
          writes += 1
          return { amount: upsert.get(name, amount)?.['amount'], writes }
        })
      },
      read: () => total.get()?.['total'],
      reset() {
        writes = 0
      },
    }
  },
}
