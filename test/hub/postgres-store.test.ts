import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { HUB_PG_MODULE, postgresHubStore, type StoredUpdate } from '../../src/hub/index.ts'
import { openPostgresHost, type PgHost } from '../../src/storage/index.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import { openHistory } from './postgres-histories.ts'
import { hubStoreContract, readAll, update } from './store-contract.ts'

/** One for all tests, because making and removing a database each time is what takes longest. */
let shared: TestDatabase
beforeAll(async () => {
  shared = await createDatabase()
})
afterAll(() => shared.drop())

const EMPTY = `DO $$ BEGIN
  PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid();
  DROP SCHEMA IF EXISTS hivegate CASCADE;
END $$`

/** The database as if it had just been made; it stays for the next test. */
async function emptyDatabase(): Promise<TestDatabase> {
  await shared.query(EMPTY)
  return { ...shared, drop: async () => {} }
}

hubStoreContract('the history on PostgreSQL', async (historySize) =>
  openHistory(await emptyDatabase(), historySize),
)

/** How one of several stores on a database differs from the usual one. */
interface Member {
  readonly historySize?: number
  readonly checkMs?: number
  /** False: no notification reaches it. */
  readonly listens?: boolean
}

/** A store with a host of its own, as in another process, and what it has heard. */
async function member(database: TestDatabase, options: Member = {}) {
  const { historySize = 0, checkMs = 60_000, listens = true } = options
  const host: PgHost = await openPostgresHost({
    target: database.target,
    modules: [HUB_PG_MODULE],
    ...(listens ? {} : { listenTarget: null }),
  })
  const store = postgresHubStore(host, { historySize, checkMs })
  const heard: StoredUpdate[] = []
  const news = new EventTarget()
  let gaps = 0
  await store.open(
    (stored) => {
      heard.push(stored)
      news.dispatchEvent(new Event('update'))
    },
    () => {
      gaps += 1
    },
  )
  onTestFinished(async () => {
    await store.close()
    await host.close()
  })
  const hears = async (count: number) => {
    while (heard.length < count) {
      await new Promise((resolve) => news.addEventListener('update', resolve, { once: true }))
    }
  }
  return { store, heard, hears, gaps: () => gaps }
}

test('every broker hears every update once, in the one order of the hub, whoever accepted it', async () => {
  const database = await emptyDatabase()
  const members = [await member(database), await member(database), await member(database)]
  const publishing = members.map(async ({ store, heard }, who) => {
    for (let at = 0; at < 100; at += 1) {
      const ids = [`${who}-${at}-a`, `${who}-${at}-b`]
      await Promise.all(ids.map((id) => store.append(update(id), false)))
      for (const id of ids) expect(heard.some((one) => one.id === id)).toBe(true)
    }
  })
  await Promise.all(publishing)
  await Promise.all(members.map(({ hears }) => hears(600)))
  const [first, ...others] = members
  expect(first?.heard.map(({ seq }) => seq)).toEqual(Array.from({ length: 600 }, (_, at) => at + 1))
  for (const { heard, gaps } of others) {
    expect(heard).toEqual(first?.heard)
    expect(gaps()).toBe(0)
  }
  if (first) expect(await readAll(first.store)).toEqual(first.heard)
})

test('an update that is told directly while a look is under way is heard once, and is no gap', async () => {
  const database = await emptyDatabase()
  const host = await openPostgresHost({ target: database.target, modules: [HUB_PG_MODULE] })
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let looks = 0
  const slow: PgHost = {
    ...host,
    async rows(name, sql, values) {
      const rows = await host.rows(name, sql, values)
      if (name !== 'hub_page') return rows as never
      looks += 1
      asked.resolve()
      if (looks === 1) await released.promise
      return rows as never
    },
  }
  const store = postgresHubStore(slow, { historySize: 0, checkMs: 5 })
  const heard: string[] = []
  let gaps = 0
  await store.open(
    ({ id }) => heard.push(id),
    () => {
      gaps += 1
    },
  )
  // The look has read an empty history when the update comes in.
  await asked.promise
  await store.append(update('1'), false)
  released.resolve()
  while (looks < 3) await new Promise(setImmediate)
  expect([heard, gaps]).toEqual([['1'], 0])
  await store.close()
  await host.close()
})

test('a notification wakes a broker that looks only once a minute', async () => {
  const database = await emptyDatabase()
  const [speaker, hearer] = [await member(database), await member(database)]
  await speaker.store.append(update('1', { data: 'NUL \0' }), false)
  await hearer.hears(1)
  expect(hearer.heard).toEqual([{ ...update('1', { data: 'NUL \0' }), seq: 1 }])
})

test('updates whose notifications are lost are heard at the next look', async () => {
  const database = await emptyDatabase()
  const speaker = await member(database)
  const deaf = await member(database, { listens: false, checkMs: 20 })
  for (let at = 0; at < 5; at += 1) await speaker.store.append(update(`${at}`), false)
  await deaf.hears(5)
  expect(deaf.heard).toEqual(speaker.heard)
})

test('a broker that lags behind a short history still hears what was trimmed', async () => {
  const database = await emptyDatabase()
  const speaker = await member(database, { historySize: 2 })
  const slow = await member(database, { listens: false })
  for (let at = 1; at <= 9; at += 1) await speaker.store.append(update(`${at}`), true)
  expect((await readAll(slow.store)).map(({ id }) => id)).toEqual(['8', '9'])
  await slow.store.append(update('10'), false)
  expect(slow.heard.map(({ id }) => Number(id))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(slow.gaps()).toBe(0)
})

test('updates that were deleted unheard are reported as a gap', async () => {
  const database = await emptyDatabase()
  const speaker = await member(database, { historySize: 2 })
  const slow = await member(database, { listens: false })
  for (let at = 1; at <= 4; at += 1) await speaker.store.append(update(`${at}`), true)
  await database.query(`UPDATE hivegate.hub_update SET accepted_at = now() - interval '2 minutes'`)
  await speaker.store.append(update('5'), true)
  expect(await database.query('SELECT min(seq)::int AS first FROM hivegate.hub_update')).toEqual([
    { first: 4 },
  ])
  await slow.store.append(update('6'), false)
  expect(slow.heard.map(({ id }) => id)).toEqual(['4', '5', '6'])
  expect(slow.gaps()).toBe(1)
})

test('a database that was put back to an older state goes on being heard', async () => {
  const database = await emptyDatabase()
  const speaker = await member(database)
  const hearer = await member(database, { listens: false, checkMs: 20 })
  for (const id of ['1', '2', '3']) await speaker.store.append(update(id), false)
  await hearer.hears(3)
  await database.query('DELETE FROM hivegate.hub_update WHERE seq > 1')
  await database.query(`UPDATE hivegate.hub_head SET seq = 1, id = '1'`)
  while (hearer.gaps() === 0) await new Promise((resolve) => setImmediate(resolve))
  await speaker.store.append(update('2 again'), false)
  await hearer.hears(4)
  expect(hearer.heard.at(-1)).toEqual({ ...update('2 again'), seq: 2 })
})

test('an update that the database refuses fails alone', async () => {
  const database = await emptyDatabase()
  const { store, heard } = await member(database)
  const outcomes = await Promise.allSettled([
    store.append(update('good'), false),
    store.append(update('bad \0 id'), false),
    store.append(update('fine'), false),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(heard.map(({ id }) => id)).toEqual(['good', 'fine'])
  expect(await store.locate('bad \0 id')).toBeUndefined()
})
