import { describe, expect, it } from 'vitest'
import { compileMatcher, MatcherError } from '../../src/access/index.ts'

const BASE = 'https://hub.shop.example/.well-known/mercure'
const SHOP = 'https://shop.example'

/** The vetted outcomes of the hub protocol page, section 5.2: pattern, topic, whether it matches. */
const VETTED: readonly (readonly [pattern: string, topic: string, match: boolean])[] = [
  [`${SHOP}/books/:id`, `${SHOP}/books/1`, true],
  [`${SHOP}/books/:id`, `${SHOP}/books/1/`, false],
  [`${SHOP}/books/:id`, `${SHOP}/books/1?x=y#z`, true],
  [`${SHOP}/books/:id`, 'https://SHOP.example/books/1', true],
  [`${SHOP}/books/:id`, 'https://shop.example:443/books/1', true],
  [`${SHOP}/books/:id`, `${SHOP}/BOOKS/1`, false],
  [`${SHOP}/books/:id`, 'http://shop.example/books/1', false],
  [`${SHOP}/books/:id`, 'https://shop.example:8443/books/1', false],
  [`${SHOP}/books/:id`, `${SHOP}/books/a%2Fb`, true],
  [`${SHOP}/books/:id`, `${SHOP}/books/:id`, true],
  [`${SHOP}/books/:id`, 'https://shop.example\\books\\1', true],
  [`${SHOP}/books/:id`, `${SHOP}/x/../books/1`, true],
  [`${SHOP}/users/42/:resource`, `${SHOP}/users/42/messages/1`, false],
  [`${SHOP}/users/42/*`, `${SHOP}/users/42/messages/1`, true],
  [`${SHOP}/users/42/*`, `${SHOP}/users/42/`, true],
  [`${SHOP}/users/42/*`, `${SHOP}/users/42`, false],
  [`${SHOP}/rest/:rest*`, `${SHOP}/rest`, true],
  [`${SHOP}/rest/:rest*`, `${SHOP}/rest/a/b`, true],
  [`${SHOP}/feed/:kind(news|alerts)`, `${SHOP}/feed/news`, true],
  [`${SHOP}/feed/:kind(news|alerts)`, `${SHOP}/feed/other`, false],
  [`${SHOP}/items{/:tail}?`, `${SHOP}/items`, true],
  [`${SHOP}/items{/:tail}?`, `${SHOP}/items/x`, true],
  ['https://*.shop.example/*', 'https://a.shop.example/z', true],
  ['https://*.shop.example/*', `${SHOP}/z`, false],
  [SHOP, `${SHOP}/anything`, true],
  ['/books/:id', '/books/1', true],
  ['/books/:id', 'https://hub.shop.example/books/1', true],
  ['/books/:id', 'https://other.example/books/1', false],
  ['https://hub.shop.example/*', 'foo', true],
  ['https://hub.shop.example/*', 'any plain text', true],
  ['/.well-known/:x', 'foo', true],
  ['https://hub.shop.example/*', 'urn:uuid:1', false],
  [
    '/.well-known/mercure/subscriptions/:t/:m/:s',
    '/.well-known/mercure/subscriptions/urlpattern/https%3A%2F%2Fa%2F%3Aid/urn%3Auuid%3A1',
    true,
  ],
]

describe('URL pattern: the vetted outcomes of section 5.2', () => {
  it.each(VETTED)('%s on %s: %s', (pattern, topic, match) => {
    expect(compileMatcher({ type: 'urlpattern', pattern }, BASE).matches(topic)).toBe(match)
  })

  it('the text * under URL Pattern rules would miss https://a.example/b, so the wildcard comes first', () => {
    expect(new URLPattern('*', BASE).test('https://a.example/b', BASE)).toBe(false)
    const wildcard = compileMatcher({ type: 'urlpattern', pattern: '*' }, BASE)
    expect(wildcard.matches('https://a.example/b')).toBe(true)
  })

  it.each([
    ['/:a../..', '/x../', false],
    ['urn\\:/a{a(b+)}', 'urn:/aabb', true],
    ['https://:sub.shop.example{a:s}', 'https://x.shop.exampleab/', true],
    ['https://shop.example{:8080}?/x', 'https://shop.example/x', false],
    ['https://[::1]:*/x', 'https://[::1]:8443/x', false],
  ])(
    '%s, on which Node’s own URLPattern ends the process or refuses, is answered',
    (pattern, topic, match) => {
      let answer = false
      try {
        answer = compileMatcher({ type: 'urlpattern', pattern }, BASE).matches(topic)
      } catch (error) {
        expect(error).toBeInstanceOf(MatcherError)
      }
      expect(answer).toBe(match)
    },
  )

  it.each([
    ['https://sh%6Fp.example/*', `${SHOP}/x`],
    ['https://%73hop.example/*', `${SHOP}/x`],
    ['https://shop%2eexample/*', `${SHOP}/x`],
    ['https://b%C3%BCcher.example/*', 'https://bücher.example/x'],
  ])('%s: a host is percent-decoded in the pattern as in a topic', (pattern, topic) => {
    const matcher = compileMatcher({ type: 'urlpattern', pattern }, BASE)
    expect(matcher.matches(topic)).toBe(new URLPattern(pattern, BASE).test(topic, BASE))
    expect(matcher.matches(topic)).toBe(true)
  })

  it('a topic that does not parse as a URL matches no URL pattern', () => {
    const open = compileMatcher({ type: 'urlpattern', pattern: 'https://*/*' }, BASE)
    expect(open.matches('http://[bad')).toBe(false)
  })
})

describe('URL pattern: refused when it arrives', () => {
  it.each([
    '{unclosed',
    '/(unclosed',
    'https://shop.example/[(',
    'https://[',
    'foo://[',
    'https://shop%zz.example/',
    'https://shop%2fexample/',
    'https://shop%00example/',
    'https://shop%25example/',
    '/:a((?=b)b)',
    '/:a((?!b)c)',
    '/:a((?<=b)c)',
    '/:a((?<!b)c)',
    '/((?<n>a)\\k<n>)',
    '/:a((?i:b))',
    '/:a([\\q{ab|c}])',
    '/:a/:a',
    '/(é)',
  ])('%s is malformed', (pattern) => {
    expect(() => compileMatcher({ type: 'urlpattern', pattern }, BASE)).toThrow(MatcherError)
    try {
      compileMatcher({ type: 'urlpattern', pattern }, BASE)
    } catch (error) {
      expect(error).toMatchObject({ code: 'malformed_pattern', message: 'malformed_pattern' })
    }
  })

  it.each([
    ['nested repetition', '/:a((?:(?:(?:x{1000}){1000}){1000}))'],
    ['a large count', '/:a(x{100000})'],
    ['thousands of groups', `/${'*/'.repeat(2000)}`],
    ['deeply nested groups', `/(${'(?:'.repeat(1000)}a${')'.repeat(1000)})`],
  ])('%s is too complex, not slow', (_, pattern) => {
    expect(() => compileMatcher({ type: 'urlpattern', pattern }, BASE)).toThrow(MatcherError)
  })
})

describe('exact: byte for byte', () => {
  it.each([
    ['https://shop.example/a', 'https://SHOP.example/a'],
    ['https://shop.example/a', 'https://shop.example/a/'],
    ['https://shop.example/{id}', 'https://shop.example/1'],
    ['https://shop.example/:id', 'https://shop.example/1'],
    ['https://shop.example/*', 'https://shop.example/1'],
    ['/orders/17', 'https://hub.shop.example/orders/17'],
    ['https://hub.shop.example/orders/17', '/orders/17'],
    ['é', 'e\u0301'],
  ])('%s is not %s', (pattern, topic) => {
    expect(compileMatcher({ type: 'exact', pattern }, BASE).matches(topic)).toBe(false)
    expect(compileMatcher({ type: 'exact', pattern }, BASE).matches(pattern)).toBe(true)
  })

  it('names of object members are ordinary patterns', () => {
    for (const pattern of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const matcher = compileMatcher({ type: 'exact', pattern }, BASE)
      expect(matcher.matches(pattern)).toBe(true)
      expect(matcher.matches('other')).toBe(false)
    }
  })

  it('the empty pattern of a request matches no topic that can be published', () => {
    expect(compileMatcher({ type: 'exact', pattern: '' }, BASE).matches('a')).toBe(false)
  })
})

describe('matcher limits', () => {
  it('a pattern of 4096 bytes is fine, of 4097 too long, counted in UTF-8', () => {
    const fits = `é${'a'.repeat(4094)}`
    expect(compileMatcher({ type: 'exact', pattern: fits }, BASE).matches(fits)).toBe(true)
    expect(() => compileMatcher({ type: 'exact', pattern: `${fits}a` }, BASE)).toThrow('too_long')
  })

  it.each(['exact', 'urlpattern'] as const)('%s refuses forbidden characters', (type) => {
    for (const bad of ['\0', '\n', '\u007f', '\u0085', '\u200b', '\ud800']) {
      expect(() => compileMatcher({ type, pattern: `a${bad}b` }, BASE)).toThrow(
        'forbidden_character',
      )
    }
  })

  it.each(['exact', 'urlpattern'] as const)('* as %s matches every topic', (type) => {
    const wildcard = compileMatcher({ type, pattern: '*' }, BASE)
    for (const topic of ['urn:uuid:1', 'a plain string', 'https://a.example/b', 'http://[bad']) {
      expect(wildcard.matches(topic)).toBe(true)
    }
  })
})
