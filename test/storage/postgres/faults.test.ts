import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  openPostgresHost,
  type PgHost,
  type PgHostOptions,
  StoreBusyError,
  StoreClosedError,
  type StoreError,
  StoreUnavailableError,
} from '../../../src/storage/index.ts'
import { ownCluster } from '../../support/postgres/own-cluster.ts'
import { queryOn, type TestDatabase, targetOn } from '../../support/postgres.ts'

const cluster = ownCluster()
let database: TestDatabase
beforeAll(async () => {
  database = await cluster.createDatabase()
})

async function open(options: Partial<PgHostOptions> = {}): Promise<PgHost> {
  const host = await openPostgresHost({ target: database.target, modules: [], ...options })
  onTestFinished(() => host.close())
  return host
}

/** Ends every connection of hosts; answers how many there were. */
async function terminateAll(): Promise<number> {
  const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name LIKE 'hivegate%' AND datname = $1`
  return (await queryOn(targetOn(cluster.address, 'postgres'), sql, [database.target.database]))
    .length
}

/** Asks until the database answers again; how long that takes is the machine's affair. */
async function untilBack(host: PgHost): Promise<void> {
  for (;;) {
    try {
      return await host.ping()
    } catch (error) {
      expect(error).toBeInstanceOf(StoreUnavailableError)
      await pause(10)
    }
  }
}

const SLEEP = 'SELECT pg_sleep(600)'

test('whoever finds every connection taken waits for a bounded time, in a bounded line', async () => {
  const host = await open({ poolSize: 1, maxWaiting: 1, connectTimeoutMs: 200 })
  const taken = Promise.withResolvers<void>()
  const free = Promise.withResolvers<void>()
  const holder = host.transaction(async () => {
    taken.resolve()
    await free.promise
  })
  await taken.promise
  const ask = () => host.rows('one', 'SELECT 1')
  const waiting = expect(ask()).rejects.toBeInstanceOf(StoreBusyError)
  await expect(ask()).rejects.toMatchObject({ status: 503, retryAfterS: 1 })
  await waiting
  free.resolve()
  await holder
  await host.ping()
})

test('a ping of a server that answers does not wait for a connection when all are at work', async () => {
  const host = await open({ poolSize: 1, maxWaiting: 1, connectTimeoutMs: 200 })
  const pings: string[] = []
  const ping = () =>
    host.ping().then(
      () => pings.push('there'),
      (error: StoreError) => pings.push(error.code),
    )
  const work = host.transaction(async (tx) => {
    await tx.rows('one', 'SELECT 1')
    await ping()
    await terminateAll()
    await tx.rows('one', 'SELECT 1').catch(() => undefined)
    await ping()
  })
  await expect(work).rejects.toBeInstanceOf(StoreUnavailableError)
  expect(pings).toEqual(['there', 'store_busy'])
})

test('a lost connection says whether it was the listening one', async () => {
  const seen = Promise.withResolvers<string>()
  const listenTarget = { ...database.target, database: 'nowhere' }
  const host = await open({
    listenTarget,
    onConnectionError: (_error, which) => seen.resolve(which),
  })
  host.listen('hivegate_test', { heard: () => undefined, restored: () => undefined })
  expect(await seen.promise).toBe('listen')
})

test('a statement that takes too long is ended by the server, and the connection goes on', async () => {
  const host = await open({ poolSize: 1, statementTimeoutMs: 100 })
  const pid = () => host.rows('pid', 'SELECT pg_backend_pid() AS pid')
  const before = await pid()
  await expect(host.rows('sleep', SLEEP)).rejects.toBeInstanceOf(StoreUnavailableError)
  expect(await pid()).toEqual(before)
})

test('behind a pooler transactions carry the limit with them', async () => {
  const host = await open({ pooler: true, statementTimeoutMs: 100 })
  const work = host.transaction((tx) => tx.rows('sleep', SLEEP))
  await expect(work).rejects.toBeInstanceOf(StoreUnavailableError)
})

test('a connection that the server ends fails its work, and the next call has a new one', async () => {
  const host = await open({ poolSize: 2 })
  const work = expect(host.rows('sleep', SLEEP)).rejects.toBeInstanceOf(StoreUnavailableError)
  const running = `SELECT 1 FROM pg_stat_activity WHERE query = '${SLEEP}'`
  while ((await database.query(running)).length === 0) await pause(5)
  expect(await terminateAll()).toBe(1)
  await work
  await host.ping()
})

test('idle connections that the server ends are replaced unnoticed', async () => {
  const host = await open()
  await Promise.all([host.ping(), host.ping(), host.ping()])
  await terminateAll()
  const gone = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'hivegate' AND datname = $1`
  while ((await database.query(gone, [database.target.database])).length > 0) await pause(5)
  await untilBack(host)
})

test('the listening connection comes back by itself and says so', async () => {
  const host = await open()
  let restored = 0
  const heard: string[] = []
  host.listen('hivegate_test', {
    heard: (payload) => heard.push(payload),
    restored: () => {
      restored += 1
    },
  })
  const until = async (done: () => boolean) => {
    while (!done()) await pause(5)
  }
  await until(() => restored === 1)
  await terminateAll()
  await until(() => restored === 2)
  await untilBack(host)
  await host.notify('hivegate_test', 'again')
  await until(() => heard.length > 0)
  expect(heard).toEqual(['again'])
})

test('a server that dies is unavailable at once, and in use again after its restart', async () => {
  const lost: Error[] = []
  const host = await open({ onConnectionError: (error) => lost.push(error) })
  let restored = 0
  host.listen('hivegate_test', {
    heard: () => undefined,
    restored: () => {
      restored += 1
    },
  })
  while (restored < 1) await pause(5)
  const work = expect(host.transaction((tx) => tx.rows('sleep', SLEEP))).rejects.toMatchObject({
    code: 'store_unavailable',
  })
  await cluster.crash()
  await work
  // A thousand calls while it is away: all answered, without a storm of attempts.
  const calls = Array.from({ length: 1000 }, () => host.ping())
  const outcomes = await Promise.allSettled(calls)
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
  expect(lost.length).toBeGreaterThan(0)
  await cluster.start()
  await untilBack(host)
  while (restored < 2) await pause(5)
})

test('a server that takes connections and says nothing is given up', async () => {
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void silent.close())
  const address = silent.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const target = { ...database.target, port }
  const opening = openPostgresHost({ target, modules: [], connectTimeoutMs: 100 })
  await expect(opening).rejects.toBeInstanceOf(StoreUnavailableError)
})

test('a wrong password is told apart in the cause and never repeated', async () => {
  const target = { ...database.target, password: 'wr0ng' }
  const failure: unknown = await openPostgresHost({ target, modules: [] }).catch((error) => error)
  expect(failure).toBeInstanceOf(StoreUnavailableError)
  const cause = failure instanceof Error ? failure.cause : undefined
  expect(String(cause)).toContain('password authentication failed')
  expect(String(cause)).not.toContain('wr0ng')
})

test('a closed host refuses calls', async () => {
  const host = await open()
  await host.close()
  await expect(host.ping()).rejects.toBeInstanceOf(StoreClosedError)
})
