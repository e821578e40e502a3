import { readdirSync, readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { StoreSchemaError } from './errors.ts'
import type { Migration, StoreModule } from './module.ts'

const FILE_NAME = /^([0-9]{3})-[a-z0-9-]+\.sql$/

/** Reads the numbered `.sql` files beside a module, such as `migrations/001-queues.sql`, in order. */
export function readMigrations(folder: URL): readonly Migration[] {
  return readdirSync(folder)
    .filter((name) => FILE_NAME.test(name))
    .sort()
    .map((name) => ({ name, sql: readFileSync(new URL(name, folder), 'utf8') }))
}

/** The number that orders a migration. @throws StoreSchemaError for a name of another form */
export function numberOf(migration: Migration): number {
  const match = FILE_NAME.exec(migration.name)
  if (match?.[1] === undefined) {
    throw new StoreSchemaError(`migration name "${migration.name}" is not NNN-words.sql`)
  }
  return Number(match[1])
}

function applyOne(db: DatabaseSync, module: StoreModule, migration: Migration): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    db.exec(migration.sql)
    db.prepare('INSERT INTO schema_migration (module, number, name) VALUES (?, ?, ?)').run(
      module.name,
      numberOf(migration),
      migration.name,
    )
    db.exec('COMMIT')
  } catch (cause) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw new StoreSchemaError(`migration ${module.name}/${migration.name} failed`, { cause })
  }
}

/**
 * Checks that a database holds no newer tables of a module than this program knows.
 * @throws StoreSchemaError
 */
export function refuseNewer(name: string, migrations: readonly Migration[], newest: number): void {
  if (newest <= Math.max(0, ...migrations.map(numberOf))) return
  throw new StoreSchemaError(
    `the database has schema ${newest} of "${name}", newer than this version knows; ` +
      'start the version that wrote it, or a newer one',
  )
}

/**
 * Brings one module's tables to the version of this program; the caller holds the boot lock.
 * @throws StoreSchemaError when the file was written by a newer version, or a step fails
 */
export function migrate(db: DatabaseSync, module: StoreModule): void {
  db.exec(
    `CREATE TABLE IF NOT EXISTS schema_migration (
       module TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL,
       PRIMARY KEY (module, number)) WITHOUT ROWID`,
  )
  const row = db
    .prepare('SELECT max(number) AS newest FROM schema_migration WHERE module = ?')
    .get(module.name)
  const newest = Number(row?.['newest'] ?? 0)
  refuseNewer(module.name, module.migrations, newest)
  for (const migration of module.migrations) {
    if (numberOf(migration) > newest) applyOne(db, module, migration)
  }
}
