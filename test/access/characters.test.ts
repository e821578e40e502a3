import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPermittedText } from '../../src/access/index.ts'

describe('permitted characters (section 4.1, H3, H4, H5)', () => {
  it.each([
    ['NUL', '\0'],
    ['TAB', '\t'],
    ['LF', '\n'],
    ['CR', '\r'],
    ['U+001F', '\u001f'],
    ['DEL', '\u007f'],
    ['U+0080', '\u0080'],
    ['NEL', '\u0085'],
    ['U+009F', '\u009f'],
    ['soft hyphen', '\u00ad'],
    ['Arabic number sign', '\u0600'],
    ['zero width space', '\u200b'],
    ['zero width joiner', '\u200d'],
    ['right-to-left override', '\u202e'],
    ['word joiner', '\u2060'],
    ['byte order mark', '\ufeff'],
    ['language tag (beyond the first plane)', '\u{e0001}'],
    ['a lone surrogate, which has no UTF-8 form', '\ud800'],
  ])('%s is refused anywhere in a text', (_, char) => {
    for (const text of [char, `a${char}`, `${char}a`, `a${char}b`]) {
      expect(isPermittedText(text)).toBe(false)
    }
  })

  it.each([
    ['a joined emoji', '👨\u200d👩', false],
    ['an emoji', '👩', true],
    ['Hebrew', 'שלום', true],
    ['Arabic', 'سلام', true],
    ['no-break space', 'a\u00a0b', true],
    ['line separator', 'a\u2028b', true],
    ['variation selector', '❤\ufe0f', true],
    ['empty', '', true],
    ['space', ' ', true],
    ['replacement character', '\ufffd', true],
  ])('%s: %s is %s', (_, text, permitted) => {
    expect(isPermittedText(text)).toBe(permitted)
  })

  it('agrees with the definition for every code point', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0x10ffff }), (code) => {
        const char = String.fromCodePoint(code)
        const isControl = code <= 0x1f || (code >= 0x7f && code <= 0x9f)
        const isSurrogate = code >= 0xd800 && code <= 0xdfff
        const expected = !isControl && !isSurrogate && !/\p{Cf}/u.test(char)
        expect(isPermittedText(char)).toBe(expected)
      }),
      { examples: [[0x1f], [0x20], [0x7e], [0x7f], [0x9f], [0xa0], [0xad], [0xd800], [0xdfff]] },
    )
  })
})
