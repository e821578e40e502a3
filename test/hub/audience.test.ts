import { describe, expect, it } from 'vitest'
import { SUBSCRIBER_KEY } from '../support/hub/config.ts'
import { publish, type RunningHub, startHub } from '../support/hub/hub.ts'
import { subscribe } from '../support/hub/stream.ts'
import { accessToken, detail, pattern, subscriberToken } from '../support/hub/tokens.ts'

const BOOK = 'https://shop.example/books/1'
const OWN = 'https://shop.example/people/42/books/1'

/** Whether a subscriber gets a private update, and then a public one on a topic it selects too. */
async function receives(
  hub: RunningHub,
  query: string,
  token: string | undefined,
): Promise<boolean> {
  const stream = await subscribe(hub, `${query}&match=end`, token === undefined ? {} : { token })
  await publish(hub, { topic: [BOOK, OWN], private: 'on', id: 'private' })
  await publish(hub, { topic: 'end', id: 'end' })
  const { id } = await stream.next()
  stream.close()
  return id === 'private'
}

describe('row 43: who gets a private update', () => {
  const books = `match_urlpattern=${encodeURIComponent('https://shop.example/books/:id')}`
  it.each([
    [books, subscriberToken([pattern('https://shop.example/people/42/*')]), true],
    [`match=${BOOK}`, subscriberToken([BOOK]), true],
    ['match=https://shop.example/books/2', subscriberToken(['*']), false],
    [books, subscriberToken([pattern('https://shop.example/people/99/*')]), false],
    [`match=${BOOK}`, subscriberToken([]), false],
    [`match=${BOOK}`, undefined, false],
    [`match=${OWN}`, subscriberToken([BOOK]), true],
    [`match=${BOOK}`, subscriberToken(['*']), true],
    [books, subscriberToken([pattern('https://shop.example/people/42/:resource')]), false],
    ['match=*', subscriberToken([OWN]), true],
    [`match=${BOOK}`, accessToken([detail('publish', ['*'])], { key: SUBSCRIBER_KEY }), false],
  ])('%s: case %#', async (query, token, gets) => {
    const hub = await startHub({ settings: { anonymous: true } })
    expect(await receives(hub, query, token)).toBe(gets)
  })

  it('a public update goes to everyone who asked, whatever the token says', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    const streams = [
      await subscribe(hub, `match=${BOOK}`),
      await subscribe(hub, `match=${BOOK}`, { token: subscriberToken([]) }),
      await subscribe(hub, `match=${BOOK}`, { token: subscriberToken(['elsewhere']) }),
    ]
    await publish(hub, { topic: [OWN, BOOK], id: 'public' })
    for (const stream of streams) expect((await stream.next()).id).toBe('public')
  })

  it('the named group of a grant stops at a slash: …/42/:resource does not cover …/42/messages/1', async () => {
    const hub = await startHub()
    const topic = 'https://shop.example/users/42/messages/1'
    const narrow = subscriberToken([pattern('https://shop.example/users/42/:resource')])
    const wide = subscriberToken([pattern('https://shop.example/users/42/*')])
    const [without, withIt] = [
      await subscribe(hub, `match=${topic}`, { token: narrow }),
      await subscribe(hub, `match=${topic}`, { token: wide }),
    ]
    await publish(hub, { topic, private: 'on', id: 'private' })
    await publish(hub, { topic, id: 'public' })
    expect((await withIt.next()).id).toBe('private')
    expect((await without.next()).id).toBe('public')
  })
})

describe('row 28: URL patterns through the hub', () => {
  const table: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    [
      'https://shop.example/books/:id',
      [
        'https://shop.example/books/1',
        'https://shop.example/books/1?x=y#z',
        'https://SHOP.example/books/1',
        'https://shop.example:443/books/1',
        'https://shop.example/books/a%2Fb',
        'https://shop.example/books/:id',
        'https://shop.example\\books\\1',
        'https://shop.example/x/../books/1',
      ],
      [
        'https://shop.example/books/1/',
        'https://shop.example/BOOKS/1',
        'http://shop.example/books/1',
        'https://shop.example:8443/books/1',
      ],
    ],
    [
      'https://shop.example/users/42/*',
      ['https://shop.example/users/42/messages/1', 'https://shop.example/users/42/'],
      ['https://shop.example/users/42'],
    ],
    [
      'https://shop.example/rest/:rest*',
      ['https://shop.example/rest', 'https://shop.example/rest/a/b'],
      [],
    ],
    [
      'https://shop.example/feed/:kind(news|alerts)',
      ['https://shop.example/feed/news'],
      ['https://shop.example/feed/other'],
    ],
    [
      'https://shop.example/items{/:tail}?',
      ['https://shop.example/items', 'https://shop.example/items/x'],
      [],
    ],
    ['https://*.shop.example/*', ['https://a.shop.example/z'], ['https://shop.example/z']],
    ['https://shop.example', ['https://shop.example/anything'], []],
    [
      '/books/:id',
      ['/books/1', 'https://hub.shop.example/books/1'],
      ['https://other.example/books/1'],
    ],
    ['https://hub.shop.example/*', ['foo', 'any plain text'], ['urn:uuid:1']],
    ['/.well-known/:x', ['foo'], []],
  ]
  it.each(table)('%s', async (text, matching, others) => {
    const hub = await startHub({ settings: { anonymous: true } })
    const stream = await subscribe(hub, `match_urlpattern=${encodeURIComponent(text)}&match=end`)
    for (const topic of others) await publish(hub, { topic, data: topic })
    for (const topic of matching) await publish(hub, { topic, data: topic })
    await publish(hub, { topic: 'end', data: 'end' })
    const data = (await stream.take(matching.length + 1)).map((event) => event.data)
    expect(data).toEqual([...matching, 'end'])
  })
})

describe('row 31: bounded evaluation', () => {
  it('H11: a hostile pattern and a long topic hold up neither publisher nor other subscribers', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    const hostile = encodeURIComponent('https://shop.example/:a((?:a|a)*b)')
    const attacker = await fetch(`${hub.url}?match_urlpattern=${hostile}`)
    expect([200, 400]).toContain(attacker.status)
    const topic = `https://shop.example/${'a'.repeat(10_000)}c`
    const startedMs = performance.now()
    expect((await publish(hub, { topic })).status).toBe(200)
    const other = await subscribe(hub, 'match=x')
    await publish(hub, { topic: 'x', id: 'x' })
    expect((await other.next()).id).toBe('x')
    // A backtracking engine would be at it for longer than anyone can wait.
    expect(performance.now() - startedMs).toBeLessThan(10_000)
    await attacker.body?.cancel()
  })
})

describe('the index of subscribers gives what a look at everybody would', () => {
  it('while subscribers with shared and changing patterns come and go', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    const patternOf = (at: number) => `match_urlpattern=/p/${at % 3}/:x`
    const first = await subscribe(hub, `${patternOf(0)}&match=end`)
    await publish(hub, { topic: '/p/0/a', id: '1' })
    await publish(hub, { topic: '/p/1/a', id: 'nobody' })
    const second = await subscribe(hub, `${patternOf(1)}&match=end`)
    const twin = await subscribe(hub, `${patternOf(1)}&match=end`)
    await publish(hub, { topic: '/p/1/a', id: '2' })
    first.close()
    twin.close()
    await first.ended
    const third = await subscribe(hub, `${patternOf(0)}&match=end`)
    await publish(hub, { topic: '/p/0/a', id: '3' })
    await publish(hub, { topic: ['/p/1/a', '/p/0/a'], id: '4' })
    await publish(hub, { topic: 'end', id: 'end' })
    expect((await first.next()).id).toBe('1')
    expect((await second.take(3)).map(({ id }) => id)).toEqual(['2', '4', 'end'])
    expect((await third.take(3)).map(({ id }) => id)).toEqual(['3', '4', 'end'])
  })
})
