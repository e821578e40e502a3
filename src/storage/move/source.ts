import { realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import { loadModules } from '../connection.ts'
import { DATABASE_FILE } from '../host.ts'
import { lockFolder } from '../lock.ts'
import { migrate } from '../migrate.ts'
import type { ModuleSpec } from '../module.ts'
import { StoreMoveError } from './errors.ts'
import type { MovedColumn, MovedTable, MovedValue } from './table.ts'

/** Values of a table's key columns; where a row stands in the order. */
export type RowKey = readonly (string | number)[]

/** One row: its place and its values in the order of the table's columns. */
export interface MovedRow {
  readonly key: RowKey
  readonly values: readonly MovedValue[]
}

function movedValue(value: SQLOutputValue, column: MovedColumn): MovedValue {
  if (value === null) return null
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (column.type === 'boolean') return value === 1
  if (column.type === 'jsonb') return column.shape?.(String(value)) ?? String(value)
  return typeof value === 'bigint' ? Number(value) : value
}

/** The ms of a UUIDv7, whose first 48 bits they are; -1 for empty text. */
function msOfId(id: SQLOutputValue): number {
  if (typeof id !== 'string' || id === '') return -1
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** The embedded store of a folder, locked: no broker works on it meanwhile. */
export class MoveSource {
  readonly #db: DatabaseSync
  readonly #lock: DatabaseSync
  /** Tells this folder from others. */
  readonly identity: string

  private constructor(db: DatabaseSync, lock: DatabaseSync, identity: string) {
    this.#db = db
    this.#lock = lock
    this.identity = identity
  }

  /**
   * Brings the tables up to date like a broker that starts.
   * @throws StoreLockedError while a broker has the folder; StoreMoveError when there is no store in it
   */
  static async open(dataDir: string, specs: readonly ModuleSpec[]): Promise<MoveSource> {
    const file = join(dataDir, DATABASE_FILE)
    const found = statSync(file, { throwIfNoEntry: false })
    if (found === undefined) {
      throw new StoreMoveError('no_source', `"${dataDir}" holds no embedded store`)
    }
    const lock = lockFolder(dataDir)
    const modules = await loadModules(specs)
    const db = new DatabaseSync(file)
    db.exec('PRAGMA journal_mode = WAL; PRAGMA temp_store = MEMORY')
    for (const module of modules) migrate(db, module)
    db.function('ms_of_id', { deterministic: true }, msOfId)
    return new MoveSource(db, lock, `${realpathSync(file)} ${found.dev}:${found.ino}`)
  }

  count({ name, source = name }: MovedTable): number {
    return Number(this.#db.prepare(`SELECT count(*) AS n FROM ${source}`).get()?.['n'] ?? 0)
  }

  /** The highest number that was ever given to a row of the table, 0 for none: it is not used again. */
  lastId({ name, source = name, identity }: MovedTable): number {
    if (identity === undefined) return 0
    const row = this.#db
      .prepare(
        `SELECT max(coalesce((SELECT max("${identity}") FROM ${source}), 0),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)) AS last`,
      )
      .get(source)
    return Number(row?.['last'] ?? 0)
  }

  /** The rows of a table behind a place, in the order of its key. */
  *rows(table: MovedTable, after: RowKey | null): Generator<MovedRow> {
    const { name, source = name, key, columns } = table
    const wanted = columns.map((column) => column.from ?? `t."${column.name}"`)
    const place = key.map((part) => `t."${part}"`).join(', ')
    const behind = after === null ? '' : `WHERE (${place}) > (${key.map(() => '?').join(', ')})`
    const sql = `SELECT ${place}, ${wanted.join(', ')} FROM ${source} t ${behind} ORDER BY ${place}`
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(true)
    const given: SQLInputValue[] = [...(after ?? [])]
    for (const found of statement.iterate(...given)) {
      // setReturnArrays makes it one.
      const row = found as unknown as SQLOutputValue[]
      yield {
        key: row
          .slice(0, key.length)
          .map((part) => (typeof part === 'string' ? part : Number(part))),
        values: columns.map((column, at) => movedValue(row[key.length + at] ?? null, column)),
      }
    }
  }

  close(): void {
    this.#db.close()
    this.#lock.close()
  }
}
