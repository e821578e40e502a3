import { startBroker } from '../harness/broker.ts'
import { requestsPerSecond } from '../harness/load.ts'
import { printTable, printVerdicts } from '../harness/report.ts'
import { alternate } from '../harness/stats.ts'
import { fill, popAndAckRequests, pushRequest } from '../queue/traffic.ts'
import { wakeUpMilliseconds } from '../queue/wake-up.ts'
import type { BenchServer } from './server.ts'
import { BATCH, CALLERS, PARTITIONS, ROUNDS, SECONDS } from './setting.ts'

const COUNTS = [1, 2, 4] as const
const STORED_FOR_POPS = 60_000
/** Longest wake-up across brokers, in ms. */
const TARGET_P99 = 100

type Requests = Parameters<typeof requestsPerSecond>[0]['requests']

/** All connections together, dealt out to the brokers in turn. */
async function total(urls: readonly string[], requests: () => Requests): Promise<number> {
  const connections = CALLERS / urls.length
  const rates = await Promise.all(
    urls.map((url) =>
      requestsPerSecond({ url, connections, seconds: SECONDS, requests: requests() }),
    ),
  )
  return rates.reduce((sum, rate) => sum + rate, 0)
}

const WORKLOADS: readonly (readonly [string, () => Requests])[] = [
  ['push 1', () => [pushRequest('single', 1, PARTITIONS)]],
  [`push ${BATCH}`, () => [pushRequest('batch', BATCH, PARTITIONS)]],
  ['pop + ack', () => popAndAckRequests('pops')],
]

async function throughput(urls: readonly string[]): Promise<void> {
  const cases = new Map<string, () => Promise<number>>()
  for (const [what, requests] of WORKLOADS) {
    for (const count of COUNTS) {
      cases.set(`${what} ${count}`, () => total(urls.slice(0, count), requests))
    }
    await total(urls, requests)
  }
  const rates = await alternate(cases, ROUNDS)
  printTable(
    ['requests/s in all', ...COUNTS.map((count) => `${count} broker${count > 1 ? 's' : ''}`)],
    WORKLOADS.map(([what]) => [
      what,
      ...COUNTS.map((count) => (rates.get(`${what} ${count}`) ?? Number.NaN).toFixed(0)),
    ]),
  )
}

async function wakeUps(polled: string, pushed: string): Promise<void> {
  const { p50, p99 } = await wakeUpMilliseconds(polled, pushed)
  printTable(
    ['100 polls parked on one broker, pushes on another', 'p50 ms', 'p99 ms'],
    [['push sent to message received', p50.toFixed(1), p99.toFixed(1)]],
  )
  printVerdicts([
    { what: 'wake-up across brokers, p99 ms', ratio: p99, bound: '<=', target: TARGET_P99 },
  ])
}

/** Several broker processes on one database: what they do in all, and how soon they hear of each other. */
export async function measureBrokers(server: BenchServer): Promise<void> {
  const { url: DATABASE_URL } = await server.createDatabase('brokers')
  const brokers = []
  try {
    // One after the other: the first makes the tables.
    for (let n = 0; n < Math.max(...COUNTS); n += 1) {
      brokers.push(await startBroker({ DATABASE_URL }))
    }
    const urls = brokers.map(({ url }) => url)
    const [first = '', second = ''] = urls
    await fill(first, 'pops', STORED_FOR_POPS, PARTITIONS)
    await throughput(urls)
    await wakeUps(second, first)
  } finally {
    await Promise.all(brokers.map(({ stop }) => stop()))
  }
}
