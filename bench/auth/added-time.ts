import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import express, { type RequestHandler } from 'express'
import { alternate } from '../harness/stats.ts'
import type { Material } from './material.ts'
import { type Algorithm, MIDDLEWARE_NAMES, middleware } from './middlewares.ts'

const ROUNDS = 5
const CALLS = 4000
const WARM_UP_CALLS = 2000

/** Calls the middleware one after another on one real request; mean time of a call in µs. */
async function meanMicroseconds(
  handler: RequestHandler,
  req: express.Request,
  res: express.Response,
  calls: number,
): Promise<number> {
  const begin = process.hrtime.bigint()
  for (let call = 0; call < calls; call += 1) {
    await new Promise<void>((resolve, reject) => {
      void handler(req, res, (fault?: unknown) => {
        if (fault === undefined) resolve()
        else reject(fault)
      })
    })
  }
  return Number(process.hrtime.bigint() - begin) / 1000 / calls
}

/** What each middleware adds to a request, in µs: median of alternating loops, the empty one taken off. */
export async function addedMicroseconds(
  alg: Algorithm,
  keys: Material,
  token: string,
): Promise<ReadonlyMap<string, number>> {
  const { req, res, close } = await oneRequest(token)
  try {
    const handlers = MIDDLEWARE_NAMES.map((name) => [name, middleware(name, alg, keys)] as const)
    for (const [, handler] of handlers) await meanMicroseconds(handler, req, res, WARM_UP_CALLS)
    const cases = new Map(
      handlers.map(([name, handler]) => [name, () => meanMicroseconds(handler, req, res, CALLS)]),
    )
    const times = await alternate(cases, ROUNDS)
    const base = times.get('none') ?? 0
    return new Map([...times].map(([name, time]) => [name, time - base]))
  } finally {
    close()
  }
}

/** A real Express request with the token, held open while the loops run over it. */
async function oneRequest(token: string) {
  const held = Promise.withResolvers<{ req: express.Request; res: express.Response }>()
  const app = express()
  app.get('/api/v1/status', (req, res) => held.resolve({ req, res }))
  const server = createServer((req: IncomingMessage, res: ServerResponse) => app(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const answer = fetch(`http://127.0.0.1:${address.port}/api/v1/status`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const { req, res } = await held.promise
  const close = () => {
    res.end()
    void answer.then((reply) => reply.text()).finally(() => server.close())
  }
  return { req, res, close }
}
