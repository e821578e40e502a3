import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { type DestinationStream, pino } from 'pino'
import { answerJson } from '../../src/http/answer.ts'
import { readJson } from '../../src/http/body.ts'
import { cors } from '../../src/http/cors.ts'
import { answerErrors, noSuchRoute } from '../../src/http/failure.ts'
import { createListener, type ListenerLimits } from '../../src/http/listener.ts'
import { createLog } from '../../src/http/log.ts'
import { requestLog } from '../../src/http/request-log.ts'

/** A running app of the HTTP floor alone, with everything it logged. */
export interface FloorApp {
  readonly url: string
  readonly port: number
  readonly lines: string[]
  close(): Promise<void>
}

/** What the echo route of the floor app may be told. */
export interface FloorOptions {
  readonly maxBodyBytes?: number
  readonly limits?: ListenerLimits
  readonly routes?: (app: Express) => void
}

/** The floor without gate and wings: `POST /echo` answers `{"got": body}`. */
export async function startFloor(options: FloorOptions = {}): Promise<FloorApp> {
  const lines: string[] = []
  const destination: DestinationStream = { write: (line) => lines.push(line) }
  const log = createLog('debug', destination)
  const app = express()
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.disable('x-powered-by')
  app.use(requestLog(log))
  app.use(cors((path) => path.startsWith('/exempt')))
  app.post('/echo', async (req, res) => {
    const got = await readJson(req, res, options.maxBodyBytes ?? 1_000_000)
    answerJson(res, 200, { got: got === undefined ? 'nothing' : got })
  })
  app.get('/items/:name', (req, res) => answerJson(res, 200, { name: req.params.name }))
  options.routes?.(app)
  app.use(noSuchRoute)
  app.use(answerErrors(log))
  const server = createListener(app, options.limits)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    lines,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A log that keeps nothing. */
export const silentLog = pino({ level: 'silent' })
