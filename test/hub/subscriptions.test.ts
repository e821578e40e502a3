import { describe, expect, it, vi } from 'vitest'
import { SUBSCRIBER_KEY } from '../support/hub/config.ts'
import { publish, type RunningHub, startHub } from '../support/hub/hub.ts'
import { startKeptHub } from '../support/hub/kept-hub.ts'
import { subscribe } from '../support/hub/stream.ts'
import { accessToken, bearer, detail, pattern, subscriberToken } from '../support/hub/tokens.ts'
import { rawRequest } from '../support/raw-request.ts'

const PATH = '/.well-known/mercure/subscriptions'
const watching = () => startHub({ settings: { anonymous: true, subscriptions: true } })

interface Document {
  readonly id: string
  readonly subscriber: string
  readonly match: string
  readonly match_type: string
  readonly active: boolean
  readonly payload?: unknown
}

interface Collection {
  readonly id: string
  readonly type: string
  readonly subscriptions: readonly Document[]
}

// The tests check what they read.
const collectionOf = async (response: Response) => (await response.json()) as Collection

/** A stream of subscription events, opened before what it is to see. */
async function watch(hub: RunningHub, query = `match_urlpattern=${PATH}/*`) {
  const token = subscriberToken([pattern(`${PATH}/*`)])
  const stream = await subscribe(hub, query, { token })
  return {
    ...stream,
    async document() {
      const event = await stream.next()
      return { event, document: JSON.parse(event.data) as Document }
    },
  }
}

const list = (hub: RunningHub, path = PATH, token = subscriberToken(), headers = {}) =>
  fetch(`${hub.origin}${path}`, { headers: { ...bearer(token), ...headers } })

async function listed(hub: RunningHub, path = PATH) {
  return (await collectionOf(await list(hub, path))).subscriptions
}

describe('row 51: subscription events', () => {
  it('tell when a connection begins and ends, once per matcher, with its document', async () => {
    const hub = await watching()
    const watcher = await watch(hub)
    await watcher.document()
    const query = 'match=a&match_urlpattern=/b/:x&match=a'
    const other = await subscribe(hub, query, { token: subscriberToken([]) })
    const begun = [await watcher.document(), await watcher.document()]
    other.close()
    const ended = [await watcher.document(), await watcher.document()]
    const subscriber = begun[0]?.document.subscriber ?? ''
    const documents = [
      { match: 'a', match_type: 'exact', id: `${PATH}/exact/a/${encodeURIComponent(subscriber)}` },
      {
        match: '/b/:x',
        match_type: 'urlpattern',
        id: `${PATH}/urlpattern/%2Fb%2F%3Ax/${encodeURIComponent(subscriber)}`,
      },
    ].map((document) => ({ ...document, type: 'subscription', subscriber }))
    expect(begun.map(({ document }) => document)).toEqual(
      documents.map((document) => ({ ...document, active: true })),
    )
    expect(ended.map(({ document }) => document)).toEqual(
      documents.map((document) => ({ ...document, active: false })),
    )
    for (const { event } of [...begun, ...ended]) {
      expect(event.event).toBe('mercure')
      expect(event.id).toMatch(/^urn:uuid:/)
    }
    expect(Object.keys(begun[0]?.document ?? {})).toEqual([
      'id',
      'type',
      'subscriber',
      'match',
      'match_type',
      'active',
    ])
  })

  it('are private: without a grant on their topics nobody sees them', async () => {
    const hub = await watching()
    const blind = await subscribe(hub, 'match=*', { token: subscriberToken(['a']) })
    await subscribe(hub, 'match=x')
    await publish(hub, { topic: 'a', id: 'public' })
    expect((await blind.next()).id).toBe('public')
  })

  it('can be narrowed to one matcher by its encoded form', async () => {
    const hub = await watching()
    const narrow = await watch(
      hub,
      `match_urlpattern=${encodeURIComponent(`${PATH}/exact/%2Fb/:s`)}`,
    )
    await subscribe(hub, 'match=/a')
    await subscribe(hub, 'match=/b')
    expect((await narrow.document()).document.match).toBe('/b')
  })

  it('are stored and replayed like other private updates', async () => {
    const settings = { anonymous: true, subscriptions: true }
    const hub = await startKeptHub({ settings })
    const gone = await subscribe(hub, 'match=a')
    gone.close()
    await gone.ended
    await vi.waitFor(() => expect(hub.hub.health().subscribers).toBe(0))
    const watcher = await watch(hub, `match_urlpattern=${PATH}/exact/a/*&last_event_id=earliest`)
    expect((await watcher.document()).document.active).toBe(true)
    expect((await watcher.document()).document.active).toBe(false)
  })

  it('are not sent with the feature off', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    const watcher = await watch(hub, `match_urlpattern=${PATH}/*&match=a`)
    await subscribe(hub, 'match=x')
    await publish(hub, { topic: 'a', id: 'first' })
    expect((await watcher.next()).id).toBe('first')
  })
})

describe('row 52: a subscriber and its own events', () => {
  it('one that may see them sees its begin', async () => {
    const hub = await watching()
    const watcher = await watch(hub)
    const { document } = await watcher.document()
    expect(document).toMatchObject({ match: `${PATH}/*`, match_type: 'urlpattern', active: true })
  })
})

describe('row 53: the subscriber identifier', () => {
  it('H30: differs between connections of one token, is shared by matchers, shows no sub', async () => {
    const hub = await watching()
    const sub = '7'
    const token = subscriberToken(['*'], { sub })
    await subscribe(hub, 'match=a&match=b&subscriber=chosen&id=chosen', { token })
    await subscribe(hub, 'match=c', { token, headers: { 'X-Subscriber': 'chosen' } })
    await subscribe(hub, 'match=d', { token: subscriberToken(['*'], { sub: undefined }) })
    await subscribe(hub, 'match=e')
    const documents = await listed(hub)
    const ids = new Map(documents.map(({ match, subscriber }) => [match, subscriber]))
    expect(ids.get('a')).toBe(ids.get('b'))
    expect(new Set(ids.values()).size).toBe(4)
    for (const id of ids.values()) {
      expect(id).toMatch(
        /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
    }
  })
})

describe('row 54: the encoding of a subscription id', () => {
  it('encodes each variable once and whole, and the URL so made returns the document', async () => {
    const hub = await watching()
    const match = "a b!'()*%2F"
    await subscribe(hub, `match=${encodeURIComponent(match)}`)
    const [document] = await listed(hub)
    expect(document?.id).toContain('/exact/a%20b%21%27%28%29%2A%252F/urn%3Auuid%3A')
    const response = await list(hub, document?.id)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual(document)
  })

  it('works for an empty pattern, a slash and a wildcard', async () => {
    const hub = await watching()
    for (const query of ['match=', 'match=/', 'match_urlpattern=*', 'match=ü']) {
      const stream = await subscribe(hub, query)
      const [document] = await listed(hub)
      const raw = await rawRequest(hub.port, {
        target: document?.id ?? '',
        headers: [`Authorization: Bearer ${subscriberToken()}`],
      })
      expect(raw.status).toBe(200)
      stream.close()
      await vi.waitFor(() => expect(hub.hub.health().subscribers).toBe(0))
    }
  })
})

describe('row 55: the payload of a subscription', () => {
  const payloadOf = async (query: string, ...details: readonly unknown[]) => {
    const hub = await watching()
    await subscribe(hub, query, { token: accessToken(details, { key: SUBSCRIBER_KEY }) })
    const [document] = await listed(hub)
    return document?.payload === undefined ? 'none' : document.payload
  }
  const on = (topics: readonly string[], payload?: unknown) =>
    detail('subscribe', topics, { payload })

  it('is that of the first matching detail, and none when that one has none', async () => {
    expect(await payloadOf('match=a', on(['b'], 1), on(['a'], 2), on(['*'], 3))).toBe(2)
    expect(await payloadOf('match=a', on(['a']), on(['*'], 3))).toBe('none')
    expect(await payloadOf('match=a', on(['a'], null), on(['*'], 3))).toBe('none')
    expect(await payloadOf('match=c', on(['a'], 1), on(['*'], { d: [] }))).toEqual({ d: [] })
  })

  it.each([[false], [0], [''], [[]]])('%j is a payload', async (payload) => {
    expect(await payloadOf('match=a', on(['*'], payload))).toEqual(payload)
  })

  it('matches the pattern of the subscription as if it were a topic', async () => {
    const book = detail('subscribe', [], {
      topics: [pattern('https://shop.example/books/:id')],
      payload: 'books',
    })
    expect(await payloadOf('match=https://shop.example/books/7', book)).toBe('books')
    const query = `match_urlpattern=${encodeURIComponent('https://shop.example/books/:id')}`
    expect(await payloadOf(query, book)).toBe('books')
  })

  it('of a publish detail is ignored', async () => {
    expect(await payloadOf('match=a', detail('publish', ['*'], { payload: 1 }))).toBe('none')
  })
})

describe('row 56: the subscription API', () => {
  it('lists all, those of one matcher, and one', async () => {
    const hub = await watching()
    await subscribe(hub, 'match=a&match=b')
    await subscribe(hub, 'match_urlpattern=a')
    expect(await listed(hub)).toHaveLength(3)
    const ofA = await collectionOf(await list(hub, `${PATH}/exact/a`))
    expect(ofA).toMatchObject({ id: `${PATH}/exact/a`, type: 'subscriptions' })
    expect(ofA.subscriptions).toHaveLength(1)
    expect(ofA.subscriptions[0]).toMatchObject({ match: 'a', match_type: 'exact', active: true })
    const one = await list(hub, ofA.subscriptions[0]?.id)
    expect(await one.json()).toEqual(ofA.subscriptions[0])
  })

  it('an empty collection is 200, its id the path as sent without the query', async () => {
    const hub = await watching()
    expect(await (await list(hub, `${PATH}?x=y`)).json()).toEqual({
      id: PATH,
      type: 'subscriptions',
      subscriptions: [],
    })
    const encoded = `${PATH}/urlpattern/https%3a%2F%2Fshop.example%2F`
    expect((await collectionOf(await list(hub, encoded))).id).toBe(encoded)
  })

  it.each([
    [`${PATH}/unknown/a`, 400],
    [`${PATH}/Exact/a`, 400],
    [`${PATH}/https%3A%2F%2Fshop.example/urn%3Auuid%3A1`, 400],
    [`${PATH}/exact/%E0%A4%A`, 400],
    [`${PATH}/exact/a/urn%3Auuid%3Anobody`, 404],
    [`${PATH}/exact`, 404],
    [`${PATH}/`, 404],
    [`${PATH}/exact/a/b/c`, 404],
    ['/.well-known/mercure/other', 404],
  ])('%s is %s', async (target, status) => {
    const hub = await watching()
    const headers = [`Authorization: Bearer ${subscriberToken()}`]
    expect((await rawRequest(hub.port, { target, headers })).status).toBe(status)
  })

  it('an ended subscription is 404', async () => {
    const hub = await watching()
    const stream = await subscribe(hub, 'match=a')
    const [document] = await listed(hub)
    stream.close()
    await vi.waitFor(() => expect(hub.hub.health().subscribers).toBe(0))
    expect((await list(hub, document?.id)).status).toBe(404)
  })

  it('a literal + stays a +', async () => {
    const hub = await watching()
    await subscribe(hub, 'match=a%2Bb')
    expect(await listed(hub, `${PATH}/exact/a+b`)).toHaveLength(1)
    expect(await listed(hub, `${PATH}/exact/a%20b`)).toHaveLength(0)
  })

  it('with the feature off every route is 404', async () => {
    const hub = await startHub()
    for (const path of [PATH, `${PATH}/exact/a`, `${PATH}/exact/a/b`]) {
      expect((await list(hub, path)).status).toBe(404)
    }
  })

  it('no token is the bare 401, also in anonymous mode', async () => {
    const response = await fetch(`${(await watching()).origin}${PATH}`)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer resource_metadata="/)
  })

  it('H31: the grant has to cover the encoded path; the query plays no part', async () => {
    const hub = await watching()
    const path = `${PATH}/exact/a%2Fb`
    const status = async (grant: string, target: string) =>
      (await list(hub, target, subscriberToken([grant]))).status
    expect(await status(path, `${path}?x=y`)).toBe(200)
    expect(await status(`${PATH}/exact/a/b`, path)).toBe(403)
    expect(await status(PATH, path)).toBe(403)
    expect(await status(path, PATH)).toBe(403)
    expect(await status(`${path}?x=y`, `${path}?x=y`)).toBe(403)
    const wide = subscriberToken([pattern(`${PATH}/*`)])
    expect((await list(hub, path, wide)).status).toBe(200)
    expect((await list(hub, PATH, wide)).status).toBe(403)
  })

  it('without any verifier it is open', async () => {
    const settings = { anonymous: true, subscriptions: true, issuers: [] }
    const hub = await startHub({ settings })
    expect((await fetch(`${hub.origin}${PATH}`)).status).toBe(200)
  })

  it('HEAD needs what GET needs and has no body', async () => {
    const hub = await watching()
    const head = (headers = {}) => fetch(`${hub.origin}${PATH}`, { method: 'HEAD', headers })
    expect((await head()).status).toBe(401)
    const response = await head(bearer(subscriberToken()))
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(response.headers.get('etag')).not.toBeNull()
  })
})

describe('row 57: the headers of the subscription API', () => {
  it('lead from the snapshot to the stream', async () => {
    const hub = await startKeptHub({ settings: { anonymous: true, subscriptions: true } })
    const before = await list(hub)
    expect(before.headers.get('link')).toBe(
      '</.well-known/mercure>; rel="mercure"; last-event-id="earliest"; type="mercure"; content-type="application/json"',
    )
    await publish(hub, { topic: 'a', id: 'x "y\\ z%é' })
    const response = await list(hub)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'must-revalidate',
    })
    const text = (name: string) =>
      Buffer.from(response.headers.get(name) ?? '', 'latin1').toString()
    expect(text('etag')).toBe('"x%20%22y\\%20z%25é"')
    expect(text('link')).toContain('; last-event-id="x \\"y\\\\ z%é"; ')
  })

  it('H29: answer 304 without a body to the current tag, also in a list and weak', async () => {
    const hub = await watching()
    await publish(hub, { topic: 'a', id: 'a, b' })
    const etag = (await list(hub)).headers.get('etag') ?? ''
    for (const field of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const response = await list(hub, PATH, subscriberToken(), { 'If-None-Match': field })
      expect([response.status, await response.text()]).toEqual([304, ''])
      expect(response.headers.get('etag')).toBe(etag)
    }
    for (const field of ['"x"', 'b', '']) {
      const response = await list(hub, PATH, subscriberToken(), { 'If-None-Match': field })
      expect(response.status).toBe(200)
    }
  })
})
