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
  return {
    one: (...values) => statement.get(...values) as R | undefined,
    all: (...values) => statement.all(...values) as R[],
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
