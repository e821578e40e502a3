import { describe, expect, it } from 'vitest'
import { HUB_OPERATIONS } from '../../src/hub/index.ts'
import { publish, startHub } from '../support/hub/hub.ts'
import { subscribe } from '../support/hub/stream.ts'
import { bearer, subscriberToken } from '../support/hub/tokens.ts'

const PATH = '/.well-known/mercure'
const described = (path: string) => {
  const found = HUB_OPERATIONS.find((one) => one.method === 'GET' && one.path === path)
  if (found === undefined) throw new Error(`${path} is not described`)
  return found
}

describe('the descriptions of the hub’s routes', () => {
  it.each([
    ['/.well-known/oauth-protected-resource/.well-known/mercure', ''],
    [`${PATH}/subscriptions`, ''],
    [`${PATH}/subscriptions/:match_type/:match`, '/exact/a'],
    [`${PATH}/subscriptions/:match_type/:match/:subscriber`, '/exact/a/SUBSCRIBER'],
  ])('%s answers as described', async (path, variables) => {
    const hub = await startHub({ settings: { anonymous: true, subscriptions: true } })
    await subscribe(hub, 'match=a', { token: subscriberToken() })
    await publish(hub, { topic: 'b' })
    const read = async (target: string) => {
      const response = await fetch(`${hub.origin}${target}`, { headers: bearer(subscriberToken()) })
      return (await response.json()) as { subscriptions?: { subscriber: string }[] }
    }
    const list = await read(`${PATH}/subscriptions`)
    const subscriber = encodeURIComponent(list.subscriptions?.[0]?.subscriber ?? '')
    const target = path.replace(/\/:.*/, '') + variables.replace('SUBSCRIBER', subscriber)
    const schema = described(path).answers[200]?.json
    expect(schema?.safeParse(await read(target)).error).toBeUndefined()
  })

  it('the stream, its QUERY form and publishing are described too', () => {
    const rows = HUB_OPERATIONS.filter(({ path }) => path === PATH).map(({ method }) => method)
    expect(rows).toEqual(['GET', 'QUERY', 'POST'])
  })
})
