/**
 * `npm run demo`: a broker on a free port with tokens on, a producer, a consumer and an admin, and one refusal of
 * each kind. Prints a transcript and exits 0 when everything was answered as it should be.
 */
import { spawn } from 'node:child_process'
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SignJWT } from 'jose'

const BIN = fileURLToPath(new URL('../bin/hivegate.js', import.meta.url))
const dataDir = mkdtempSync(join(tmpdir(), 'hivegate-demo-'))
const secret = randomBytes(32).toString('hex')
const { privateKey, publicKey } = generateKeyPairSync('ed25519')
let wrong = 0
/** Longer answers are cut: the transcript is to be read. */
const MAX_SHOWN = 240

/** A key server with one Ed25519 key. */
function startKeyServer() {
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'demo-1', use: 'sig' }]
  const server = createServer((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/jwk-set+json' }).end(JSON.stringify({ keys }))
  })
  return new Promise<{ url: string; close(): void }>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      // A listening TCP server has an address with a port.
      const { port } = server.address() as AddressInfo
      resolve({ url: `http://127.0.0.1:${port}/jwks.json`, close: () => server.close() })
    })
  })
}

/** `hivegate serve` in a process of its own; resolves when it listens. */
function startBroker(env: Record<string, string>) {
  const child = spawn(process.execPath, [BIN, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return new Promise<{ url: string; stop(): Promise<number | null> }>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const port = /"port":([0-9]+),"msg":"listening"/.exec(output)?.[1]
      if (port === undefined) return
      const stop = () => {
        child.kill('SIGTERM')
        return exited
      }
      resolve({ url: `http://127.0.0.1:${port}`, stop })
    })
    exited.then(
      (code) => reject(new Error(`the broker ended with code ${code}\n${output}`)),
      reject,
    )
  })
}

interface TokenPlan {
  readonly role: string
  readonly sub: string
  readonly alg?: string
  readonly key?: KeyObject | Uint8Array
  readonly kid?: string
  readonly expires?: string
}

function token(plan: TokenPlan): Promise<string> {
  const header = { alg: plan.alg ?? 'HS256', typ: 'JWT', ...(plan.kid && { kid: plan.kid }) }
  return new SignJWT({ role: plan.role })
    .setProtectedHeader(header)
    .setSubject(plan.sub)
    .setIssuedAt('-2h')
    .setExpirationTime(plan.expires ?? '1h')
    .sign(plan.key ?? new TextEncoder().encode(secret))
}

interface Step {
  readonly says: string
  readonly route: string
  readonly token?: string
  readonly body?: unknown
  readonly expect: number
}

async function step(base: string, { says, route, token: bearer, body, expect }: Step) {
  const [method = 'GET', path = '/'] = route.split(' ')
  const answer = await fetch(`${base}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const good = answer.status === expect
  if (!good) wrong += 1
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
  console.log(`\n${says}\n  > ${route}\n  < ${answer.status} ${shown}`)
  if (!good) console.log(`  wanted ${expect}`)
  return text === '' ? undefined : JSON.parse(text)
}

const keyServer = await startKeyServer()
const broker = await startBroker({
  HOST: '127.0.0.1',
  PORT: '0',
  DATA_DIR: dataDir,
  JWT_ENABLED: 'true',
  JWT_ALGORITHM: 'auto',
  JWT_SECRET: secret,
  JWT_JWKS_URL: keyServer.url,
})
console.log(`A broker listens on ${broker.url}; tokens are checked.`)

try {
  const producer = await token({ role: 'write-only', sub: 'producer-1' })
  const consumer = await token({
    role: 'read-write',
    sub: 'consumer-1',
    alg: 'EdDSA',
    key: privateKey,
    kid: 'demo-1',
  })
  const admin = await token({ role: 'admin', sub: 'admin-1' })
  const go = (one: Step) => step(broker.url, one)

  await go({
    says: 'A producer with a write-only token pushes two messages:',
    route: 'POST /api/v1/push',
    token: producer,
    body: {
      items: [1, 2].map((n) => ({
        queue: 'orders',
        payload: { order: n },
        transactionId: `order-${n}`,
      })),
    },
    expect: 201,
  })
  const popped = await go({
    says: 'A consumer pops them; its token is signed with a key from the key set:',
    route: 'GET /api/v1/pop/queue/orders?batch=2',
    token: consumer,
    expect: 200,
  })
  await go({
    says: 'It acknowledges both in one call:',
    route: 'POST /api/v1/ack/batch',
    token: consumer,
    body: { acknowledgments: popped.messages },
    expect: 200,
  })
  await go({
    says: 'Nothing is left:',
    route: 'GET /api/v1/pop/queue/orders',
    token: consumer,
    expect: 204,
  })
  await go({
    says: 'An admin reads a system route:',
    route: 'GET /api/v1/system/maintenance',
    token: admin,
    expect: 200,
  })
  await go({
    says: 'Without a token nobody gets in:',
    route: 'GET /api/v1/pop/queue/orders',
    expect: 401,
  })
  await go({
    says: 'A producer may push and nothing else:',
    route: 'GET /api/v1/pop/queue/orders',
    token: producer,
    expect: 403,
  })
  await go({
    says: 'A token signed with a key that the key set does not hold:',
    route: 'GET /api/v1/pop/queue/orders',
    token: await token({ role: 'admin', sub: 'x', alg: 'EdDSA', key: privateKey, kid: 'unknown' }),
    expect: 401,
  })
  await go({
    says: 'A token that expired an hour ago:',
    route: 'GET /api/v1/pop/queue/orders',
    token: await token({ role: 'admin', sub: 'x', expires: '-1h' }),
    expect: 401,
  })
} finally {
  const code = await broker.stop()
  keyServer.close()
  rmSync(dataDir, { recursive: true, force: true })
  console.log(`\nThe broker has stopped with code ${code}.`)
  if (code !== 0) wrong += 1
}
if (wrong > 0) {
  console.error(`${wrong} answers were not as expected`)
  process.exitCode = 1
}
