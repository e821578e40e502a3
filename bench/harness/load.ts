import autocannon from 'autocannon'

/** What one load run sends. */
export interface Load {
  readonly url: string
  readonly connections: number
  readonly seconds: number
  readonly requests: readonly autocannon.Request[]
}

/** Sends the requests in turn on every connection; answers per second. Any answer that is not 2xx is an error. */
export async function requestsPerSecond(load: Load): Promise<number> {
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
