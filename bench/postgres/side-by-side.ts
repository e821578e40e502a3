import { printTable, printVerdicts } from '../harness/report.ts'
import { alternate } from '../harness/stats.ts'
import type { Contender } from './contender.ts'
import { graphileWorker } from './graphile-worker.ts'
import { hivegateInProcess } from './in-process.ts'
import { hivegateOverHttp } from './over-http.ts'
import { pgBoss } from './pg-boss.ts'
import type { BenchServer } from './server.ts'
import { BATCH, ROUNDS, SECONDS } from './setting.ts'

/** Times the better of the two libraries. */
const TARGET = 2
const WORKLOADS = [
  { what: 'send 1', kind: 'send', batch: 1, stock: 0 },
  { what: `send ${BATCH}`, kind: 'send', batch: BATCH, stock: 0 },
  { what: 'fetch and complete 1', kind: 'consume', batch: 1, stock: 16_000 },
  { what: `fetch and complete ${BATCH}`, kind: 'consume', batch: BATCH, stock: 100_000 },
] as const

const CONTENDERS = [
  ['hivegate_inside', hivegateInProcess],
  ['hivegate_http', hivegateOverHttp],
  ['pg_boss', pgBoss],
  ['graphile', graphileWorker],
] as const

type Workload = (typeof WORKLOADS)[number]

/** One run of a workload; what it takes away is put there before, unmeasured. */
function runOf(contender: Contender, { kind, batch, stock }: Workload, seconds: number) {
  let left = 0
  return async (): Promise<number> => {
    if (kind === 'send') return contender.send(batch, seconds)
    if (left < stock) await contender.fill(stock - left)
    const rate = await contender.consume(batch, seconds)
    left = Math.max(0, Math.max(left, stock) - Math.ceil(rate * seconds))
    return rate
  }
}

function report(contenders: readonly Contender[], rates: ReadonlyMap<string, number>): void {
  const rate = (who: string, what: string) => rates.get(`${who} ${what}`) ?? Number.NaN
  const rows = WORKLOADS.map(({ what }) => {
    const [inside, http, ...others] = contenders.map(({ name }) => rate(name, what))
    const best = Math.max(...others)
    return { what, all: [inside, http, ...others], inside: inside ?? 0, http: http ?? 0, best }
  })
  printTable(
    ['messages/s', ...contenders.map(({ name }) => name), 'over HTTP / better library'],
    rows.map(({ what, all, http, best }) => [
      what,
      ...all.map((value = Number.NaN) => value.toFixed(0)),
      (http / best).toFixed(2),
    ]),
  )
  printVerdicts(
    rows.map(({ what, inside, best }) => ({
      what: `${what}: hivegate in process / better of pg-boss and graphile-worker`,
      ratio: inside / best,
      bound: '>=',
      target: TARGET,
    })),
  )
}

/** hivegate, pg-boss and graphile-worker on one server, each with a database of its own. */
export async function compareLibraries(server: BenchServer): Promise<void> {
  const contenders: Contender[] = []
  try {
    for (const [database, open] of CONTENDERS) {
      contenders.push(await open(await server.createDatabase(database)))
    }
    const cases = new Map<string, () => Promise<number>>()
    for (const workload of WORKLOADS) {
      for (const contender of contenders) {
        cases.set(`${contender.name} ${workload.what}`, runOf(contender, workload, SECONDS))
        // One uncounted short run each, so that all are compiled and warm.
        await runOf(contender, { ...workload, stock: workload.stock && 1000 } as Workload, 1)()
      }
    }
    report(contenders, await alternate(cases, ROUNDS))
  } finally {
    for (const contender of contenders) await contender.close()
  }
}
