import type { Tx } from '../postgres/index.ts'

/** Types that a moved column may have in PostgreSQL. */
export type MovedType =
  | 'bigint'
  | 'boolean'
  | 'bytea'
  | 'double precision'
  | 'jsonb'
  | 'text'
  | 'timestamptz'

/** One column of a moved table. */
export interface MovedColumn {
  readonly name: string
  readonly type: MovedType
  /** SQL expression on the embedded table; the column of the same name when absent. */
  readonly from?: string
  /** For `jsonb`: the text as PostgreSQL writes it. */
  readonly shape?: (text: string) => string
}

/** How the rows of one embedded table become those of a PostgreSQL table. */
export interface MovedTable {
  /** In the schema `hivegate`. */
  readonly name: string
  /** The embedded table; the same name when absent. */
  readonly source?: string
  /** Columns of the embedded table that give its rows an order without equals. */
  readonly key: readonly string[]
  readonly columns: readonly MovedColumn[]
  /** The column that PostgreSQL numbers from now on, where the embedded store did. */
  readonly identity?: string
}

/** What one wing moves. */
export interface WingMove {
  readonly tables: readonly MovedTable[]
  /** Tables that the migrations fill: rows there do not make a database "used". */
  readonly prefilled?: readonly string[]
  /** Sets up what the PostgreSQL tables need besides the rows; the last step, in one transaction. */
  finish?(tx: Tx): Promise<void>
}

/** Columns of one type under their own names. */
export function columns(type: MovedType, ...names: readonly string[]): readonly MovedColumn[] {
  return names.map((name) => ({ name, type }))
}

/** A value as it goes to the database and into the checksum. */
export type MovedValue = string | number | boolean | Buffer | null
