import { startBroker } from '../harness/broker.ts'
import { type Server, startServer } from '../harness/child.ts'
import { type Load, loadGenerator, requestsPerSecond } from '../harness/load.ts'
import { machine, printTable, printVerdicts } from '../harness/report.ts'
import { alternate } from '../harness/stats.ts'
import { measureGrowth } from './growth.ts'
import { popAndAckScript, pushScript } from './scripts.ts'
import { fill, popAndAckRequests, pushRequest } from './traffic.ts'
import { wakeUpMilliseconds } from './wake-up.ts'

const ROUNDS = 5
const SECONDS = 3
const CONNECTIONS = 64
const PARTITIONS = 64
const BATCH = 100
/** Enough that the pop runs of all rounds never drain the queue. */
const STORED_FOR_POPS = 300_000

/** What is measured, and the share of bare Express's rate that it has to reach. */
const WORKLOADS = [
  { what: 'push 1', target: 0.8 },
  { what: `push ${BATCH}`, target: 0.2 },
  { what: 'push 1, spread', target: 0 },
  { what: 'pop + ack', target: 0.5 },
] as const

type Traffic = Pick<Load, 'requests' | 'script'>

const run64 = (url: string, traffic: Traffic) => () =>
  requestsPerSecond({ url, connections: CONNECTIONS, seconds: SECONDS, ...traffic })

function pushes(queue: string, count: number, partitions: number): Traffic {
  return {
    requests: [pushRequest(queue, count, partitions)],
    script: pushScript(queue, count, partitions),
  }
}

/** The requests of each workload, made anew for each server: those in turn remember whose turn it is. */
const TRAFFIC = {
  'push 1': () => pushes('single', 1, 1),
  [`push ${BATCH}`]: () => pushes('batch', BATCH, 1),
  'push 1, spread': () => pushes('spread', 1, PARTITIONS),
  'pop + ack': () => ({ requests: popAndAckRequests('pops'), script: popAndAckScript('pops') }),
} as const satisfies Record<string, () => Traffic>

/** Each workload on both in turn, run beside run: the machine may be another one a minute later. */
async function sideBySide(broker: Server, bare: Server): Promise<ReadonlyMap<string, number>> {
  const rates = new Map<string, number>()
  for (const { what } of WORKLOADS) {
    const cases = new Map([
      [`hivegate ${what}`, run64(broker.url, TRAFFIC[what]())],
      [`express ${what}`, run64(bare.url, TRAFFIC[what]())],
    ])
    // One uncounted run each, so that both are compiled and warm.
    for (const run of cases.values()) await run()
    for (const [name, rate] of await alternate(cases, ROUNDS)) rates.set(name, rate)
  }
  return rates
}

function report(rates: ReadonlyMap<string, number>): void {
  const rows = WORKLOADS.map(({ what, target }) => {
    const [ours, bare] = [rates.get(`hivegate ${what}`), rates.get(`express ${what}`)]
    return { what, target, ours: ours ?? Number.NaN, bare: bare ?? Number.NaN }
  })
  printTable(
    ['queue', 'hivegate requests/s (durable)', 'bare Express requests/s', 'ratio'],
    rows.map(({ what, ours, bare }) => [
      what,
      ours.toFixed(0),
      bare.toFixed(0),
      (ours / bare).toFixed(2),
    ]),
  )
  printVerdicts(
    rows.map(({ what, ours, bare, target }) => ({
      what: `${what}: hivegate / bare Express`,
      ratio: ours / bare,
      bound: '>=',
      target,
    })),
  )
}

/** Durable pushes, pops and acks against bare Express; growth; long-poll wake-ups. */
export async function run(): Promise<void> {
  console.log(`# queue: ${machine()}`)
  console.log(`${CONNECTIONS} connections, median of ${ROUNDS} alternating runs of ${SECONDS} s`)
  console.log(loadGenerator())
  const [broker, bare] = await Promise.all([
    startBroker(),
    startServer(new URL('./baseline.ts', import.meta.url)),
  ])
  try {
    await fill(broker.url, 'pops', STORED_FOR_POPS, PARTITIONS * 4)
    report(await sideBySide(broker, bare))
    printVerdicts(await measureGrowth(broker.url))
    const { p50, p99 } = await wakeUpMilliseconds(broker.url)
    printTable(
      ['long-poll wake-up, 100 parked polls', 'p50 ms', 'p99 ms', 'target p99'],
      [['push sent to message received', p50.toFixed(1), p99.toFixed(1), '< 50']],
    )
  } finally {
    await Promise.all([broker.stop(), bare.stop()])
  }
}
