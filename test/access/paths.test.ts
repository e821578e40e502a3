import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNormalPath, normalPath, pathOf } from '../../src/access/index.ts'

describe('the path of a request target', () => {
  it.each([
    ['/a/b', '/a/b'],
    ['/a?x=/c', '/a'],
    ['/a#/b', '/a'],
    ['/a?x#y', '/a'],
    ['http://host/a?x', '/a'],
    ['HTTPS://user@host:1/a', '/a'],
    ['http://host', '/'],
    ['http://host?x', '/'],
    ['//host/a', '//host/a'],
    ['?x', '/'],
    ['*', '*'],
  ])('of %j is %j', (target, path) => {
    expect(pathOf(target)).toBe(path)
  })
})

describe('the normal form of a path', () => {
  it.each([
    ['/api//v1', '/api/v1'],
    ['//api', '/api'],
    ['/a/./b', '/a/b'],
    ['/a/.', '/a/'],
    ['/a/..', '/'],
    ['/a/b/..', '/a/'],
    ['/a/../b', '/b'],
    ['/../../a', '/a'],
    ['/a%2Fb', '/a/b'],
    ['/a%2fb', '/a/b'],
    ['/a%5Cb', '/a/b'],
    ['/a\\b', '/a/b'],
    ['/%61%50%69', '/aPi'],
    ['/a%2E%2e/b', '/a../b'],
    ['/a/%2e%2E/b', '/b'],
    ['/a%2D%5F%7e', '/a-_~'],
    ['/a/..%2fb', '/b'],
    ['/a%2F', '/a/'],
    ['/a%20b', '/a b'],
    ['/%C3%BC', '/ü'],
    ['/%c3%bc/..%2f%40', '/@'],
    ['/a%3Ab%2Bc', '/a:b+c'],
    ['/%61%FF%2F%C3%BC', '/a%FF/%C3%BC'],
    ['/%00', '/\0'],
  ])('of %j is %j', (path, normal) => {
    expect(isNormalPath(path)).toBe(false)
    expect(normalPath(path)).toBe(normal)
  })

  it.each([
    '/',
    '/a',
    '/a/',
    '/a.b/.c/..d/...',
    '/a b',
    '/ü',
    '/%C3',
    '/a%252Fb',
    '/a%',
    '/%zz',
    '/a:b+c',
    '/~x_-',
  ])('%j is its own', (path) => {
    expect(isNormalPath(path)).toBe(true)
    expect(normalPath(path)).toBe(path)
  })

  it('is reached in one step, and every path is normal or has another normal form', () => {
    const piece = fc.constantFrom(
      'a',
      '/',
      '.',
      '..',
      '%2f',
      '%5C',
      '\\',
      '%2e',
      '%61',
      '%25',
      '%40',
      '%C3',
      '%BC',
      'Z',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const path = `/${pieces.join('')}`
        const normal = normalPath(path)
        expect(normal).toMatch(/^\//)
        expect(isNormalPath(path)).toBe(normal === path)
        expect(normal).not.toMatch(/\/\/|\/\.{1,2}(\/|$)|\\/)
      }),
      { numRuns: 2000 },
    )
  })
})
