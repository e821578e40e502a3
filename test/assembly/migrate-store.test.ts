import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sqliteModules } from '../../src/assembly/embedded.ts'
import { PG_MODULES } from '../../src/assembly/postgres.ts'
import { HUB_MOVE, postgresHubStore, sqliteHubStore } from '../../src/hub/index.ts'
import { ISSUER_MOVE, postgresIssuerStore, sqliteIssuerStore } from '../../src/issuer/index.ts'
import { postgresQueueStore, QUEUE_MOVE, sqliteQueueStore } from '../../src/queue/index.ts'
import {
  type MoveStep,
  moveStore,
  openPostgresHost,
  openSqliteHost,
  type PgHost,
  type SqliteHost,
} from '../../src/storage/index.ts'
import { questionsAbout, thingsIn } from '../queue/store-reads/questions.ts'
import { runHivegate } from '../support/child-broker.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import { brokenFigures } from '../support/queue-figures.ts'
import { item } from '../support/queue-store.ts'
import { ENCRYPTION_KEY, fillStore } from './filled-store.ts'

const BIN = fileURLToPath(new URL('../../bin/hivegate.js', import.meta.url))
const TIMEOUT_MS = 120_000

let folder: string
let nowUs: number
let dataDir: string
let database: TestDatabase

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hivegate-move-'))
  nowUs = await fillStore(join(folder, 'filled'))
}, TIMEOUT_MS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeEach(async () => {
  dataDir = mkdtempSync(join(folder, 'data-'))
  cpSync(join(folder, 'filled'), dataDir, { recursive: true })
  database = await createDatabase()
})
afterEach(() => database.drop())

function move(onProgress?: (step: MoveStep) => void) {
  return moveStore({
    ...{ dataDir, sources: sqliteModules('') },
    target: { target: database.target, modules: PG_MODULES },
    wings: [QUEUE_MOVE, HUB_MOVE, ISSUER_MOVE],
    ...(onProgress && { onProgress }),
  })
}

/** Ends the process, as it were, when the move has come to a table. */
function cutOffAt(table: string, phase: MoveStep['phase'] = 'copy') {
  return (step: MoveStep) => {
    if (step.table === table && step.phase === phase) throw new Error('cut off')
  }
}

const plain = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer instanceof Map ? [...answer].sort() : answer))

/** Opens both stores side by side. */
async function both(work: (embedded: SqliteHost, postgres: PgHost) => Promise<void>) {
  const embedded = await openSqliteHost({ dataDir, modules: sqliteModules(ENCRYPTION_KEY) })
  const postgres = await openPostgresHost({ target: database.target, modules: PG_MODULES })
  try {
    await work(embedded, postgres)
  } finally {
    await postgres.close()
    await embedded.close()
  }
}

function expectSameStores(): Promise<void> {
  return both(async (embedded, postgres) => {
    const right = sqliteQueueStore(embedded)
    const moved = postgresQueueStore(postgres, { encryptionKey: ENCRYPTION_KEY })
    const things = await thingsIn(right, nowUs)
    const few = { ...things, messages: things.messages.slice(0, 40) }
    for (const { kind, args } of questionsAbout(few)) {
      const answer = plain(await moved.read(kind, args as never))
      expect(answer, JSON.stringify([kind, args])).toEqual(
        plain(await right.read(kind, args as never)),
      )
    }
    const [herds, keys] = [sqliteIssuerStore(embedded), postgresIssuerStore(postgres)]
    expect(await keys.keys()).toEqual(await herds.keys())
    expect(await keys.devices()).toEqual(await herds.devices())
    const [old, young] = [
      sqliteHubStore(embedded, { historySize: 10 }),
      postgresHubStore(postgres, { historySize: 10 }),
    ]
    expect(await young.open(() => undefined)).toEqual(await old.open(() => undefined))
    expect(await young.readAfter(0)).toEqual(await old.readAfter(0))
    await young.close()
    await old.close()
  })
}

describe('moving an embedded store to PostgreSQL', { timeout: TIMEOUT_MS }, () => {
  it('moves queue, hub and issuer; every read answers what it answered before', async () => {
    const steps: MoveStep[] = []
    const report = await move((step) => steps.push(step))
    expect(report).toMatchObject({ movedBefore: 0 })
    expect(steps.filter(({ phase }) => phase === 'copy').at(-1)?.rows).toBe(report.rows)
    expect(steps.at(-1)).toMatchObject({ phase: 'verify', rows: report.rows, of: report.rows })
    await expectSameStores()
    expect(await brokenFigures(database)).toEqual({})
  })

  it('goes on working: ids, times and numbers rise above those that were moved', async () => {
    await move()
    await both(async (_, postgres) => {
      const store = postgresQueueStore(postgres, { encryptionKey: '' })
      const push = (partition: string) => {
        const items = [item('bulk', 1, { partition })]
        return { kind: 'push' as const, args: { items, producerSub: null, nowUs: 1 } }
      }
      const flag = { name: 'pushMaintenance' as const, value: false, nowUs }
      const outcomes = await store.commit([push('p1')])
      expect(outcomes).toMatchObject([{ ok: true, value: [{ status: 'buffered' }] }])
      await store.commit([{ kind: 'setFlag', args: flag }])
      const drained = await store.commit([{ kind: 'drainBuffer', args: { limit: 100, nowUs } }])
      expect(drained).toMatchObject([{ ok: true, value: { left: 0 } }])
      const pushed = await store.commit([push('p2'), push('new')])
      expect(pushed).toMatchObject([{ ok: true }, { ok: true }])
    })
    const rising = `SELECT p.name FROM hivegate.message m JOIN hivegate.partition p ON p.id = m.partition_id
      JOIN hivegate.message n ON n.partition_id = m.partition_id AND n.position = m.position + 1
      WHERE n.id <= m.id OR n.created_at <= m.created_at`
    expect(await database.query(rising)).toEqual([])
    expect(await brokenFigures(database)).toEqual({})
  })

  it.each(['message', 'cursor', 'metric_total', 'hub_update'])(
    'goes on where it was cut off, at table %s',
    async (table) => {
      await expect(move(cutOffAt(table))).rejects.toThrow('cut off')
      const started = openPostgresHost({ target: database.target, modules: PG_MODULES })
      await expect(started).rejects.toThrow('is not finished')
      const report = await move()
      expect(report.movedBefore).toBeGreaterThan(0)
      expect(report.movedBefore).toBeLessThan(report.rows)
      // That the rows are the same the move itself has compared.
      expect(await brokenFigures(database)).toEqual({})
    },
  )

  it('refuses a database that is in use, also one that a move has filled', async () => {
    await move()
    await expect(move()).rejects.toMatchObject({ reason: 'target_in_use' })
  })

  it('refuses a half-finished move of another folder', async () => {
    await expect(move(cutOffAt('cursor'))).rejects.toThrow('cut off')
    dataDir = mkdtempSync(join(folder, 'other-'))
    cpSync(join(folder, 'filled'), dataDir, { recursive: true })
    await expect(move()).rejects.toMatchObject({ reason: 'other_source' })
  })

  it.each([
    ['a changed row', `UPDATE hivegate.message SET payload = payload || ' ' WHERE position = 7`],
    [
      'a lost row',
      'DELETE FROM hivegate.cursor WHERE ctid IN (SELECT ctid FROM hivegate.cursor LIMIT 1)',
    ],
    ['a changed number', 'UPDATE hivegate.metric_total SET value = value + 1e-9'],
    ['a changed switch', 'UPDATE hivegate.flag SET value = NOT value'],
    ['a changed option', `UPDATE hivegate.queue SET options = options || '{"leaseTime": 301}'`],
    ['a changed update', `UPDATE hivegate.hub_update SET data = data || '\\x00' WHERE seq = 2`],
    ['a name that became NULL', 'UPDATE hivegate.message SET producer_sub = NULL'],
  ])('finds %s, and opens the database to nobody', async (_name, sql) => {
    await expect(move(cutOffAt('queue', 'verify'))).rejects.toThrow('cut off')
    await database.query(sql)
    await expect(move()).rejects.toMatchObject({ reason: 'not_equal' })
    const started = openPostgresHost({ target: database.target, modules: PG_MODULES })
    await expect(started).rejects.toThrow('is not finished')
  })

  it('finds that a broker has worked on the folder since the move began', async () => {
    await expect(move(cutOffAt('hub_update'))).rejects.toThrow('cut off')
    const host = await openSqliteHost({ dataDir, modules: sqliteModules(ENCRYPTION_KEY) })
    const flag = { name: 'popMaintenance' as const, value: true, nowUs }
    await sqliteQueueStore(host).commit([{ kind: 'setFlag', args: flag }])
    await host.close()
    await expect(move()).rejects.toMatchObject({ reason: 'not_equal' })
  })

  it('refuses a folder in which a broker works, and one without a store', async () => {
    const host = await openSqliteHost({ dataDir, modules: sqliteModules(ENCRYPTION_KEY) })
    await expect(move()).rejects.toMatchObject({ code: 'store_locked' })
    await host.close()
    dataDir = join(folder, 'nothing')
    await expect(move()).rejects.toMatchObject({ reason: 'no_source' })
  })
})

describe('hivegate migrate-store', { timeout: TIMEOUT_MS }, () => {
  const args = () => ['migrate-store', '--from', dataDir]
  const env = () => ({ DATABASE_URL: database.url, PATH: process.env['PATH'] ?? '' })

  it('killed half-way and run again, moves everything and says so', async () => {
    const child = spawn(process.execPath, [BIN, ...args()], { env: env() })
    const died = new Promise<NodeJS.Signals | null>((resolve) => {
      child.once('exit', (_code, signal) => resolve(signal))
    })
    child.stderr.on('data', (chunk: Buffer) => {
      if (/copying +[1-6]\d%/.test(chunk.toString())) child.kill('SIGKILL')
    })
    expect(await died).toBe('SIGKILL')
    const second = await runHivegate([...args(), '--to', database.url])
    expect(second).toMatchObject({ code: 0 })
    expect(second.stdout).toMatch(/moved \d+ rows \(\d+ by an earlier run\)/)
    expect(second.stderr).toMatch(/comparing 100%/)
    expect(await brokenFigures(database)).toEqual({})
  })

  it('says in one line why it cannot', async () => {
    const unknown = await runHivegate(['migrate-store', '--from', join(folder, 'none')], env())
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no embedded store\n$/),
    })
    const nowhere = await runHivegate([...args(), '--to', 'postgres://u:secret@127.0.0.1:1/d'])
    expect(nowhere.code).toBe(1)
    expect(nowhere.stderr).toMatch(/^error: DATABASE_URL: the database 127\.0\.0\.1:1\/d .*\n$/)
    const nameless = await runHivegate(args())
    expect(nameless).toMatchObject({ code: 1, stderr: expect.stringMatching(/--to\n$/) })
  })
})
