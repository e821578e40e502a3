import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** What can be bound to a statement. */
export type Value = string | number | null

/** A prepared statement that yields rows. */
export interface Query<R> {
  one(...values: Value[]): R | undefined
  all(...values: Value[]): R[]
}

/** A prepared statement that changes rows; answers how many. */
export type Change = (...values: Value[]) => number

/**
 * Prepares a query. `R` names the columns of the SQL that stands beside it: the tables are STRICT and
 * our own, so that the statement itself is the proof of the shape.
 */
export function query<R>(db: DatabaseSync, sql: string): Query<R> {
  const statement = db.prepare(sql)
  // Objects made by the driver cost more than twice as much as arrays that become objects here.
  statement.setReturnArrays(true)
  const names = statement.columns().map(({ name }) => name)
  const rowOf = (values: unknown): R => {
    const row: Record<string, unknown> = {}
    // Arrays were asked for; the driver's types know of objects only.
    const cells = values as readonly unknown[]
    for (let at = 0; at < names.length; at += 1) row[names[at] ?? ''] = cells[at]
    return row as R
  }
  return {
    one(...values) {
      const cells: unknown = statement.get(...values)
      return cells === undefined ? undefined : rowOf(cells)
    },
    all: (...values) => statement.all(...values).map(rowOf),
  }
}

/** Prepares a change. */
export function change(db: DatabaseSync, sql: string): Change {
  const statement: StatementSync = db.prepare(sql)
  return (...values) => Number(statement.run(...values).changes)
}

/** Prepares an insert; answers the new row's id. */
export function insert(db: DatabaseSync, sql: string): Change {
  const statement = db.prepare(sql)
  return (...values) => Number(statement.run(...values).lastInsertRowid)
}
