import pg from 'pg'

/** Object ids of PostgreSQL's types (pg_type.dat). */
const INT8 = 20
const INT8_ARRAY = 1016
const NUMERIC = 1700

type Parser = (text: string) => unknown

/** `{1,2,NULL}`, one dimension. */
const intArray: Parser = (text) => {
  const inner = text.slice(1, -1)
  const parts = inner === '' ? [] : inner.split(',')
  return parts.map((part) => (part === 'NULL' ? null : Number(part)))
}

// Ids, positions, times in µs and counts stay below 2^53; sums of bigint come as numeric.
const PARSERS: ReadonlyMap<number, Parser> = new Map([
  [INT8, Number],
  [NUMERIC, Number],
  [INT8_ARRAY, intArray],
])

/** The type parsers of our connections alone; those of other users of `pg` in the process stay as they are. */
export const TYPES: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    const own = format === 'binary' ? undefined : PARSERS.get(oid)
    return own ?? pg.types.getTypeParser(oid, format)
  },
}
