import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import {
  Logger,
  makeWorkerUtils,
  type RunnerOptions,
  run,
  type WorkerEvents,
  type WorkerUtils,
} from 'graphile-worker'
import { PAYLOAD } from '../queue/traffic.ts'
import { type Contender, inThousands, pump, rateOf } from './contender.ts'
import type { BenchDatabase } from './server.ts'
import { CALLERS } from './setting.ts'

const TASK = 'work'
const logger = new Logger(() => () => {})

/** One pool of connections for sends, and for runners as many as its documentation advises. */
const SENDER_POOL = 10
const RUNNER_POOL = CALLERS + 2

/** Messages one by one as it does by itself; in batches with the two settings its performance page names. */
function workerSettings(batch: number) {
  const worker = {
    concurrentJobs: CALLERS,
    maxPoolSize: RUNNER_POOL,
    ...(batch > 1 && {
      localQueue: { size: batch },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    }),
  }
  return { preset: { worker } } satisfies Partial<RunnerOptions>
}

/** Runs jobs for so many seconds from the first one on, or until none is left; completed jobs per second. */
async function runJobs(
  connectionString: string,
  schema: string,
  batch: number,
  seconds: number,
): Promise<number> {
  const events: WorkerEvents = new EventEmitter()
  const first = Promise.withResolvers<void>()
  const dry = Promise.withResolvers<void>()
  let messages = 0
  let last = 0
  events.on('job:complete', () => {
    messages += 1
    last = performance.now()
    first.resolve()
  })
  events.on('worker:getJob:empty', () => dry.resolve())
  const runner = await run({
    connectionString,
    schema,
    events,
    logger,
    noHandleSignals: true,
    taskList: { [TASK]: () => undefined },
    ...workerSettings(batch),
  })
  await Promise.race([first.promise, dry.promise])
  const start = performance.now()
  const counted = messages
  const enough = new AbortController()
  await Promise.race([
    delay(seconds * 1000, undefined, { signal: enough.signal }).catch(() => undefined),
    dry.promise,
  ])
  enough.abort()
  const rate = (messages - counted) / ((last - start) / 1000)
  await runner.stop()
  return rate
}

async function sender(connectionString: string, schema: string): Promise<WorkerUtils> {
  const utils = await makeWorkerUtils({
    connectionString,
    schema,
    logger,
    maxPoolSize: SENDER_POOL,
  })
  await utils.migrate()
  return utils
}

const jobsOf = (size: number) =>
  Array.from({ length: size }, () => ({ identifier: TASK, payload: PAYLOAD }))

/** graphile-worker in this process: `addJob` and `addJobs`, then its own run loop with 64 jobs at the same time. */
export async function graphileWorker(database: BenchDatabase): Promise<Contender> {
  const [sends, work] = [
    await sender(database.url, 'sends'),
    await sender(database.url, 'work'),
  ] as const
  return {
    name: 'graphile-worker',
    async send(batch, seconds) {
      const one = () => sends.addJob(TASK, PAYLOAD)
      const store = batch === 1 ? one : () => sends.addJobs(jobsOf(batch))
      return rateOf(
        await pump(seconds, async () => {
          await store()
          return batch
        }),
      )
    },
    consume: (batch, seconds) => runJobs(database.url, 'work', batch, seconds),
    async fill(count) {
      await inThousands(count, (size) => work.addJobs(jobsOf(size)))
      await database.analyze()
    },
    async close() {
      await sends.release()
      await work.release()
    },
  }
}
