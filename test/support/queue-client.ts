import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'

/** A failure as the client's caller sees it. Queue API 1.3. */
export class ClientError extends Error {
  readonly status: number | undefined
  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/** A message as it is popped; only what the client reads. */
export interface ClientMessage {
  readonly id: string
  readonly transactionId: string
  readonly partitionId: string
  readonly partition: string
  readonly leaseId: string
  readonly consumerGroup: string
  readonly createdAt: string
  readonly traceId: string | null
  readonly data: unknown
}

/** One entry of a push reply. */
export interface PushEntry {
  readonly status: string
  readonly message_id: string
  readonly transaction_id: string
}

/** How the client is made; the names and defaults of queue API 2.1, the waits shorter. */
export interface ClientOptions {
  readonly url: string
  readonly bearerToken?: string
  readonly retryAttempts?: number
  readonly retryDelayMillis?: number
  readonly timeoutMillis?: number
  /** Stands in for the network: only to lose an answer or a request. */
  readonly fetch?: typeof fetch
}

/** What a pop may ask for. */
export interface PopOptions {
  readonly batch?: number
  readonly wait?: boolean
  readonly timeout?: number
  readonly consumerGroup?: string
  readonly partition?: string
  readonly partitions?: number
  readonly subscriptionMode?: string
  readonly leaseSeconds?: number
}

/** What the client sends with every create. Queue API 2.5, trait 10. */
const CREATE_DEFAULTS = {
  leaseTime: 300,
  retryLimit: 3,
  priority: 0,
  delayedProcessing: 0,
  windowBuffer: 0,
  maxSize: 0,
  retentionSeconds: 0,
  completedRetentionSeconds: 0,
  encryptionEnabled: false,
} as const

async function parsed(answer: Response): Promise<unknown> {
  if (answer.status === 204) return null
  const text = await answer.text()
  if (answer.headers.get('content-type') === 'application/json') return JSON.parse(text)
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function errorOf(body: unknown, status: number): ClientError {
  const known = typeof body === 'object' && body !== null && 'error' in body
  return new ClientError(known ? String(body.error) : `HTTP ${status}`, status)
}

/**
 * A client that does on the wire what queue API section 2 says of the JavaScript client: the same requests,
 * the same headers, the same reading of replies and the same retries.
 */
export class QueueClient {
  readonly #options: ClientOptions

  constructor(options: ClientOptions) {
    this.#options = options
  }

  /** One call with the retries of queue API 2.3: 4xx at once, 5xx and network errors again. */
  async request(method: string, path: string, body: unknown = null, extraMs = 0): Promise<unknown> {
    const { retryAttempts = 3, retryDelayMillis = 10, timeoutMillis = 30_000 } = this.#options
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(method, path, body, timeoutMillis + extraMs)
      } catch (error) {
        const final = error instanceof ClientError && (error.status ?? 500) < 500
        if (final || attempt >= retryAttempts) throw error
        await wait(retryDelayMillis * 2 ** (attempt - 1))
      }
    }
  }

  async create(queue: string, options: Record<string, unknown> = {}): Promise<unknown> {
    const body = { queue, namespace: null, task: null, options: { ...CREATE_DEFAULTS, ...options } }
    const reply = await this.request('POST', '/api/v1/configure', body)
    if (!isObject(reply) || reply['configured'] !== true) throw new ClientError('not configured')
    return reply
  }

  delete(queue: string): Promise<unknown> {
    return this.request('DELETE', `/api/v1/resources/queues/${encodeURIComponent(queue)}`)
  }

  /** Items always carry an id of the client's own. Queue API 2.5, trait 8. */
  async push(
    queue: string,
    payloads: readonly unknown[],
    { partition = 'Default', ids }: { partition?: string; ids?: readonly string[] } = {},
  ): Promise<readonly PushEntry[]> {
    const items = payloads.map((payload, at) => ({
      queue,
      partition,
      payload,
      transactionId: ids?.[at] ?? randomUUID(),
    }))
    const reply = await this.request('POST', '/api/v1/push', { items })
    if (!Array.isArray(reply)) throw new ClientError('a push reply is an array')
    const failed = reply.find((entry) => entry.status === 'failed')
    if (failed !== undefined) throw new ClientError(failed.error)
    return reply
  }

  /** Queue and partition names go into the path as they are. Queue API 2.5, trait 1. */
  async pop(queue: string, options: PopOptions = {}): Promise<readonly ClientMessage[]> {
    const { batch = 1, wait: waits = false, timeout = 30_000, partition, ...more } = options
    const query = new URLSearchParams({
      batch: String(batch),
      wait: String(waits),
      timeout: String(timeout),
    })
    for (const [name, value] of Object.entries(more)) query.set(name, String(value))
    const place = partition === undefined ? '' : `/partition/${partition}`
    const path = `/api/v1/pop/queue/${queue}${place}?${query}`
    const reply = await this.request('GET', path, null, 5000)
    if (!isObject(reply)) return []
    return Array.isArray(reply['messages']) ? reply['messages'] : []
  }

  /** One message alone, several as a batch; success is "200 and no top-level error". Traits 4 and 5. */
  async ack(
    messages: readonly ClientMessage[],
    status = 'completed',
    error?: string,
  ): Promise<unknown> {
    const entries = messages.map(({ transactionId, partitionId, leaseId }) => ({
      transactionId,
      partitionId,
      status,
      leaseId,
      ...(error !== undefined && { error }),
    }))
    const consumerGroup = messages[0]?.consumerGroup
    const [only] = entries
    const reply =
      entries.length === 1
        ? await this.request('POST', '/api/v1/ack', { ...only, consumerGroup })
        : await this.request('POST', '/api/v1/ack/batch', {
            acknowledgments: entries,
            consumerGroup,
          })
    if (isObject(reply) && reply['error']) throw new ClientError(String(reply['error']))
    return reply
  }

  trace(message: ClientMessage, data: unknown, more: Record<string, unknown> = {}) {
    const { transactionId, partitionId, consumerGroup } = message
    const body = { transactionId, partitionId, consumerGroup, data, ...more }
    return this.request('POST', '/api/v1/traces', body)
  }

  /** The admin object's reads. */
  get(path: string): Promise<unknown> {
    return this.request('GET', path)
  }

  async #once(method: string, path: string, body: unknown, limitMs: number): Promise<unknown> {
    const { url, bearerToken, fetch: send = fetch } = this.#options
    const answer = await send(`${url}${path}`, {
      method,
      headers: {
        'Content-Type': 'application/json',
        ...(bearerToken !== undefined && { Authorization: `Bearer ${bearerToken}` }),
      },
      // A falsy body is not sent at all. Queue API 2.2.
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(limitMs),
    })
    const reply = await parsed(answer)
    if (!answer.ok) throw errorOf(reply, answer.status)
    return reply
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Statuses that the stream runner's own layer tries again. Queue API 2.4. */
const STREAM_RETRIES = new Set([408, 429, 500, 502, 503, 504])
const STREAM_TRIES = 4

/** The stream runner's HTTP layer: POST only, up to four tries. Queue API 2.4. */
export async function streamPost(
  { url, bearerToken, fetch: send = fetch }: ClientOptions,
  path: string,
  body: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: the body of an answer under test
): Promise<any> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send(`${url}${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(bearerToken !== undefined && { Authorization: `Bearer ${bearerToken}` }),
      },
      body: JSON.stringify(body),
    }).catch((error: unknown) => {
      if (attempt >= STREAM_TRIES) throw error
      return undefined
    })
    if (answer !== undefined) {
      const reply = await parsed(answer)
      if (answer.ok) return reply
      const again = STREAM_RETRIES.has(answer.status) && attempt < STREAM_TRIES
      if (!again) throw errorOf(reply, answer.status)
    }
    await wait(5 * attempt)
  }
}

/** A network that carries out the first `losses` requests matching `path` and loses their answers. */
export function losingAnswers(path: string, losses = 1): typeof fetch {
  let left = losses
  return async (input, init) => {
    const answer = await fetch(input, init)
    if (left > 0 && String(input).includes(path)) {
      left -= 1
      await answer.arrayBuffer()
      throw new TypeError('fetch failed')
    }
    return answer
  }
}
