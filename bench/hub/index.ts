import { SignJWT } from 'jose'
import { startBroker } from '../harness/broker.ts'
import { startServer } from '../harness/child.ts'
import { machine, printTable, printVerdicts } from '../harness/report.ts'
import { alternate } from '../harness/stats.ts'
import { type FanOut, fanOut, type Target } from './fan-out.ts'
import { publishesBeside } from './matching.ts'

const ROUNDS = 5
/** Audience and number of updates of each row: about the same number of deliveries, but for the smallest. */
const FAN_OUTS = [
  [1, 2000],
  [100, 1000],
  [1000, 200],
  [5000, 40],
] as const
const COMPARED = 1000
const COMPARED_UPDATES = 200

/** What `hivegate mercure-token --dev` mints: the development hub's own issuer, key and audience. */
function developmentToken(): Promise<string> {
  const detail = { type: 'https://mercure.rocks/authorization-detail', topics: [{ match: '*' }] }
  return new SignJWT({ authorization_details: [{ ...detail, actions: ['publish', 'subscribe'] }] })
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
    .setIssuer('https://localhost')
    .setAudience('https://localhost/.well-known/mercure')
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode('!ChangeThisMercureHubJWTSecretKey!'))
}

async function fanOutTable(hub: Target): Promise<void> {
  const rows: string[][] = []
  for (const [count, updates] of FAN_OUTS) {
    const result: FanOut = await fanOut(hub, count, updates)
    rows.push([
      String(count),
      result.updatesPerSecond.toFixed(0),
      result.deliveriesPerSecond.toFixed(0),
      result.p50.toFixed(1),
      result.p99.toFixed(1),
      result.kibPerSubscriber.toFixed(1),
    ])
  }
  printTable(
    ['subscribers', 'updates/s', 'deliveries/s', 'p50 ms', 'p99 ms', 'KiB RSS a subscriber'],
    rows,
  )
}

async function compare(hub: Target, bare: Target): Promise<number> {
  const deliveries = (target: Target) => async () =>
    (await fanOut(target, COMPARED, COMPARED_UPDATES)).deliveriesPerSecond
  const cases = new Map([
    ['hub', deliveries(hub)],
    ['bare', deliveries(bare)],
  ])
  for (const run of cases.values()) await run()
  const rates = await alternate(cases, ROUNDS)
  return (rates.get('hub') ?? Number.NaN) / (rates.get('bare') ?? Number.NaN)
}

async function matchingTimes(hub: Target): Promise<ReadonlyMap<string, number>> {
  return alternate(
    new Map([
      ['10 exact', () => publishesBeside(hub, 10, 'match')],
      ['10 000 exact', () => publishesBeside(hub, 10_000, 'match')],
      ['1 000 patterns', () => publishesBeside(hub, 1000, 'match_urlpattern')],
    ]),
    3,
  )
}

/** Fan-out with durable history against a bare server, and the cost of matching. */
export async function run(): Promise<void> {
  console.log(`# hub: ${machine()}`)
  const token = await developmentToken()
  const broker = await startBroker({ MERCURE_DEV: 'true' })
  const bare = await startServer(new URL('./bare.ts', import.meta.url))
  const hub: Target = { url: broker.url, token }
  try {
    await fanOutTable(hub)
    const ratio = await compare(hub, { url: bare.url })
    const rates = await matchingTimes(hub)
    printTable(
      ['subscribed beside the updates', 'publishes/s'],
      [...rates].map(([what, rate]) => [what, rate.toFixed(0)]),
    )
    const cost = (what: string) => (rates.get('10 exact') ?? Number.NaN) / (rates.get(what) ?? 0)
    printVerdicts([
      {
        what: `deliveries to ${COMPARED} subscribers: hub / bare server`,
        ratio,
        bound: '>=',
        target: 0.5,
      },
      {
        what: 'cost of a publish: 10 000 exact subscriptions / 10',
        ratio: cost('10 000 exact'),
        bound: '<=',
        target: 3,
      },
    ])
  } finally {
    await Promise.all([broker.stop(), bare.stop()])
  }
}
