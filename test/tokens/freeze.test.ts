import { expect, it } from 'vitest'
import { decodeToken, deepFreeze } from '../../src/tokens/index.ts'
import { mint } from '../support/tokens.ts'

it('a frozen value cannot be changed at any depth', () => {
  const value = deepFreeze({ a: [{ b: { c: 1 } }], d: null, e: 'x' })
  expect(Object.isFrozen(value)).toBe(true)
  expect(Object.isFrozen(value.a)).toBe(true)
  expect(Object.isFrozen(value.a[0]?.b)).toBe(true)
})

it('nesting deeper than the stack is frozen too', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(16_000)}${']'.repeat(16_000)}`)
  expect(Object.isFrozen(deepFreeze(deep))).toBe(true)
})

it('a header, which tokens share, is frozen', () => {
  const token = mint({ header: { x: { y: [1] } } })
  const { header } = decodeToken(token)
  expect(decodeToken(mint({ header: { x: { y: [1] } } })).header).toBe(header)
  expect(() => Object.assign(header, { alg: 'none' })).toThrow(TypeError)
  expect(Object.isFrozen(header['x'])).toBe(true)
})
