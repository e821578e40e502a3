import { once } from 'node:events'
import { Agent, createServer, request, type Server } from 'node:http'

/** Longer than any client of a test keeps a connection that it may use again. */
const IDLE_MS = 600_000

/** Fields that speak of one connection only. */
const OWN_FIELDS = new Set(['connection', 'keep-alive'])

/** A front that hands each request to the next of several brokers. */
export interface RoundRobin {
  readonly port: number
  close(): Promise<void>
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Starts a front before the brokers on these ports. A client that goes takes its request with it. */
export async function startRoundRobin(ports: readonly number[]): Promise<RoundRobin> {
  let turn = 0
  // A connection that is used again may be closed by the broker at that moment; a fresh one is not.
  const agent = new Agent({ keepAlive: false })
  const server = createServer((req, res) => {
    turn += 1
    const { method, url, headers } = req
    const port = ports[turn % ports.length]
    const target = { host: '127.0.0.1', port, method, path: url, headers, agent }
    const onward = request(target, (answer) => {
      const fields = Object.entries(answer.headers).filter(([name]) => !OWN_FIELDS.has(name))
      res.writeHead(answer.statusCode ?? 502, Object.fromEntries(fields))
      answer.pipe(res)
    })
    onward.on('error', () => res.destroy())
    res.on('close', () => onward.destroy())
    req.pipe(onward)
  })
  server.keepAliveTimeout = IDLE_MS
  const port = await portOf(server)
  return {
    port,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
