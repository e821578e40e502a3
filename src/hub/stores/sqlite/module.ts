import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { readMigrations, type StoreModule, type StoreSession } from '../../../storage/index.ts'
import { MAX_CURSOR_SEARCH_UPDATES, type StoredUpdate } from '../../store.ts'
import type { AppendOperation, HistoryQuery } from './protocol.ts'

/** Updates in one page of history, and the bytes of data after which a page is full. */
const PAGE_UPDATES = 256
const PAGE_BYTES = 1024 * 1024

/** Rows deleted in one commit: a history whose size was lowered shrinks in steps. */
const TRIM_UPDATES = 10_000

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })

type Row = Readonly<Record<string, unknown>>

function storedUpdate(row: Row): StoredUpdate {
  const { type, retry, data } = row
  return {
    seq: Number(row['seq']),
    id: String(row['id']),
    // Written by `append` below as an array of texts.
    topics: JSON.parse(String(row['topics'])) as string[],
    data: data instanceof Uint8Array ? UTF8.decode(data) : '',
    private: row['private'] === 1,
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof retry === 'string' ? { retry } : {}),
  }
}

/** The hub's tables on one open connection. */
class HubSession implements StoreSession {
  readonly #insert: StatementSync
  readonly #trim: StatementSync
  readonly #ends: StatementSync
  readonly #head: StatementSync
  readonly #locate: StatementSync
  readonly #after: StatementSync

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      `INSERT INTO hub_update (id, private, topics, data, type, retry) VALUES (?, ?, ?, ?, ?, ?)`,
    )
    this.#trim = db.prepare('DELETE FROM hub_update WHERE seq < ?')
    this.#ends = db.prepare(
      `SELECT (SELECT min(seq) FROM hub_update) AS oldest, (SELECT max(seq) FROM hub_update) AS newest`,
    )
    this.#head = db.prepare('SELECT seq, id FROM hub_update ORDER BY seq DESC LIMIT 1')
    this.#locate = db.prepare('SELECT min(seq) AS seq FROM hub_update WHERE id = ? AND seq > ?')
    this.#after = db.prepare('SELECT * FROM hub_update WHERE seq > ? ORDER BY seq LIMIT +?')
  }

  write(batch: readonly unknown[]): readonly unknown[] {
    // Operations come from `sqliteHubStore` alone.
    const operations = batch as readonly AppendOperation[]
    const sequence = operations.map(({ update }) => {
      const { id, topics, data, type = null, retry = null } = update
      const isPrivate = update.private ? 1 : 0
      const done = this.#insert.run(
        id,
        isPrivate,
        JSON.stringify(topics),
        Buffer.from(data),
        type,
        retry,
      )
      return Number(done.lastInsertRowid)
    })
    const keep = Math.max(0, ...operations.map((operation) => operation.keep))
    if (keep > 0) this.#trimTo(keep)
    return sequence
  }

  read(query: unknown): unknown {
    // Queries come from `sqliteHubStore` alone.
    const asked = query as HistoryQuery
    if (asked.find === 'head') return this.#head.get() ?? { seq: 0 }
    if (asked.find === 'cursor') return this.#seqOf(asked.id)
    return this.#pageAfter(asked.seq)
  }

  #trimTo(keep: number): void {
    const { oldest, newest } = this.#bounds()
    const from = newest - keep + 1
    if (from > oldest) this.#trim.run(Math.min(from, oldest + TRIM_UPDATES))
  }

  #bounds(): { oldest: number; newest: number } {
    const row = this.#ends.get()
    return { oldest: Number(row?.['oldest'] ?? 1), newest: Number(row?.['newest'] ?? 0) }
  }

  #seqOf(id: string): number | undefined {
    const row = this.#locate.get(id, this.#bounds().newest - MAX_CURSOR_SEARCH_UPDATES)
    const seq = row?.['seq']
    return typeof seq === 'number' ? seq : undefined
  }

  #pageAfter(seq: number): unknown {
    const { oldest, newest } = this.#bounds()
    const updates: StoredUpdate[] = []
    let bytes = 0
    for (const row of this.#after.iterate(seq, PAGE_UPDATES)) {
      const update = storedUpdate(row)
      updates.push(update)
      bytes += update.data.length
      if (bytes >= PAGE_BYTES) break
    }
    const last = updates.at(-1)?.seq ?? seq
    return { updates, complete: seq + 1 >= oldest, atHead: last >= newest }
  }
}

/** The hub's part of the embedded store: its history. */
export const storeModule: StoreModule = {
  name: 'hub',
  migrations: readMigrations(new URL('./migrations/', import.meta.url)),
  open: (db) => new HubSession(db),
}
