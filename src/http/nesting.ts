const QUOTE = 0x22
const BACKSLASH = 0x5c

/** How one character of JSON outside a string changes the depth. */
const STEP = new Map<number, 1 | -1>([
  [0x5b, 1],
  [0x7b, 1],
  [0x5d, -1],
  [0x7d, -1],
])

/** Where a string ends that was opened before `from`: the place of its closing quote, or the end of the text. */
function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === BACKSLASH) at++
    else if (character === QUOTE) return at
  }
  return text.length
}

/**
 * Tells whether JSON text opens more than `limit` levels of arrays and objects. Runs before the parser, in one
 * pass without recursion: a deep value would overflow the stack wherever it is written out again.
 */
export function nestsDeeperThan(text: string, limit: number): boolean {
  // Each level costs an opening and a closing character.
  if (text.length < 2 * limit) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = endOfString(text, at + 1)
    else {
      depth += STEP.get(character) ?? 0
      if (depth > limit) return true
    }
  }
  return false
}
