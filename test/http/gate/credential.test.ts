import fc from 'fast-check'
import { expect, it } from 'vitest'
import { credentialOf, tokenOf } from '../../../src/http/gate/credential.ts'

it('the token is the value without blanks around it and without a leading Bearer in any letter case', () => {
  const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\u00a0', '\v'), maxLength: 3 })
  const words = fc.constantFrom('Bearer', 'bearer', 'BEARER', 'Bear', 'Basic', '')
  const rest = fc.oneof(blanks, fc.string({ maxLength: 20 }))
  fc.assert(
    fc.property(blanks, words, blanks, rest, (before, word, between, after) => {
      const value = before + word + between + after
      const found = credentialOf(['Host', 'x', 'aUTHORIZATION', value])
      expect(found).toBe(value.trim() === '' ? undefined : value)
      const wanted = value.trim().replace(/^bearer[ \t]+/i, '')
      expect(found === undefined ? '' : tokenOf(found)).toBe(wanted)
    }),
    { numRuns: 2000 },
  )
})
