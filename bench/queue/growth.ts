import { requestsPerSecond } from '../harness/load.ts'
import type { Verdict } from '../harness/report.ts'
import { alternate } from '../harness/stats.ts'
import { autoAckPopRequest, fill, popAndAckRequests, pushRequest } from './traffic.ts'

const ROUNDS = 5
const SECONDS = 3
const CONNECTIONS = 16
/** More than the runs leave leased: each ends with a partition taken on every connection. */
const PARTITIONS = 512
const FEW = 1_000
const MANY = 1_000_000
const MANY_PARTITIONS = 10_000
/** Enough that the queue-wide pops of all rounds never drain the queue. */
const STORED_FOR_POPS = 200_000

/** Does the cost of a message stay the same when much is stored, or when partitions are many? */
export async function measureGrowth(url: string): Promise<Verdict[]> {
  await fill(url, 'few', FEW, PARTITIONS)
  await fill(url, 'many', MANY, PARTITIONS)
  await fill(url, 'one-partition', STORED_FOR_POPS, 1)
  await fill(url, 'many-partitions', STORED_FOR_POPS, MANY_PARTITIONS)
  // Each cycle pushes one message and takes one away, so what is stored unconsumed stays the same.
  const cycle = (queue: string) => () =>
    requestsPerSecond({
      url,
      connections: CONNECTIONS,
      seconds: SECONDS,
      requests: [pushRequest(queue, 1, PARTITIONS), ...popAndAckRequests(queue)],
    })
  const pops = (queue: string) => () =>
    requestsPerSecond({
      url,
      connections: CONNECTIONS,
      seconds: SECONDS,
      requests: [autoAckPopRequest(queue)],
    })
  const cases = new Map([
    ['few', cycle('few')],
    ['many', cycle('many')],
    ['one', pops('one-partition')],
    ['ten thousand', pops('many-partitions')],
  ])
  for (const run of cases.values()) await run()
  const rates = await alternate(cases, ROUNDS)
  const ratio = (over: string, under: string) =>
    (rates.get(over) ?? Number.NaN) / (rates.get(under) ?? Number.NaN)
  return [
    {
      what: `push + pop + ack: ${MANY} stored / ${FEW} stored`,
      ratio: ratio('many', 'few'),
      bound: '>=',
      target: 0.8,
    },
    {
      what: `queue-wide pop: ${MANY_PARTITIONS} partitions / 1 partition`,
      ratio: ratio('ten thousand', 'one'),
      bound: '>=',
      target: 0.7,
    },
  ]
}
