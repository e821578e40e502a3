import { afterAll, beforeAll } from 'vitest'
import { postgresQueueModule, postgresQueueStore } from '../../src/queue/stores/postgres/index.ts'
import { openPostgresHost, type PgHost, type PgHostOptions } from '../../src/storage/index.ts'
import type { StoreFactory } from '../queue/store-contract/bench.ts'
import { createDatabase, type TestDatabase } from './postgres.ts'
import { type OpenTestStore, testStore } from './queue-store.ts'

/**
 * Empties every table and starts every sequence anew; what the migrations have entered is entered again. DELETE,
 * because TRUNCATE makes new files of every table and index, and waits for the disk.
 */
const EMPTY = `
DO $$
DECLARE
  name text;
BEGIN
  SET LOCAL session_replication_role = replica; -- no triggers
  FOR name IN SELECT tablename FROM pg_tables
    WHERE schemaname = 'hivegate' AND tablename <> 'schema_migration'
  LOOP
    EXECUTE format('DELETE FROM hivegate.%I', name);
  END LOOP;
  PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false) FROM pg_sequences
    WHERE schemaname = 'hivegate' AND last_value IS NOT NULL;
  INSERT INTO hivegate.buffer_stamp (stamp) VALUES (0);
END $$`

/** Connections of a test's store: more than lanes and a few operations need. */
const POOL_SIZE = 8

/** The queue's tables in a database of their own for one test file; call it at the top of a `describe`. */
export class PostgresStores {
  #database: TestDatabase | undefined
  #usual: Partial<PgHostOptions> = {}
  readonly #hosts = new Set<PgHost>()

  /** `usual` says how hosts are opened where it is not as always, such as through a pooler. */
  constructor(
    usual: (database: TestDatabase) => Promise<Partial<PgHostOptions>> = async () => ({}),
  ) {
    beforeAll(async () => {
      this.#database = await createDatabase()
      this.#usual = await usual(this.#database)
    })
    afterAll(async () => {
      await this.closeHosts()
      await this.#database?.drop()
    })
  }

  get database(): TestDatabase {
    if (this.#database === undefined) throw new Error('only inside a test')
    return this.#database
  }

  /** One more process, as it were, on the same database. */
  async openHost(options: Partial<PgHostOptions> = {}): Promise<PgHost> {
    const { target } = this.database
    const host = await openPostgresHost({
      ...{ target, modules: [postgresQueueModule], poolSize: POOL_SIZE },
      ...this.#usual,
      ...options,
    })
    this.#hosts.add(host)
    return host
  }

  async closeHosts(): Promise<void> {
    for (const host of this.#hosts) await host.close()
    this.#hosts.clear()
  }

  /** Makes the tables if they are not there, and empties them. */
  async empty(): Promise<void> {
    if (this.#hosts.size === 0) await this.openHost()
    await this.closeHosts()
    await this.database.query(EMPTY)
  }

  /** Stores for the contract: each begins with empty tables. */
  readonly factory: StoreFactory = async (encryptionKey) => {
    await this.empty()
    const open = async (key: string) =>
      postgresQueueStore(await this.openHost(), { encryptionKey: key })
    return {
      store: await open(encryptionKey),
      reopen: async (key = encryptionKey) => {
        await this.closeHosts()
        return open(key)
      },
      close: () => this.closeHosts(),
    }
  }

  /** The same for the suites that take a `TestStore`. */
  readonly openTestStore: OpenTestStore = async ({ encryptionKey = '' } = {}) => {
    await this.empty()
    const store = testStore(postgresQueueStore(await this.openHost(), { encryptionKey }))
    return { ...store, close: () => this.closeHosts() }
  }
}
