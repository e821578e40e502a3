/** What a number too large for a double looks like: an exponent of three digits, or hundreds of digits. */
const SUSPECT = /[:,[\s]-?[0-9][0-9.]*[eE]\+?[0-9]{3}|(?<![0-9])[0-9]{309}/

/**
 * Tells whether valid JSON text holds a number beyond the range of a double, such as `1e999`. The parser
 * makes it Infinity, which would be written out again as null: another value than the one that was sent.
 */
export function holdsHugeNumber(text: string): boolean {
  if (!SUSPECT.test(text)) return false
  let found = false
  JSON.parse(text, (_key, value: unknown) => {
    found ||= value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY
    return value
  })
  return found
}
