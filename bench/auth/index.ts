import { createPublicKey } from 'node:crypto'
import { createServer } from 'node:http'
import { importPKCS8, SignJWT } from 'jose'
import { startServer } from '../harness/child.ts'
import { loadGenerator, requestsPerSecond } from '../harness/load.ts'
import { machine, printTable, printVerdicts, type Verdict } from '../harness/report.ts'
import { joined, medianRatio, medians, type Samples, samplesOf } from '../harness/stats.ts'
import { addedMicroseconds } from './added-time.ts'
import { type Material, makeMaterial, rsaPair } from './material.ts'
import {
  type Algorithm,
  AUDIENCE,
  ISSUER,
  MIDDLEWARE_NAMES,
  type MiddlewareName,
} from './middlewares.ts'

const ROUNDS = 5
/** A run is cut into slices, because the processors change their speed within seconds. */
const SLICES = 3
const SLICE_SECONDS = 1
const CONNECTIONS = 64
const UNCACHED_PEERS = ['express-jwt', 'express-oauth2-jwt-bearer', 'fast-jwt'] as const

/** A key set server for the peer that takes RSA keys in no other way. */
async function serveKeySet(publicPem: string): Promise<{ url: string; close(): void }> {
  const jwk = createPublicKey(publicPem).export({ format: 'jwk' })
  const body = JSON.stringify({ keys: [{ ...jwk, kid: 'bench', alg: 'RS256', use: 'sig' }] })
  const server = createServer((_req, res) => {
    res.setHeader('content-type', 'application/json').end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}/jwks`, close: () => server.close() }
}

async function mint(alg: Algorithm, keys: Material): Promise<string> {
  const key =
    alg === 'HS256'
      ? new TextEncoder().encode(keys.secret)
      : await importPKCS8(keys.privatePem, alg)
  return new SignJWT({ role: 'read-write', sub: 'bench', roles: ['read-write'] })
    .setProtectedHeader({ alg, kid: 'bench' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(key)
}

/** One run of each middleware, on servers of their own. */
async function oneRound(alg: Algorithm, token: string): Promise<Samples> {
  const servers = await Promise.all(
    MIDDLEWARE_NAMES.map(
      async (name) =>
        [name, await startServer(new URL('./server.ts', import.meta.url), [name, alg])] as const,
    ),
  )
  const requests = [
    {
      method: 'GET' as const,
      path: '/api/v1/status',
      headers: { authorization: `Bearer ${token}` },
    },
  ]
  const cases = new Map(
    servers.map(([name, { url }]) => [
      name,
      () => requestsPerSecond({ url, connections: CONNECTIONS, seconds: SLICE_SECONDS, requests }),
    ]),
  )
  try {
    for (const run of cases.values()) await run()
    return await samplesOf(cases, 1, SLICES)
  } finally {
    await Promise.all(servers.map(([, server]) => server.stop()))
  }
}

/** Each round has fresh servers: two processes of the same code differ by some percent for as long as they live. */
async function throughput(alg: Algorithm, token: string): Promise<Samples> {
  const rounds: Samples[] = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await oneRound(alg, token))
  return joined(rounds)
}

function verdicts(alg: Algorithm, rates: Samples, added: ReadonlyMap<string, number>): Verdict[] {
  const rate = (over: MiddlewareName, under: MiddlewareName) => medianRatio(rates, over, under)
  const cost = (name: MiddlewareName) => added.get(name) ?? Number.NaN
  const bestPeer = Math.min(...UNCACHED_PEERS.map(cost))
  return [
    {
      what: `${alg}: warm throughput / no auth`,
      ratio: rate('hivegate warm', 'none'),
      bound: '>=',
      target: 0.9,
    },
    {
      what: `${alg}: warm added time / best peer without a token cache`,
      ratio: cost('hivegate warm') / bestPeer,
      bound: '<=',
      target: 1 / 3,
    },
    {
      what: `${alg}: cold throughput / express-oauth2-jwt-bearer`,
      ratio: rate('hivegate cold', 'express-oauth2-jwt-bearer'),
      bound: '>=',
      target: 1,
    },
    {
      what: `${alg}: cold added time / express-oauth2-jwt-bearer`,
      ratio: cost('hivegate cold') / cost('express-oauth2-jwt-bearer'),
      bound: '<=',
      target: 1,
    },
  ]
}

/** The cost of the auth middleware beside its peers, in one process run. */
export async function run(): Promise<void> {
  console.log(`# auth: ${machine()}`)
  console.log(
    `${CONNECTIONS} connections, median of ${ROUNDS} alternating runs of ${SLICES * SLICE_SECONDS} s, in slices of ${SLICE_SECONDS} s, each on fresh servers`,
  )
  console.log(loadGenerator())
  const pair = rsaPair()
  const keySet = await serveKeySet(pair.publicPem)
  const keys = makeMaterial(keySet.url, pair)
  try {
    for (const alg of ['HS256', 'RS256'] as const) {
      const token = await mint(alg, keys)
      const added = await addedMicroseconds(alg, keys, token)
      const samples = await throughput(alg, token)
      const rates = medians(samples)
      printTable(
        [`${alg}`, 'requests/s', 'of no auth', 'added µs per request'],
        MIDDLEWARE_NAMES.map((name) => [
          name,
          (rates.get(name) ?? Number.NaN).toFixed(0),
          medianRatio(samples, name, 'none').toFixed(2),
          (added.get(name) ?? Number.NaN).toFixed(2),
        ]),
      )
      printVerdicts(verdicts(alg, samples, added))
    }
  } finally {
    keySet.close()
  }
}
