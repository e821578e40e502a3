import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { sqliteQueueModule } from '../../../src/queue/stores/sqlite/index.ts'
import { storeModule } from '../../../src/queue/stores/sqlite/module.ts'
import { openWriter } from '../../../src/storage/connection.ts'
import { migrate, numberOf } from '../../../src/storage/migrate.ts'

const MESSAGES = `SELECT position, id, transaction_id, trace_id, producer_sub, created_at, encrypted, payload
  FROM message WHERE partition_id = ? ORDER BY position`

test('messages of a file that was written before they stood by row number are all there afterwards', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'hivegate-rows-')), 'hivegate.db')
  const old = new DatabaseSync(file)
  const migrations = storeModule.migrations.filter((migration) => numberOf(migration) < 12)
  migrate(old, { ...storeModule, migrations })
  const insert = old.prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  for (let at = 1; at <= 500; at += 1) {
    // Partitions in turn, so that the order of the rows is not the order of their making.
    insert.run(1 + (at % 3), at, `id-${at}`, `tx-${at}`, null, at % 2 ? 'me' : null, at, 0, `${at}`)
  }
  const before = [1, 2, 3].map((partition) => old.prepare(MESSAGES).all(partition))
  old.close()

  const connection = await openWriter(file, [sqliteQueueModule({ encryptionKey: '' })])
  connection.close()

  const now = new DatabaseSync(file, { readOnly: true })
  expect([1, 2, 3].map((partition) => now.prepare(MESSAGES).all(partition))).toEqual(before)
  expect(before.flat()).toHaveLength(500)
  now.close()
})

test('a pop, a duplicate check and a walk over a partition use the indexes of the message table', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db, storeModule)
  const plan = (where: string, order = '') =>
    db
      .prepare(
        `EXPLAIN QUERY PLAN SELECT * FROM message WHERE partition_id = 1 AND ${where} ${order}`,
      )
      .all()
      .map(({ detail }) => String(detail))
  expect(plan('position > 5', 'ORDER BY position LIMIT 10')).toEqual([
    'SEARCH message USING INDEX message_position (partition_id=? AND position>?)',
  ])
  expect(plan("transaction_id = 'x'")).toEqual([
    'SEARCH message USING INDEX message_transaction (partition_id=? AND transaction_id=?)',
  ])
  db.close()
})
