/** The conditions of a statement. */
export interface Conditions {
  /** Joined by AND; `true` without any. */
  readonly sql: string
  readonly values: readonly unknown[]
  /** Tells the statements of different filters apart in their prepared names. */
  readonly key: string
}

/**
 * Builds conditions from the filters that are set (not null), so that the plan may use the index that fits.
 * `?` stands for the value; numbering begins behind `before` parameters.
 */
export function conditions(
  filters: readonly (readonly [sql: string, value: string | number | readonly string[] | null])[],
  before = 0,
): Conditions {
  const wanted = filters.filter(([, value]) => value !== null)
  return {
    sql:
      wanted.map(([sql], at) => sql.replaceAll('?', `$${before + at + 1}`)).join(' AND ') || 'true',
    values: wanted.map(([, value]) => value),
    key: filters.map(([, value]) => (value === null ? '0' : '1')).join(''),
  }
}
