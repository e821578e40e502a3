import type { PgHost, Tx } from '../postgres/index.ts'
import { type Digest, digestSql } from './digest.ts'
import { StoreMoveError } from './errors.ts'
import type { MovedRow, RowKey } from './source.ts'
import type { MovedTable, WingMove } from './table.ts'

/**
 * How far a move has come: one row for each table, written with the rows themselves. The table is there only
 * while a move is unfinished.
 */
const STATE = `
  CREATE TABLE hivegate.store_move (
    table_name text PRIMARY KEY,
    source text NOT NULL,
    last_key text, -- JSON array; NULL: nothing moved yet
    rows bigint NOT NULL,
    done boolean NOT NULL
  )`

/** How far one table has come. */
export interface Progress {
  readonly after: RowKey | null
  readonly rows: number
  readonly done: boolean
}

interface StateRow {
  readonly table_name: string
  readonly source: string
  readonly last_key: string | null
  readonly rows: number
  readonly done: boolean
}

async function hasRows(tx: Tx, table: string): Promise<boolean> {
  const [row] = await tx.rows<{ any: boolean }>(
    `move_any_${table}`,
    `SELECT EXISTS (SELECT FROM hivegate."${table}") AS any`,
  )
  return row?.any === true
}

/** Every table of ours that has rows although no migration put them there. */
async function tablesInUse(tx: Tx, wings: readonly WingMove[]): Promise<readonly string[]> {
  const ours = new Set(['schema_migration', ...wings.flatMap(({ prefilled = [] }) => prefilled)])
  const tables = await tx.rows<{ name: string }>(
    'move_tables',
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'hivegate' ORDER BY 1`,
  )
  const used: string[] = []
  for (const { name } of tables) {
    if (!ours.has(name) && (await hasRows(tx, name))) used.push(name)
  }
  return used
}

/** The database that a store is moved into. */
export class MoveTarget {
  readonly #host: PgHost
  readonly #wings: readonly WingMove[]

  constructor(host: PgHost, wings: readonly WingMove[]) {
    this.#host = host
    this.#wings = wings
  }

  /**
   * Begins the move, or goes on with one that was cut off.
   * @throws StoreMoveError for a database that holds anything but our own half-finished move
   */
  begin(source: string): Promise<ReadonlyMap<string, Progress>> {
    return this.#host.transaction(async (tx) => {
      const [found] = await tx.rows<{ there: boolean }>(
        'move_there',
        `SELECT to_regclass('hivegate.store_move') IS NOT NULL AS there`,
      )
      if (found?.there === true) return this.#resume(tx, source)
      const used = await tablesInUse(tx, this.#wings)
      if (used.length > 0) {
        throw new StoreMoveError(
          'target_in_use',
          `the database is in use: ${used.join(', ')} hold rows; name an empty one`,
        )
      }
      await tx.script(STATE)
      for (const { name } of this.#wings.flatMap(({ tables }) => tables)) {
        await tx.rows(
          'move_enter',
          'INSERT INTO hivegate.store_move VALUES ($1, $2, NULL, 0, false)',
          [name, source],
        )
      }
      return new Map<string, Progress>()
    })
  }

  async #resume(tx: Tx, source: string): Promise<ReadonlyMap<string, Progress>> {
    const rows = await tx.rows<StateRow>('move_state', 'SELECT * FROM hivegate.store_move')
    const other = rows.find((row) => row.source !== source)
    if (other !== undefined) {
      throw new StoreMoveError(
        'other_source',
        `the database holds a half-finished move of ${other.source}; go on with that one, or name an empty database`,
      )
    }
    return new Map(
      rows.map(({ table_name, last_key, rows: moved, done }) => [
        table_name,
        // We wrote it from a RowKey.
        { after: last_key === null ? null : (JSON.parse(last_key) as RowKey), rows: moved, done },
      ]),
    )
  }

  /** Writes rows and how far they bring the table, together. */
  write(table: MovedTable, rows: readonly MovedRow[]): Promise<void> {
    const { name, columns } = table
    const names = columns.map((column) => `"${column.name}"`).join(', ')
    const arrays = columns.map(({ type }, at) => `$${at + 1}::${type}[]`).join(', ')
    return this.#host.transaction(async (tx) => {
      await tx.rows(
        `move_${name}`,
        `INSERT INTO hivegate.${name} (${names}) OVERRIDING SYSTEM VALUE
         SELECT * FROM unnest(${arrays})`,
        columns.map((_, at) => rows.map(({ values }) => values[at] ?? null)),
      )
      await tx.rows(
        'move_progress',
        `UPDATE hivegate.store_move SET last_key = $2, rows = rows + $3 WHERE table_name = $1`,
        [name, JSON.stringify(rows.at(-1)?.key), rows.length],
      )
    })
  }

  /** Notes that a table is complete; its next row is numbered above `lastId`. */
  close({ name, identity }: MovedTable, lastId: number): Promise<void> {
    return this.#host.transaction(async (tx) => {
      if (identity !== undefined) {
        await tx.rows(
          `move_sequence_${name}`,
          `SELECT setval(pg_get_serial_sequence('hivegate.${name}', '${identity}'), $1, false)`,
          [lastId + 1],
        )
      }
      await tx.rows(
        'move_done',
        'UPDATE hivegate.store_move SET done = true WHERE table_name = $1',
        [name],
      )
    })
  }

  async digest(table: MovedTable): Promise<Digest> {
    const [digest] = await this.#host.rows<Digest>(`digest_${table.name}`, digestSql(table))
    return digest ?? { rows: 0, sum: '0' }
  }

  /** What the tables need besides the rows; from here on a broker may start. */
  async finish(): Promise<void> {
    await this.#host.transaction(async (tx) => {
      for (const wing of this.#wings) await wing.finish?.(tx)
      await tx.script('DROP TABLE hivegate.store_move')
    })
    await this.#host.rows('move_analyze', 'ANALYZE')
  }
}
