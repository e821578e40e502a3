import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Caller } from '../support/broker.ts'
import { startChildBroker } from '../support/child-broker.ts'
import { buffered, until as waitFor } from '../support/traffic.ts'
import { checkStream, runner, switcher } from './kill-streams.ts'
import { burier, consumer, Ledger, type Life, mover, pusher, setOf } from './kill-workers.ts'

const KILLS = 20
/** Answers between two kills; drawn anew each time, so that a kill meets every kind of work. */
const LEAST_ANSWERS = 40
const MOST_ANSWERS = 160

class Killed extends Error {}

/** Runs every worker until the broker is killed; anything but the death itself fails the test. */
async function liveUntilKilled(dataDir: string, ledger: Ledger, workers: readonly Worker[]) {
  const broker = await startChildBroker({ DATA_DIR: dataDir })
  const end = ledger.answers + LEAST_ANSWERS + Math.random() * (MOST_ANSWERS - LEAST_ANSWERS)
  let killed = false
  const call: Caller = async (route, options) => {
    if (ledger.answers >= end && !killed) {
      killed = true
      broker.signal('SIGKILL')
    }
    try {
      return await broker.call(route, options)
    } catch (error) {
      if (killed) throw new Killed()
      throw error
    }
  }
  const ends = await Promise.allSettled(workers.map((worker) => worker({ call, ledger })))
  await broker.exited
  for (const one of ends) {
    if (one.status === 'rejected' && !(one.reason instanceof Killed)) throw one.reason
  }
}

type Worker = (life: Life) => Promise<unknown>

const workers: readonly Worker[] = [
  ...['p0', 'p1', 'p2', 'p3'].map((partition) => pusher('plain', partition)),
  pusher('in', 'p0'),
  pusher('in', 'p1'),
  pusher('bad', 'p0'),
  pusher('stream-in', 'p0'),
  pusher('stream-in', 'p1'),
  (life) => consumer(life, 'plain'),
  (life) => consumer(life, 'plain'),
  (life) => mover(life, 'in', 'out'),
  (life) => burier(life, 'bad'),
  (life) => runner(life, 'stream-in'),
  // Pushes go into the maintenance buffer and out of it again all the while.
  (life) => switcher(life),
]

async function allDeadLetters(call: Caller): Promise<readonly { transactionId: string }[]> {
  const rows: { transactionId: string }[] = []
  for (;;) {
    const { body } = await call(`GET /api/v1/dlq?queue=bad&limit=500&offset=${rows.length}`)
    rows.push(...body.messages)
    if (body.messages.length === 0) return rows
  }
}

const missing = (wanted: Iterable<string>, found: ReadonlySet<string>) =>
  [...wanted].filter((one) => !found.has(one))

it('a broker killed 20 times under load loses nothing that it answered', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hivegate-kill-'))
  const ledger = new Ledger()
  for (let kill = 0; kill < KILLS; kill++) await liveUntilKilled(dataDir, ledger, workers)

  const broker = await startChildBroker({ DATA_DIR: dataDir })
  const life = { call: broker.call, ledger }
  await broker.call('POST /api/v1/system/maintenance', { json: { enabled: false } })
  await waitFor(
    () => buffered(broker),
    (left) => left === 0,
  )
  const until = async (queue: string, work: () => Promise<void>) => {
    // Leases of the last life run out while this waits.
    do await work()
    while ((await broker.call(`GET /api/v1/resources/queues/${queue}/depth`)).body.depth > 0)
    expect([queue, missing(setOf(ledger.pushed, queue), setOf(ledger.delivered, queue))]).toEqual([
      queue,
      [],
    ])
  }
  await until('plain', () => consumer(life, 'plain', true))
  await until('in', () => mover(life, 'in', 'out', true))
  await until('bad', () => burier(life, 'bad', true))
  await until('out', () => consumer(life, 'out', true))

  // A transaction happened in whole or not at all: what left `in` is in `out`, and nothing else is.
  const left = [...ledger.completed]
    .filter((key) => key.startsWith('in/'))
    .map((key) => key.slice(3))
  expect(setOf(ledger.delivered, 'out')).toEqual(setOf(ledger.delivered, 'in'))
  expect(missing(left, setOf(ledger.delivered, 'out'))).toEqual([])

  // Each message of the source was counted once and sent on once, in order.
  const queryId = await runner(life, 'stream-in', true)
  await checkStream(life, 'stream-in', queryId)

  // A move to the dead letters is there once, and only the dead letters of pushed messages are there.
  const rows = (await allDeadLetters(broker.call)).map((row) => row.transactionId)
  expect(rows).toHaveLength(new Set(rows).size)
  expect(missing(ledger.buried, new Set(rows))).toEqual([])

  broker.signal('SIGTERM')
  expect((await broker.exited).code).toBe(0)
  await rm(dataDir, { recursive: true, force: true })
}, 900_000)
