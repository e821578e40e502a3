import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Which store the brokers of a test run keep their data in; `test/e2e` and others run on both. */
export const STORE = process.env['HIVEGATE_TEST_STORE'] === 'postgres' ? 'postgres' : 'sqlite'

/** What of a database the tests use. */
interface Database {
  readonly url: string
  query(sql: string): Promise<Record<string, unknown>[]>
  drop(): Promise<void>
}

/** The database that stands for each data folder, so that a broker started again finds its data. */
const databases = new Map<string, Promise<Database>>()

/**
 * What the environment of a broker has to say so that it keeps its data where this run wants it: nothing for the
 * embedded store, else the database of its data folder.
 */
export async function storeSettings(dataDir: string): Promise<Readonly<Record<string, string>>> {
  if (STORE !== 'postgres') return {}
  const { createDatabase } = await import('./postgres.ts')
  const database = databases.get(dataDir) ?? createDatabase()
  databases.set(dataDir, database)
  return { DATABASE_URL: (await database).url, DATABASE_POOL_SIZE: '6' }
}

/** Removes the database of a data folder; nothing without one. */
export async function dropStore(dataDir: string): Promise<void> {
  const database = databases.get(dataDir)
  databases.delete(dataDir)
  await (await database)?.drop()
}

/** Everything that is stored for a data folder, as bytes to look for something in. */
export async function storedBytes(dataDir: string): Promise<Buffer> {
  const database = await databases.get(dataDir)
  if (database === undefined) {
    const entries = await readdir(dataDir, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    return Buffer.concat(
      await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name)))),
    )
  }
  const [row] = await database.query(
    `SELECT schema_to_xml('hivegate', false, false, '')::text AS stored`,
  )
  return Buffer.from(String(row?.['stored']))
}
