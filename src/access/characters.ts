/**
 * What the Mercure protocol never allows in a topic, an id, a type or a matcher: C0 and C1 control
 * characters and DEL (category Cc), and every character of category Cf (zero-width and direction marks).
 */
const FORBIDDEN = /[\p{Cc}\p{Cf}]/u

/**
 * Tells whether a text may be a topic, an id, a type or a matcher (protocol, "permitted characters").
 * A lone surrogate has no UTF-8 form, so it is refused too. Bytes are checked where they are decoded.
 */
export function isPermittedText(text: string): boolean {
  return text.isWellFormed() && !FORBIDDEN.test(text)
}
