/** Which store the brokers of a test run keep their data in; `test/e2e` and others run on both. */
const onPostgres = process.env['HIVEGATE_TEST_STORE'] === 'postgres'

/** The database that stands for each data folder, so that a broker started again finds its data. */
const databases = new Map<string, Promise<{ readonly url: string; drop(): Promise<void> }>>()

/**
 * What the environment of a broker has to say so that it keeps its data where this run wants it: nothing for the
 * embedded store, else the database of its data folder.
 */
export async function storeSettings(dataDir: string): Promise<Readonly<Record<string, string>>> {
  if (!onPostgres) return {}
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
