import { startBroker } from '../harness/broker.ts'
import { type Server, startServer } from '../harness/child.ts'
import { requestsPerSecond } from '../harness/load.ts'
import { printTable } from '../harness/report.ts'
import { alternate } from '../harness/stats.ts'
import { fill, popAndAckRequests, pushRequest } from '../queue/traffic.ts'
import type { BenchServer } from './server.ts'
import { BATCH, CALLERS, PARTITIONS, ROUNDS, SECONDS } from './setting.ts'

const STORED_FOR_POPS = 60_000
const WORKLOADS = ['push 1', `push ${BATCH}`, 'pop + ack'] as const

function report(rates: ReadonlyMap<string, number>): void {
  const rate = (who: string, what: string) => rates.get(`${who} ${what}`) ?? Number.NaN
  printTable(
    [
      `${CALLERS} connections, requests/s`,
      'on PostgreSQL',
      'embedded store',
      'bare Express',
      'PostgreSQL / bare',
      'PostgreSQL / embedded',
    ],
    WORKLOADS.map((what) => {
      const [shared, embedded, bare] = [
        rate('postgres', what),
        rate('embedded', what),
        rate('express', what),
      ]
      return [
        what,
        ...[shared, embedded, bare].map((value) => value.toFixed(0)),
        (shared / bare).toFixed(2),
        (shared / embedded).toFixed(2),
      ]
    }),
  )
}

/** The queue bench's main workloads on PostgreSQL, on the embedded store, and with an Express app that keeps nothing. */
export async function compareStores(server: BenchServer): Promise<void> {
  const { url: DATABASE_URL } = await server.createDatabase('queue_column')
  const servers: (readonly [string, Server])[] = []
  const run = (url: string, requests: Parameters<typeof requestsPerSecond>[0]['requests']) => () =>
    requestsPerSecond({ url, connections: CALLERS, seconds: SECONDS, requests })
  try {
    servers.push(['postgres', await startBroker({ DATABASE_URL })])
    servers.push(['embedded', await startBroker()])
    servers.push(['express', await startServer(new URL('../queue/baseline.ts', import.meta.url))])
    const cases = new Map<string, () => Promise<number>>()
    for (const [who, { url }] of servers) {
      if (who !== 'express') await fill(url, 'pops', STORED_FOR_POPS, PARTITIONS)
      cases.set(`${who} push 1`, run(url, [pushRequest('single', 1, 1)]))
      cases.set(`${who} push ${BATCH}`, run(url, [pushRequest('batch', BATCH, 1)]))
      cases.set(`${who} pop + ack`, run(url, popAndAckRequests('pops')))
    }
    for (const once of cases.values()) await once()
    report(await alternate(cases, ROUNDS))
  } finally {
    await Promise.all(servers.map(([, { stop }]) => stop()))
  }
}
