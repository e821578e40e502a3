import { describe, expect, it } from 'vitest'
import {
  createTopicMatchers,
  type Grants,
  MatchCache,
  NO_GRANTS,
  readAuthorizationDetails,
} from '../../src/access/index.ts'

const TYPE = 'https://mercure.rocks/authorization-detail'
const SHOP = 'https://shop.example'
const matchers = createTopicMatchers(
  'https://hub.shop.example/.well-known/mercure',
  new MatchCache(1000),
)

interface Row {
  readonly actions: readonly string[]
  readonly exact?: string
  readonly pattern?: string
  readonly payload?: unknown
}

function grants(...rows: readonly Row[]): Grants {
  const claim = rows.map(({ actions, exact, pattern, ...rest }) => ({
    type: TYPE,
    actions,
    topics: [exact === undefined ? { match: pattern, match_type: 'urlpattern' } : { match: exact }],
    ...rest,
  }))
  return readAuthorizationDetails(claim, matchers)
}

const subscribe = ['subscribe']
const publish = ['publish']

describe('granting (section 7)', () => {
  it('an action is granted if one detail lists it and matches the topic', () => {
    const both = grants(
      { actions: publish, exact: `${SHOP}/a` },
      { actions: subscribe, pattern: `${SHOP}/:x` },
    )
    expect(both.allows('publish', `${SHOP}/a`)).toBe(true)
    expect(both.allows('publish', `${SHOP}/b`)).toBe(false)
    expect(both.allows('subscribe', `${SHOP}/b`)).toBe(true)
    expect(both.allows('subscribe', `${SHOP}/b/c`)).toBe(false)
  })

  it('action and topic of two details are never combined', () => {
    const split = grants({ actions: publish, exact: 'a' }, { actions: subscribe, exact: 'b' })
    expect(split.allows('publish', 'b')).toBe(false)
    expect(split.allows('subscribe', 'a')).toBe(false)
  })

  it('publishing needs every topic, canonical and alternate', () => {
    const one = grants({ actions: publish, pattern: `${SHOP}/books/:id` })
    expect(one.allowsEvery('publish', [`${SHOP}/books/1`])).toBe(true)
    expect(one.allowsEvery('publish', [`${SHOP}/books/1`, `${SHOP}/users/42/books/1`])).toBe(false)
    expect(one.allowsEvery('publish', [`${SHOP}/users/42/books/1`, `${SHOP}/books/1`])).toBe(false)
    expect(one.allowsEvery('publish', [])).toBe(false)
  })

  it('receiving a private update needs any of its topics', () => {
    const own = grants({ actions: subscribe, pattern: `${SHOP}/people/42/*` })
    expect(own.allowsAny('subscribe', [`${SHOP}/books/1`, `${SHOP}/people/42/books/1`])).toBe(true)
    expect(own.allowsAny('subscribe', [`${SHOP}/books/1`, `${SHOP}/people/99/books/1`])).toBe(false)
    expect(own.allowsAny('subscribe', [])).toBe(false)
  })

  it('the seed’s per-user grant :resource does not cover a deeper topic (section 26)', () => {
    const seed = grants({ actions: subscribe, pattern: 'https://example.com/users/42/:resource' })
    expect(seed.allows('subscribe', 'https://example.com/users/42/messages/1')).toBe(false)
    expect(seed.allows('subscribe', 'https://example.com/users/42/messages')).toBe(true)
  })

  it('no grants allow nothing', () => {
    expect(NO_GRANTS.allows('publish', '*')).toBe(false)
    expect(NO_GRANTS.allowsAny('subscribe', ['a'])).toBe(false)
    expect(NO_GRANTS.payloadFor('a')).toBeUndefined()
  })
})

describe('which payload (section 15.4)', () => {
  it('the first subscribe detail that matches the pattern, taken as a topic, decides', () => {
    const two = grants(
      { actions: subscribe, exact: `${SHOP}/books/1`, payload: 'first' },
      { actions: subscribe, pattern: `${SHOP}/books/:id`, payload: 'second' },
      { actions: subscribe, exact: '*', payload: 'default' },
    )
    expect(two.payloadFor(`${SHOP}/books/1`)).toBe('first')
    expect(two.payloadFor(`${SHOP}/books/7`)).toBe('second')
    expect(two.payloadFor(`${SHOP}/books/:id`)).toBe('second')
    expect(two.payloadFor('urn:x')).toBe('default')
    expect(two.payloadFor('*')).toBe('default')
  })

  it('the first match wins also when it has no payload', () => {
    const none = grants(
      { actions: subscribe, exact: 'a' },
      { actions: subscribe, exact: '*', payload: 'default' },
    )
    expect(none.payloadFor('a')).toBeUndefined()
    expect(none.payloadFor('b')).toBe('default')
  })

  it.each([false, 0, '', [], {}])('%j is a payload', (payload) => {
    expect(grants({ actions: subscribe, exact: 'a', payload }).payloadFor('a')).toEqual(payload)
  })

  it('null is none, and ends the search', () => {
    const row = { actions: subscribe, exact: 'a' }
    const nulled = grants({ ...row, payload: null }, { ...row, payload: 'later' })
    expect(nulled.payloadFor('a')).toBeUndefined()
  })

  it('the payload of a publish-only detail is ignored', () => {
    const mixed = grants(
      { actions: publish, exact: 'a', payload: 'publisher' },
      { actions: ['publish', 'subscribe'], exact: 'a', payload: 'both' },
    )
    expect(mixed.payloadFor('a')).toBe('both')
  })
})
