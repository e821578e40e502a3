import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { callerOf, startTestBroker } from '../support/broker.ts'
import { startChildBroker } from '../support/child-broker.ts'
import {
  eventually,
  figure,
  ids,
  numbered,
  open,
  push,
  replayed,
  settings,
  spillPath,
  startServer,
  statuses,
  stopServer,
  stored,
  useSpill,
} from './spill-bench.ts'

useSpill()

/** Waits until the lists hold `count` more than now. */
async function grown(lists: ReadonlyMap<string, readonly string[]>, count: number): Promise<void> {
  const total = () => [...lists.values()].flat().length
  const goal = total() + count
  await eventually(
    async () => total(),
    (now) => now >= goal,
  )
}

describe('pushes while the database is away', { timeout: 300_000 }, () => {
  it('are answered as buffered, and stored in order with the ids of their answers', async () => {
    const broker = await open()
    await push(broker.call, [{ payload: 'before', transactionId: 'before' }])
    await stopServer()
    const answers = [
      ...(await push(broker.call, [{ payload: 1 }, { payload: 2, transactionId: 'mine' }])),
      ...(await push(broker.call, [{ payload: 3 }])),
    ]
    expect(answers[1]).toEqual({
      ...{ index: 1, status: 'buffered', queueName: 'q', queue: 'q', partition: 'Default' },
      ...{ transaction_id: 'mine', transactionId: 'mine', message_id: expect.any(String) },
    })
    expect(statuses(answers)).toEqual(['buffered', 'buffered', 'buffered'])
    expect(await figure(broker, 'queen_file_buffer_pending')).toBe(3)
    expect(await figure(broker, 'queen_file_buffer_failed')).toBe(0)
    await startServer()
    await replayed(broker)
    const rows = await stored()
    expect(rows.slice(1).map(({ id, transaction_id }) => [id, transaction_id])).toEqual(
      answers.map(({ message_id, transaction_id }) => [message_id, transaction_id]),
    )
    expect(rows.map(({ payload }) => JSON.parse(payload))).toEqual(['before', 1, 2, 3])
    expect(statuses(await push(broker.call, [{ payload: 4 }]))).toEqual(['queued'])
    expect((await readdir(spillPath())).filter((name) => name.endsWith('.spill'))).toEqual([])
  })

  it('are all that is taken: health, pops, acks and transactions answer 503', async () => {
    const broker = await open()
    await stopServer()
    expect(statuses(await push(broker.call, [{}]))).toEqual(['buffered'])
    const ack = { transactionId: 't', partitionId: 'p', status: 'completed' }
    const operations = [{ type: 'push', items: [{ queue: 'q', payload: 1 }] }]
    for (const [route, json] of [
      ['GET /health', undefined],
      ['GET /api/v1/pop/queue/q', undefined],
      ['POST /api/v1/ack', ack],
      ['POST /api/v1/transaction', { operations, requiredLeases: [] }],
    ] as const) {
      const { status } = await broker.call(route, { ...(json && { json }) })
      expect([route, status]).toEqual([route, 503])
    }
    await startServer()
    await replayed(broker)
    expect(await stored()).toHaveLength(1)
    expect((await broker.call('GET /health')).status).toBe(200)
  })

  it('reach pops that wait when they are stored', async () => {
    const broker = await open()
    await stopServer()
    await push(broker.call, [{ payload: 'late' }])
    await startServer()
    const { body } = await eventually(
      () => broker.call('GET /api/v1/pop/queue/q?wait=true&timeout=20000'),
      ({ status }) => status === 200,
    )
    expect(body.messages[0].data).toBe('late')
  })

  it('are stored once each, whatever was pushed before, twice, or again afterwards', async () => {
    const broker = await open()
    await push(broker.call, [{ transactionId: 'a' }])
    await stopServer()
    await push(broker.call, [{ transactionId: 'a' }, { transactionId: 'b' }])
    await push(broker.call, [{ transactionId: 'b' }, { transactionId: 'c' }])
    await startServer()
    await replayed(broker)
    expect(statuses(await push(broker.call, [{ transactionId: 'c' }]))).toEqual(['duplicate'])
    expect(await ids()).toEqual(['a', 'b', 'c'])
  })

  it('keep their order with those before, during and after it', async () => {
    const broker = await open()
    const wanted = new Map<string, string[]>()
    let running = true
    const seen = new Set<string>()
    const pusher = async (partition: string) => {
      const own: string[] = []
      wanted.set(partition, own)
      while (running || own.length < 10) {
        const items = numbered(own.length, 3, partition)
        for (const { status } of await push(broker.call, items)) seen.add(status)
        own.push(...items.map(({ transactionId }) => transactionId))
      }
    }
    const load = Promise.all(['p0', 'p1', 'p2'].map(pusher))
    const more = (count: number) => grown(wanted, count)
    for (let outage = 0; outage < 2; outage += 1) {
      await more(20)
      await stopServer()
      await more(30)
      await startServer()
    }
    await eventually(
      () => figure(broker, 'queen_file_buffer_db_healthy'),
      (healthy) => healthy === 1,
    )
    await more(60)
    running = false
    await load
    await replayed(broker)
    for (const [partition, own] of wanted) expect(await ids(partition)).toEqual(own)
    expect(seen).toEqual(new Set(['queued', 'buffered']))
  })

  it('keep the order of each of several producers that push into the same partitions', async () => {
    const broker = await open()
    const acknowledged = new Map(['w', 'x', 'y', 'z'].map((name) => [name, [] as string[]]))
    const seen = new Set<string>()
    let running = true
    const producer = async (name: string, own: string[]) => {
      for (let at = 0; running; at += 1) {
        const items = ['p0', 'p1'].flatMap((partition) =>
          [2 * at, 2 * at + 1].map((n) => ({
            partition,
            transactionId: `${partition}-${name}-${n}`,
          })),
        )
        for (const { status } of await push(broker.call, items)) seen.add(status)
        own.push(...items.map(({ transactionId }) => transactionId))
      }
    }
    const load = Promise.all([...acknowledged].map(([name, own]) => producer(name, own)))
    const more = (count: number) => grown(acknowledged, count)
    for (let outage = 0; outage < 2; outage += 1) {
      await more(60)
      await stopServer()
      await more(120)
      await startServer()
      await eventually(
        () => figure(broker, 'queen_file_buffer_db_healthy'),
        (healthy) => healthy === 1,
      )
      // The replay meets pushes that go on.
      await more(120)
    }
    running = false
    await load
    await replayed(broker)
    for (const partition of ['p0', 'p1']) {
      const there = await ids(partition)
      expect(new Set(there).size).toBe(there.length)
      for (const [name, all] of acknowledged) {
        const prefix = `${partition}-${name}-`
        const own = all.filter((id) => id.startsWith(prefix))
        expect(there.filter((id) => id.startsWith(prefix))).toEqual(own)
      }
    }
    expect(seen).toEqual(new Set(['queued', 'buffered']))
  })
})

describe('the spill', { timeout: 300_000 }, () => {
  it('outlives a kill -9 of the broker during the outage', async () => {
    const env = { ...settings(), QUEEN_ENCRYPTION_KEY: '0f'.repeat(32) }
    const first = await startChildBroker(env)
    const options = { encryptionEnabled: true }
    await first.call('POST /api/v1/configure', { json: { queue: 'q', options } })
    await stopServer()
    const answers = await push(first.call, [{ payload: 'secret-1' }, { payload: 'secret-2' }])
    await push(first.call, numbered(0, 5, 'other'))
    expect(statuses(answers)).toEqual(['buffered', 'buffered'])
    first.signal('SIGKILL')
    await first.exited
    // With a key nothing is on disk in clear, because the queue's option is not known.
    const files = (await readdir(spillPath())).filter((name) => name.endsWith('.spill'))
    const bytes = await Promise.all(files.map((name) => readFile(spillPath(name), 'utf8')))
    expect(bytes.join('')).not.toContain('secret-')
    expect(bytes.join('').length).toBeGreaterThan(100)

    await startServer()
    const second = await startChildBroker(env)
    onTestFinished(() => second.signal('SIGKILL'))
    await replayed(second)
    expect(await ids()).toEqual(answers.map(({ transaction_id }) => transaction_id))
    expect(await ids('other')).toEqual(numbered(0, 5, 'other').map((one) => one.transactionId))
    expect((await stored()).map(({ payload }) => payload).join('')).not.toContain('secret-')
    const { body } = await second.call('GET /api/v1/pop/queue/q/partition/Default?batch=9')
    expect(body.messages.map(({ data }: { data: unknown }) => data)).toEqual([
      'secret-1',
      'secret-2',
    ])
    second.signal('SIGTERM')
    expect((await second.exited).code).toBe(0)
  })

  it('is stored once, in order, when a kill -9 meets the replay', async () => {
    const first = await startChildBroker(settings())
    await stopServer()
    const wanted: string[] = []
    for (let at = 0; at < 300; at += 10) {
      const items = numbered(at, 10)
      expect(new Set(statuses(await push(first.call, items)))).toEqual(new Set(['buffered']))
      wanted.push(...items.map(({ transactionId }) => transactionId))
    }
    await startServer()
    // The kill finds the replay before its beginning, in the middle, or between its commit and the note of it.
    await eventually(ids, (there) => there.length > 0)
    first.signal('SIGKILL')
    await first.exited
    const second = await startChildBroker(settings())
    onTestFinished(() => second.signal('SIGKILL'))
    await replayed(second)
    expect(await ids()).toEqual(wanted)
  })

  it('takes no more than its limit: then the answer is 503, and what was taken is stored', async () => {
    const broker = await open({ OUTAGE_SPILL_MAX_BYTES: '4096' })
    await stopServer()
    const taken: string[] = []
    let refused: number | undefined
    for (let at = 0; refused === undefined; at += 1) {
      const json = { items: numbered(at, 1).map((item) => ({ queue: 'q', ...item })) }
      const reply = await broker.call('POST /api/v1/push', { json })
      if (reply.status === 201) taken.push(`Default-${at}`)
      else refused = reply.status
    }
    expect(refused).toBe(503)
    expect(taken.length).toBeGreaterThan(5)
    await startServer()
    await replayed(broker)
    expect(await ids()).toEqual(taken)
    expect(statuses(await push(broker.call, [{}]))).toEqual(['queued'])
  })

  it('waits while push maintenance holds pushes back, behind what that has buffered', async () => {
    const broker = await open()
    const maintenance = (enabled: boolean) =>
      broker.call('POST /api/v1/system/maintenance', { json: { enabled } })
    await maintenance(true)
    await push(broker.call, numbered(0, 2))
    await stopServer()
    await push(broker.call, numbered(2, 2))
    await startServer()
    await eventually(
      () => broker.call('GET /health'),
      ({ status }) => status === 200,
    )
    await push(broker.call, numbered(4, 2))
    expect(await stored()).toEqual([])
    // All that was answered as buffered, wherever it waits.
    const { body } = await broker.call('GET /api/v1/system/maintenance')
    expect(body).toMatchObject({ bufferedMessages: 6, bufferHealthy: true })
    expect((await broker.call('GET /api/v1/status/buffers')).body).toMatchObject({ pending: 6 })
    await maintenance(false)
    await replayed(broker)
    expect(await ids()).toEqual(numbered(0, 6).map(({ transactionId }) => transactionId))
  })

  it('belongs to one broker', async () => {
    await open()
    await expect(startTestBroker(settings())).rejects.toThrow(/^OUTAGE_SPILL_DIR: .*cannot be used/)
  })

  it('leaves standard error to what is wrong', async () => {
    const broker = await startChildBroker(settings())
    broker.signal('SIGTERM')
    expect(await broker.exited).toMatchObject({ code: 0, stderr: '' })
  })

  it('is no matter of the embedded store, which says so at boot', async () => {
    const broker = await startTestBroker({ OUTAGE_SPILL_DIR: spillPath() })
    onTestFinished(() => broker.stop())
    expect(statuses(await push(callerOf(broker.url), [{}]))).toEqual(['queued'])
    expect(await readdir(spillPath())).toEqual([])
  })
})
