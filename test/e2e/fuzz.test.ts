import { mkdtemp, rm } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brokerRouteTable } from '../../src/access/index.ts'
import { type ChildBroker, startChildBroker } from '../support/child-broker.ts'

const REQUESTS = 20_000
const CONCURRENCY = 24
/** The hub and the issuer follow protocols with error bodies of their own. */
const OTHER_SHAPES = /^\/(\.well-known|playground|rest|functions|pubsub|api\/v1\/system\/pubsub)\//
const ANSWER_LIMIT_MS = 60_000

interface FuzzRequest {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
}

const { routes } = brokerRouteTable()

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    'q',
    'Default',
    '__proto__',
    'constructor',
    '..',
    'x'.repeat(300),
    '\u0000',
    '\ud800',
  ),
)
const segment = text.map((value) => encodeURIComponent(value.toWellFormed()))
const rawSegment = fc.oneof(
  { weight: 8, arbitrary: segment },
  { weight: 1, arbitrary: fc.constantFrom('%', '%zz', '%ff', '%00', '%2F', '.', '%2e%2e', ';a=b') },
)

/** A pattern of the table with its parameters filled in. */
const routePath = fc.constantFrom(...routes).chain(({ method, path }) =>
  fc.array(rawSegment, { minLength: 4, maxLength: 4 }).map((values) => {
    let at = 0
    const filled = path.replace(/\{?[:*]\w+\}?/g, () => values[at++] || 'q')
    return { method, path: filled }
  }),
)
const anyMethod = fc.constantFrom(
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
)
const anyPath = fc.array(rawSegment, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`)
const target = fc.oneof(
  { weight: 10, arbitrary: routePath },
  {
    weight: 1,
    arbitrary: fc.record({ method: anyMethod, path: routePath.map(({ path }) => path) }),
  },
  { weight: 1, arbitrary: fc.record({ method: anyMethod, path: anyPath }) },
)

const NAMES = [
  'queue',
  'partition',
  'items',
  'payload',
  'data',
  'transactionId',
  'partitionId',
  'leaseId',
  'status',
  'acknowledgments',
  'operations',
  'requiredLeases',
  'type',
  'consumerGroup',
  'error',
  'options',
  'mode',
  'namespace',
  'task',
  'seconds',
  'toEnd',
  'timestamp',
  'subscriptionTimestamp',
  'enabled',
  'leaseTime',
  'retryLimit',
  'traceId',
  'name',
  'source_queue',
  'config_hash',
  'query_id',
  'partition_id',
  'ack',
] as const
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom(
      'push',
      'ack',
      'completed',
      'failed',
      'dlq',
      'retry',
      'q',
      '2026-01-01T00:00:00Z',
      true,
      false,
      null,
    ),
    fc.double(),
    fc.integer(),
    fc.constantFrom(1e308, -1, 0, 2 ** 53, 1.5),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...NAMES), text), tie('any'), { maxKeys: 6 }),
  ),
})).any
const likely = fc.oneof(
  fc.record({
    items: fc.array(
      fc.record(
        { queue: text, partition: text, payload: value, transactionId: text },
        { requiredKeys: ['queue'] },
      ),
      { maxLength: 4 },
    ),
  }),
  fc.record(
    { transactionId: text, partitionId: text, status: value, leaseId: text, consumerGroup: text },
    { requiredKeys: [] },
  ),
  fc.record({
    acknowledgments: fc.array(fc.record({ transactionId: text, partitionId: text, status: text }), {
      maxLength: 4,
    }),
  }),
  fc.record({
    queue: text,
    options: fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 5 }),
  }),
  fc.record({
    operations: fc.array(
      fc.record(
        {
          type: fc.constantFrom('push', 'ack', 'x'),
          items: value,
          queue: text,
          transactionId: text,
          partitionId: text,
        },
        { requiredKeys: ['type'] },
      ),
      { maxLength: 4 },
    ),
    requiredLeases: fc.array(text, { maxLength: 2 }),
  }),
)
const body = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  { weight: 6, arbitrary: likely.map((json) => JSON.stringify(json)) },
  { weight: 3, arbitrary: value.map((json) => JSON.stringify(json) ?? '') },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
  { weight: 1, arbitrary: value.map((json) => (JSON.stringify(json) ?? '').slice(0, -1)) },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 900, max: 3000 })
      .map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  },
)

const parameter = fc.tuple(
  fc.constantFrom(
    'batch',
    'wait',
    'timeout',
    'consumerGroup',
    'autoAck',
    'partitions',
    'subscriptionMode',
    'subscriptionFrom',
    'namespace',
    'task',
    'leaseSeconds',
    'queue',
    'limit',
    'offset',
    'from',
    'to',
    'minLagSeconds',
    'deleteMetadata',
    'partition',
    'search',
    'group',
    'interval',
    '__proto__',
    'x',
  ),
  fc.oneof(
    text,
    fc.integer().map(String),
    fc.constantFrom('true', '1', '-1', '1e999', '99999999999999999999', 'NaN', '2026-01-01'),
  ),
)
const query = fc.array(parameter, { maxLength: 5 }).map((pairs) =>
  pairs
    // A long wait is no fault; it would only hold the test up.
    .filter(([name]) => name !== 'timeout')
    .map(([name, given]) => `${name}=${encodeURIComponent(given.toWellFormed())}`)
    .join('&'),
)

const headerValue = fc.oneof(
  fc.string({ maxLength: 30 }).map((given) => given.replace(/[^\x20-\x7e]/g, '')),
  fc.constantFrom(
    'application/json',
    'text/plain; charset=utf-16',
    'application/json; charset="',
    'gzip',
    'br',
    'identity',
    'Bearer x',
    'Basic eA==',
    '*/*',
    'DELETE',
  ),
)
const headers = fc.dictionary(
  fc.constantFrom(
    'content-type',
    'content-encoding',
    'authorization',
    'accept',
    'cookie',
    'x-http-method-override',
    'x-forwarded-for',
    'origin',
    'if-none-match',
    'range',
    'x-request-id',
    'te',
  ),
  headerValue,
  { maxKeys: 4 },
)

const request: fc.Arbitrary<FuzzRequest> = fc
  .record({ target, query, headers, body })
  .map(({ target: { method, path }, query: search, headers: given, body: sent }) => ({
    method,
    path: search === '' ? path : `${path}?${search}`,
    headers: given,
    body: method === 'TRACE' ? '' : sent,
  }))

const agent = new http.Agent({ keepAlive: true, maxSockets: CONCURRENCY })

function send(broker: ChildBroker, one: FuzzRequest): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(one.body)
    const length = bytes.length === 0 ? {} : { 'content-length': bytes.length }
    const options = {
      port: broker.port,
      host: '127.0.0.1',
      agent,
      method: one.method,
      path: one.path,
    }
    const sent = http.request({ ...options, headers: { ...one.headers, ...length } }, (answer) => {
      let answered = ''
      answer.on('data', (chunk: Buffer) => {
        answered += chunk.toString()
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: answered }))
    })
    sent.on('error', reject)
    // Nothing here waits long: an answer that does not come is a fault of its own.
    sent.setTimeout(ANSWER_LIMIT_MS, () =>
      sent.destroy(new Error(`no answer to ${JSON.stringify(one)}`)),
    )
    sent.end(bytes)
  })
}

describe('20 000 random bodies, queries and headers', () => {
  it('cause no crash, no 5xx, and every error has the documented shape', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'hivegate-fuzz-'))
    const broker = await startChildBroker({
      DATA_DIR: dataDir,
      DEFAULT_TIMEOUT: '20',
    })
    const seed = Date.now() % 1_000_000
    const requests = fc.sample(request, { numRuns: REQUESTS, seed })
    const statuses = new Map<number, number>()
    let at = 0
    const worker = async () => {
      for (let one = requests[at++]; one !== undefined; one = requests[at++]) {
        const { status, text: answered } = await send(broker, one)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        const told = `seed ${seed}: ${JSON.stringify({ ...one, body: String(one.body) })} got ${status} ${answered}`
        if (status >= 500) expect.fail(told)
        if (status >= 400 && one.method !== 'HEAD' && !OTHER_SHAPES.test(one.path)) {
          expect(JSON.parse(answered), told).toMatchObject({ error: expect.any(String) })
        }
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, worker))
    expect((await broker.call('GET /health')).status).toBe(200)
    broker.signal('SIGTERM')
    const { code, stdout, stderr } = await broker.exited
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([])
    // The mixture reaches the handlers and their refusals alike.
    for (const status of [200, 201, 204, 400, 404]) expect(statuses.get(status)).toBeGreaterThan(0)
    await rm(dataDir, { recursive: true, force: true })
  }, 900_000)
})
