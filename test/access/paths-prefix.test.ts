import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { covers, isUnder, segmentsOf } from '../../src/access/paths-prefix.ts'
import { allowsPath, readPrefixClaims } from '../../src/access/paths-prefix-claims.ts'

/** A segment as a person would name a herd or a stream: anything that is not refused. */
const segment = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
  .filter((text) => !/[/\\\0]/.test(text) && text !== '.' && text !== '..')
const segments = fc.array(segment, { maxLength: 4 })
const encode = (parts: readonly string[]) => parts.map(encodeURIComponent).join('/')

describe('prefix matching', () => {
  it.each([
    ['hey', 'hey', true],
    ['hey', 'hey/A', true],
    ['hey', 'hey/A/B/C/1/2/3', true],
    ['hey', '/hey/A/', true],
    ['/hey/', 'hey//A', true],
    ['', 'anything/at/all', true],
    ['', '', true],
    ['/', 'x', true],
    ['hey', 'heyday', false],
    ['hey', 'HEY/A', false],
    ['hey', 'he', false],
    ['hey', '', false],
    ['hey/A', 'hey', false],
    ['hey', 'x/hey', false],
    ['team-a', 'team-ab/x', false],
    ['hey', 'hey/%41', true],
    ['hey/A', 'hey/%41', true],
    ['my herd', 'my%20herd/x', true],
    ['my%20herd', 'my%20herd/x', true],
    ['é', '%C3%A9/x', true],
  ])('prefix %j on path %j is %j', (prefix, path, expected) => {
    expect(isUnder('', [prefix], path)).toBe(expected)
  })

  it.each([
    'hey/../x',
    'hey/./x',
    'hey/..',
    '../hey',
    'hey/%2e%2e/x',
    'hey/%2E/x',
    'hey/.%2e/x',
    'hey%2FA',
    'hey/A%2fB',
    'hey/A%5CB',
    'hey\\A',
    'hey/%00',
    'hey/\0',
    'hey/%',
    'hey/%zz',
    'hey/%ff',
    'hey/%C3',
    'hey/%ED%A0%80',
  ])('path %j is refused, also for a bearer of the whole tree', (path) => {
    expect(segmentsOf(path)).toBeUndefined()
    expect(isUnder('', ['', 'hey'], path)).toBe(false)
  })

  it.each(['..', 'hey/../x', 'a%2Fb', '%', '%00'])('prefix entry %j opens nothing', (entry) => {
    expect(isUnder('', [entry], 'hey/x')).toBe(false)
    expect(isUnder('', [entry], entry)).toBe(false)
    expect(isUnder(entry, [''], 'hey/x')).toBe(false)
  })

  it('root is joined before every entry', () => {
    expect(isUnder('demo', ['a', 'b/c'], 'demo/a/x')).toBe(true)
    expect(isUnder('demo', ['a', 'b/c'], 'demo/b/c')).toBe(true)
    expect(isUnder('demo', ['a', 'b/c'], 'demo/b')).toBe(false)
    expect(isUnder('demo', ['a'], 'a/x')).toBe(false)
    expect(isUnder('demo', [''], 'demo')).toBe(true)
    expect(isUnder('demo', [''], 'demonic')).toBe(false)
    expect(isUnder('demo', [], 'demo')).toBe(false)
  })
})

describe('prefix matching, for all names', () => {
  it('a prefix opens itself and all that is below it, however the path is encoded', () => {
    fc.assert(
      fc.property(segments, segments, segments, (root, prefix, rest) => {
        const path = encode([...root, ...prefix, ...rest])
        return isUnder(encode(root), [encode(prefix)], path)
      }),
    )
  })

  it('what a prefix opens begins with it, segment by segment', () => {
    fc.assert(
      fc.property(segments, segments, (prefix, path) => {
        const below = prefix.every((name, at) => name === path[at])
        return isUnder('', [encode(prefix)], encode(path)) === below
      }),
    )
  })

  it('a longer last segment is another segment', () => {
    fc.assert(
      fc.property(segments, segment, segment, (root, name, more) => {
        return !isUnder(encode(root), [encode([name])], encode([...root, name + more]))
      }),
    )
  })

  it('root and entry may be cut anywhere', () => {
    fc.assert(
      fc.property(segments, segments, fc.nat(4), (prefix, path, at) => {
        const whole = isUnder('', [encode(prefix)], encode(path))
        const [root, entry] = [prefix.slice(0, at), prefix.slice(at)]
        return isUnder(encode(root), [encode(entry)], encode(path)) === whole
      }),
    )
  })

  it('slashes around and between segments count for nothing', () => {
    const slashes = fc.string({ unit: fc.constant('/'), maxLength: 3 })
    fc.assert(
      fc.property(segments, slashes, slashes, (path, before, between) => {
        const spelled = before + path.map(encodeURIComponent).join(`/${between}`) + before
        expect(segmentsOf(spelled)).toEqual(path)
      }),
    )
  })

  it('a dot segment anywhere is refused in every spelling', () => {
    const dots = fc.constantFrom('.', '..', '%2e', '%2E%2e', '.%2E', '%2e.')
    fc.assert(
      fc.property(segments, dots, segments, (before, dot, after) => {
        const path = [...before.map(encodeURIComponent), dot, ...after.map(encodeURIComponent)]
        return !isUnder('', [''], path.join('/'))
      }),
    )
  })

  it('covering is reflexive and transitive', () => {
    fc.assert(
      fc.property(segments, segments, segments, (a, b, c) => {
        const [ab, abc] = [
          [...a, ...b],
          [...a, ...b, ...c],
        ]
        return covers(a, a) && covers(a, ab) && covers(ab, abc) && covers(a, abc)
      }),
    )
  })

  it('no text makes the matcher throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (prefix, path) => {
        isUnder(prefix, [prefix], path)
      }),
    )
  })
})

describe('claims of a path-prefix token', () => {
  it('put and get may be a string or an array', () => {
    expect(readPrefixClaims({ root: '', put: 'a', get: ['b', 'c'] })).toEqual({
      root: '',
      put: ['a'],
      get: ['b', 'c'],
    })
  })

  it('one of put and get is enough, the other grants nothing', () => {
    expect(readPrefixClaims({ root: 'r', get: [] })).toEqual({ root: 'r', put: [], get: [] })
  })

  it('iat and exp are kept, foreign claims are not', () => {
    const claims = { root: '', put: [''], iat: 1, exp: 2.5, sub: 'x' }
    expect(readPrefixClaims(claims)).toEqual({ root: '', put: [''], get: [], iat: 1, exp: 2.5 })
  })

  it.each([
    null,
    undefined,
    'text',
    [],
    {},
    { root: '' },
    { put: ['a'] },
    { root: null, put: ['a'] },
    { root: 1, put: ['a'] },
    { root: '', put: null },
    { root: '', put: 5 },
    { root: '', put: [5] },
    { root: '', put: ['a', null] },
    { root: '', put: { 0: 'a' } },
    { root: '', put: ['a'], get: 7 },
    { root: '', put: ['a'], exp: '123' },
    { root: '', put: ['a'], exp: null },
    { root: '', put: ['a'], iat: 'x' },
  ])('claims %j are invalid', (claims) => {
    expect(readPrefixClaims(claims)).toBeUndefined()
  })

  it('put never implies get, nor the reverse', () => {
    const claims = { root: '', put: ['a'], get: ['b'] }
    expect(allowsPath(claims, 'put', 'a/x')).toBe(true)
    expect(allowsPath(claims, 'get', 'a/x')).toBe(false)
    expect(allowsPath(claims, 'get', 'b/x')).toBe(true)
    expect(allowsPath(claims, 'put', 'b/x')).toBe(false)
  })
})
