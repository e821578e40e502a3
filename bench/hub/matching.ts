import { requestsPerSecond } from '../harness/load.ts'
import { openAudience, type Target } from './fan-out.ts'

const CONNECTIONS = 16
const SECONDS = 3
/** A subscribe request carries at most 100 matchers. */
const MATCHERS_PER_CONNECTION = 100
const REPEATED_TOPICS = 50

function publishing({ url, token }: Target): Promise<number> {
  let turn = 0
  return requestsPerSecond({
    url,
    connections: CONNECTIONS,
    seconds: SECONDS,
    requests: [
      {
        method: 'POST',
        path: '/.well-known/mercure',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `Bearer ${token}`,
        },
        setupRequest: (request) => {
          turn = (turn + 1) % REPEATED_TOPICS
          return { ...request, body: `topic=https://bench.example/items/${turn}&data=x` }
        },
      },
    ],
  })
}

/** Publishes per second while `count` distinct matchers are subscribed, none of which selects the updates. */
export async function publishesBeside(
  target: Target,
  count: number,
  parameter: 'match' | 'match_urlpattern',
): Promise<number> {
  const audiences = []
  for (let made = 0; made < count; made += MATCHERS_PER_CONNECTION) {
    const query = Array.from(
      { length: Math.min(MATCHERS_PER_CONNECTION, count - made) },
      (_, n) => {
        const suffix = parameter === 'match' ? '' : '/:id'
        return `${parameter}=https://bench.example/other${made + n}${suffix}`
      },
    ).join('&')
    audiences.push(await openAudience(target, { count: 1, updates: 1, query }))
  }
  try {
    return await publishing(target)
  } finally {
    for (const audience of audiences) audience.kill()
  }
}
