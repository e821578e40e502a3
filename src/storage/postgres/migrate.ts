import { StoreError, StoreSchemaError } from '../errors.ts'
import { numberOf, refuseNewer } from '../migrate.ts'
import type { Migration } from '../module.ts'
import type { PgHostOptions, PgModule, Tx } from './types.ts'

/** Any constant of our own; brokers that start together take turns. */
const LOCK_KEY = 6_632_001

/** Oldest server that is tested against. */
const OLDEST_VERSION = 150_000

interface ServerFacts {
  readonly version: number
  readonly encoding: string
}

async function checkServer(tx: Tx): Promise<void> {
  const [facts] = await tx.rows<ServerFacts>(
    'server_facts',
    `SELECT current_setting('server_version_num')::int AS version,
            current_setting('server_encoding') AS encoding`,
  )
  if (facts === undefined || facts.version < OLDEST_VERSION) {
    throw new StoreSchemaError('the database server is older than PostgreSQL 15')
  }
  if (facts.encoding !== 'UTF8') {
    throw new StoreSchemaError(`the database has the encoding ${facts.encoding}, not UTF8`)
  }
}

async function applyOne(tx: Tx, name: string, migration: Migration): Promise<void> {
  try {
    await tx.script(migration.sql)
    await tx.rows(
      'migration_done',
      'INSERT INTO hivegate.schema_migration (module, number, name) VALUES ($1, $2, $3)',
      [name, numberOf(migration), migration.name],
    )
  } catch (cause) {
    if (cause instanceof StoreError && cause.status === 503) throw cause
    throw new StoreSchemaError(`migration ${name}/${migration.name} failed`, { cause })
  }
}

async function migrateModule(tx: Tx, { name, migrations }: PgModule): Promise<void> {
  const [row] = await tx.rows<{ newest: number }>(
    'migration_newest',
    'SELECT coalesce(max(number), 0) AS newest FROM hivegate.schema_migration WHERE module = $1',
    [name],
  )
  const newest = row?.newest ?? 0
  refuseNewer(name, migrations, newest)
  for (const migration of migrations) {
    if (numberOf(migration) > newest) await applyOne(tx, name, migration)
  }
}

/** A database into which a store is being moved is no store yet. */
async function refuseMove(tx: Tx): Promise<void> {
  const [found] = await tx.rows<{ there: boolean }>(
    'move_unfinished',
    `SELECT to_regclass('hivegate.store_move') IS NOT NULL AS there`,
  )
  if (found?.there === true) {
    throw new StoreSchemaError(
      'a move of an embedded store into this database is not finished; run hivegate migrate-store again',
    )
  }
}

/**
 * Brings the tables of all modules to the version of this program, all or nothing, inside the given transaction.
 * The lock goes with the transaction, so that it works behind a pooler.
 * @throws StoreSchemaError for a server or tables that this version cannot use, or when a step fails
 */
export async function migrate(
  tx: Tx,
  { modules, duringMove = false }: Pick<PgHostOptions, 'modules' | 'duringMove'>,
): Promise<void> {
  await checkServer(tx)
  await tx.script(`SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(${LOCK_KEY})`)
  const [found] = await tx.rows<{ there: boolean }>(
    'migration_table',
    `SELECT to_regclass('hivegate.schema_migration') IS NOT NULL AS there`,
  )
  // A role that may not create schemas can still start on a database that is already prepared.
  if (found?.there !== true) {
    await tx.script(
      `CREATE SCHEMA IF NOT EXISTS hivegate;
       CREATE TABLE hivegate.schema_migration (
         module text NOT NULL, number int NOT NULL, name text NOT NULL,
         PRIMARY KEY (module, number))`,
    )
  }
  if (!duringMove) await refuseMove(tx)
  for (const module of modules) await migrateModule(tx, module)
}
