import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createTopicMatchers,
  DetailsError,
  type Grants,
  MatchCache,
  readAuthorizationDetails,
} from '../../src/access/index.ts'

const TYPE = 'https://mercure.rocks/authorization-detail'
const BASE = 'https://hub.shop.example/.well-known/mercure'
const matchers = createTopicMatchers(BASE, new MatchCache(1000))
const GOOD_TOPICS = [{ match: 'https://shop.example/a' }]

function read(claim: unknown): Grants {
  // What a token carries went through JSON once.
  const parsed: unknown = claim === undefined ? undefined : JSON.parse(JSON.stringify(claim))
  return readAuthorizationDetails(parsed, matchers)
}

function mercure(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { type: TYPE, actions: ['publish'], topics: GOOD_TOPICS, ...members }
}

function topics(...entries: unknown[]): unknown[] {
  return [mercure({ topics: entries })]
}

describe('authorization_details: valid and granting nothing (section 7)', () => {
  it.each([
    ['missing', undefined],
    ['null', null],
    ['[]', []],
    ['a foreign detail with topics as a string', [{ type: 'other', topics: 'x', actions: {} }]],
    ['a foreign type that differs by a slash', [{ type: `${TYPE}/`, topics: [] }]],
    ['a foreign type that differs by case', [{ type: TYPE.toUpperCase(), actions: 5 }]],
    ['the empty type', [{ type: '' }]],
    ['only unknown actions', [mercure({ actions: ['delete', ''] })]],
    ['150 foreign details', Array.from({ length: 150 }, () => ({ type: 'other' }))],
  ])('%s', (_, claim) => {
    const grants = read(claim)
    for (const action of ['publish', 'subscribe'] as const) {
      expect(grants.allows(action, 'https://shop.example/a')).toBe(false)
      expect(grants.allowsEvery(action, [])).toBe(false)
    }
  })
})

describe('authorization_details: one bad Mercure detail makes the token invalid (section 7, checklist 17, checklist 18, A06)', () => {
  it.each([
    ['an object instead of an array', mercure({}), 'not_an_array'],
    ['a JSON-encoded string', JSON.stringify([mercure({})]), 'not_an_array'],
    ['a number', 5, 'not_an_array'],
    ['false', false, 'not_an_array'],
    ['an entry that is a string', ['x'], 'entry_not_an_object'],
    ['an entry that is null', [null], 'entry_not_an_object'],
    ['an entry that is an array', [[]], 'entry_not_an_object'],
    ['an entry without type', [{ actions: ['publish'] }], 'type_not_a_string'],
    ['a type that is no string', [{ type: 5 }], 'type_not_a_string'],
    ['actions missing', [{ type: TYPE, topics: GOOD_TOPICS }], 'actions_invalid'],
    ['actions null', [mercure({ actions: null })], 'actions_invalid'],
    ['actions a string', [mercure({ actions: 'publish' })], 'actions_invalid'],
    ['actions empty', [mercure({ actions: [] })], 'actions_invalid'],
    ['actions with a non-string', [mercure({ actions: ['publish', 1] })], 'actions_invalid'],
    ['topics missing', [{ type: TYPE, actions: ['publish'] }], 'topics_invalid'],
    ['topics null', [mercure({ topics: null })], 'topics_invalid'],
    ['topics an object', [mercure({ topics: { match: 'a' } })], 'topics_invalid'],
    ['topics empty', [mercure({ topics: [] })], 'topics_invalid'],
    ['a bare string topic', topics('https://shop.example/a'), 'topic_not_an_object'],
    ['a null topic', topics(null), 'topic_not_an_object'],
    ['a number topic', topics(1), 'topic_not_an_object'],
    ['an array topic', topics(['a']), 'topic_not_an_object'],
    ['a topic without match', topics({ match_type: 'exact' }), 'match_invalid'],
    ['match null', topics({ match: null }), 'match_invalid'],
    ['match a number', topics({ match: 1 }), 'match_invalid'],
    ['match empty', topics({ match: '' }), 'match_invalid'],
    ['match of 4097 bytes', topics({ match: 'a'.repeat(4097) }), 'match_invalid'],
    ['match with NUL', topics({ match: 'a\0b' }), 'match_invalid'],
    ['match with LF', topics({ match: 'a\nb' }), 'match_invalid'],
    ['match with a zero width space', topics({ match: 'a\u200bb' }), 'match_invalid'],
    ['match with a lone surrogate', topics({ match: 'a\ud800' }), 'match_invalid'],
    ['match_type null', topics({ match: 'a', match_type: null }), 'match_type_invalid'],
    ['match_type a number', topics({ match: 'a', match_type: 1 }), 'match_type_invalid'],
    ['match_type Exact', topics({ match: 'a', match_type: 'Exact' }), 'match_type_invalid'],
    [
      'match_type URLPattern',
      topics({ match: 'a', match_type: 'URLPattern' }),
      'match_type_invalid',
    ],
    ['match_type regexp', topics({ match: 'a', match_type: 'regexp' }), 'match_type_invalid'],
    ['match_type empty', topics({ match: 'a', match_type: '' }), 'match_type_invalid'],
    [
      'match_type regexp beside *',
      topics({ match: '*', match_type: 'regexp' }),
      'match_type_invalid',
    ],
    [
      'a pattern that does not compile',
      topics({ match: '/(x', match_type: 'urlpattern' }),
      'match_invalid',
    ],
    ['101 details', Array.from({ length: 101 }, () => mercure({})), 'too_many_details'],
    [
      '101 topics',
      topics(...Array.from({ length: 101 }, () => ({ match: 'a' }))),
      'too_many_topics',
    ],
    [
      'two details of 51 topics (H9)',
      [0, 1].map(() => mercure({ topics: Array.from({ length: 51 }, () => ({ match: 'a' })) })),
      'too_many_topics',
    ],
  ])('%s', (_, claim, code) => {
    expect(() => read(claim)).toThrow(DetailsError)
    try {
      read(claim)
    } catch (error) {
      expect(error).toMatchObject({ code })
    }
  })

  it('a good publish detail does not save a bad subscribe detail', () => {
    const bad = mercure({ actions: ['subscribe'], topics: [] })
    expect(() => read([mercure({}), bad])).toThrow(DetailsError)
    expect(() => read([bad, mercure({})])).toThrow(DetailsError)
  })

  it('limits are checked before any pattern of the excess is compiled (H10)', () => {
    let compiled = 0
    const counting = {
      baseUrl: BASE,
      compile: (matcher: Parameters<typeof matchers.compile>[0]) => {
        compiled += 1
        return matchers.compile(matcher)
      },
    }
    const claim = [
      mercure({}),
      mercure({ topics: Array.from({ length: 100 }, () => ({ match: 'a' })) }),
    ]
    expect(() => readAuthorizationDetails(claim, counting)).toThrow('too_many_topics')
    expect(compiled).toBe(0)
  })

  it('never throws anything but a DetailsError, whatever the claim holds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (claim, actions, entries) => {
        for (const value of [
          claim,
          [mercure({ actions })],
          [mercure({ topics: entries })],
          [mercure({ topics: [entries] })],
        ]) {
          try {
            readAuthorizationDetails(value, matchers)
          } catch (error) {
            expect(error).toBeInstanceOf(DetailsError)
          }
        }
      }),
    )
  })
})

describe('authorization_details: fine (section 7)', () => {
  it.each([
    ['100 details', Array.from({ length: 100 }, () => mercure({}))],
    ['100 topics', topics(...GOOD_TOPICS, ...Array.from({ length: 99 }, () => ({ match: 'b' })))],
    [
      'unknown extra members',
      [mercure({ topics: [{ ...GOOD_TOPICS[0], more: 1 }], locations: 5 })],
    ],
    ['an unknown action beside a known one', [mercure({ actions: ['delete', 'publish'] })]],
    ['match_type exact', topics({ match: 'https://shop.example/a', match_type: 'exact' })],
    [
      'match_type urlpattern',
      topics({ match: 'https://shop.example/:x', match_type: 'urlpattern' }),
    ],
    ['the wildcard', topics({ match: '*' })],
    ['the wildcard as urlpattern', topics({ match: '*', match_type: 'urlpattern' })],
    ['any payload', [mercure({ payload: [{ a: null }] })]],
  ])('%s', (_, claim) => {
    expect(read(claim).allows('publish', 'https://shop.example/a')).toBe(true)
    expect(read(claim).allows('subscribe', 'https://shop.example/a')).toBe(false)
  })

  it('members named like inherited ones are not members', () => {
    const poisoned = `[{"type":"${TYPE}","__proto__":{"actions":["publish"],"topics":[{"match":"*"}]}}]`
    expect(() => readAuthorizationDetails(JSON.parse(poisoned), matchers)).toThrow(DetailsError)
    const grants = read(topics({ match: '__proto__' }, { match: 'constructor' }))
    expect(grants.allows('publish', '__proto__')).toBe(true)
    expect(grants.allows('publish', 'toString')).toBe(false)
  })
})
