import http, { type IncomingMessage, type RequestListener } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { type JwksAnswer, keysAnswer } from './jwks-answers.ts'
import type { Jwk } from './keys.ts'

export * from './jwks-answers.ts'

/** What the server keeps of one request. */
export interface JwksFetch {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
}

/** A real key server on a free port of 127.0.0.1, whose answer a test may change at any time. */
export interface JwksServer {
  /** The address of the key set; every path is answered alike. */
  readonly url: string
  readonly port: number
  /** How many requests have arrived. */
  readonly fetches: number
  readonly requests: readonly JwksFetch[]
  /** Sets what the next requests get: an answer, or the keys of a set. */
  answer(next: JwksAnswer | readonly Jwk[]): void
  /** Resolves as soon as `count` requests have arrived in all. */
  fetched(count: number): Promise<void>
  /** Stops listening and cuts every connection; `start` listens again on the same port. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** Key and certificate of an https server, as PEM. */
export interface TlsMaterial {
  readonly key: string
  readonly cert: string
}

/** Starts a key server that serves `keys`; with `tls` it speaks https. Stop it after the test. */
export async function startJwksServer(
  keys: readonly Jwk[] = [],
  tls?: TlsMaterial,
): Promise<JwksServer> {
  let current = keysAnswer(keys)
  const requests: JwksFetch[] = []
  const waiters = new Set<() => void>()
  const listener: RequestListener = (req, res) => {
    requests.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers })
    for (const wake of waiters) wake()
    current(req, res)
  }
  const server = tls ? https.createServer({ ...tls }, listener) : http.createServer(listener)
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
  await listen(0)
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/.well-known/jwks.json`,
    port,
    requests,
    get fetches() {
      return requests.length
    },
    answer(next) {
      current = typeof next === 'function' ? next : keysAnswer(next)
    },
    fetched: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (requests.length < count) return
          waiters.delete(check)
          resolve()
        }
        waiters.add(check)
        check()
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
    start: () => listen(port),
  }
}

/** A port of 127.0.0.1 on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = await startJwksServer()
  await server.stop()
  return server.port
}
