import autocannon from 'autocannon'
import { fixedScript, hasWrk, wrkRequestsPerSecond } from './wrk.ts'

/** What one load run sends. */
export interface Load {
  readonly url: string
  readonly connections: number
  readonly seconds: number
  readonly requests: readonly autocannon.Request[]
  /** The same traffic as a script of wrk; a single request that never changes needs none. */
  readonly script?: string
}

/** Names what sends the load, for the head of a table. */
export function loadGenerator(): string {
  return hasWrk()
    ? 'load: wrk, and autocannon where no script says the traffic'
    : 'load: autocannon; wrk is not installed, and autocannon takes several times as much of the processors'
}

function scriptOf({ script, requests }: Load): string | undefined {
  if (script !== undefined) return script
  const [request, ...others] = requests
  if (request === undefined || others.length > 0) return undefined
  const { method = 'GET', path = '/', headers = {}, body = '', setupRequest, onResponse } = request
  if (setupRequest !== undefined || onResponse !== undefined) return undefined
  const texts = headers as Record<string, string>
  return fixedScript({ method, path, headers: texts, body: String(body) })
}

/**
 * Sends the requests in turn on every connection; answers per second. Any answer that is not 2xx is an error.
 * They are sent by wrk when it is there and a script says them: load and server share the processors of one machine, and
 * what the load takes, the threads of the server miss.
 */
export async function requestsPerSecond(load: Load): Promise<number> {
  const script = hasWrk() ? scriptOf(load) : undefined
  if (script !== undefined) return wrkRequestsPerSecond(load, script)
  const result = await autocannon({
    url: load.url,
    connections: load.connections,
    duration: load.seconds,
    requests: [...load.requests],
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${load.url}: ${result.non2xx} refused, ${result.errors} failed`)
  }
  return result.requests.average
}
