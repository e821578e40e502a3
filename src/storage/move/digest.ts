import { createHash } from 'node:crypto'
import type { MovedColumn, MovedTable, MovedValue } from './table.ts'

/** Number and checksum of rows, in whatever order they come. */
export interface Digest {
  readonly rows: number
  /** Sum of 48 bits of the MD5 of every row, decimal. */
  readonly sum: string
}

/** Doubles as their eight bytes: the two programs write decimals differently. */
function doubleText(value: number): string {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes.toString('hex')
}

function valueText(value: Exclude<MovedValue, null>, { type }: MovedColumn): string {
  if (Buffer.isBuffer(value)) return value.toString('hex')
  return type === 'double precision' ? doubleText(Number(value)) : String(value)
}

/** The time of the move itself is no part of what is compared. */
function isCompared({ type }: MovedColumn): boolean {
  return type !== 'timestamptz'
}

/** Adds rows up on the way. */
export class Digester {
  readonly #columns: readonly MovedColumn[]
  #rows = 0
  #sum = 0n

  constructor(table: MovedTable) {
    this.#columns = table.columns
  }

  add(values: readonly MovedValue[]): void {
    const hash = createHash('md5')
    this.#columns.forEach((column, at) => {
      if (!isCompared(column)) return
      const value = values[at] ?? null
      if (value === null) {
        hash.update('-')
        return
      }
      const text = valueText(value, column)
      hash.update(`${Buffer.byteLength(text)}:`)
      hash.update(text)
    })
    this.#rows += 1
    this.#sum += BigInt(hash.digest().readUIntBE(0, 6))
  }

  get rows(): number {
    return this.#rows
  }

  get digest(): Digest {
    return { rows: this.#rows, sum: String(this.#sum) }
  }
}

const TEXT_OF: Readonly<Record<MovedColumn['type'], (name: string) => string>> = {
  bigint: (name) => `${name}::text`,
  boolean: (name) => `${name}::text`,
  bytea: (name) => `encode(${name}, 'hex')`,
  'double precision': (name) => `encode(float8send(${name}), 'hex')`,
  jsonb: (name) => `${name}::text`,
  text: (name) => name,
  timestamptz: (name) => `${name}::text`,
}

/** The statement that computes the same from the PostgreSQL table. */
export function digestSql({ name, columns }: MovedTable): string {
  const parts = columns.filter(isCompared).map((column) => {
    const text = TEXT_OF[column.type](`t."${column.name}"`)
    return `coalesce(octet_length(${text}) || ':' || ${text}, '-')`
  })
  return `
    SELECT count(*) AS rows,
      coalesce(sum(('x' || substr(md5(${parts.join(' || ')}), 1, 12))::bit(48)::bigint), 0)::text AS sum
    FROM hivegate.${name} t`
}
