/** URL Pattern standard, "token type". */
export type TokenKind =
  | 'char'
  | 'escaped'
  | 'name'
  | 'regexp'
  | 'open'
  | 'close'
  | 'asterisk'
  | 'modifier'
  | 'invalid'
  | 'end'

/** A piece of pattern text: what it says (`text`, without its sign) and where it stands (`at`, `end`). */
export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly at: number
  readonly end: number
}

const SIGNS: ReadonlyMap<string, TokenKind> = new Map([
  ['*', 'asterisk'],
  ['+', 'modifier'],
  ['?', 'modifier'],
  ['{', 'open'],
  ['}', 'close'],
])

const NAME = /:([\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)/uy
/** A group's text holds ASCII only. */
const ASCII = /^\p{ASCII}*$/u

/** The index behind the parenthesis that closes the one at `start`; `undefined` when the group is malformed. */
function groupEnd(text: string, start: number): number | undefined {
  // "(?" would be a JavaScript group of its own kind, and "()" an empty one.
  if (text[start + 1] === '?' || text[start + 1] === ')') return undefined
  let open = 1
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at]
    if (char === '\\') at += 1
    else if (char === ')') open -= 1
    else if (char === '(') {
      // Capturing groups inside a group are not allowed.
      if (text[at + 1] !== '?') return undefined
      open += 1
    }
    if (open === 0) return ASCII.test(text.slice(start, at)) ? at + 1 : undefined
  }
  return undefined
}

/** Reads the token at `at`; a sign that opens nothing is `invalid`. */
function tokenAt(text: string, at: number): Token {
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0)
  const invalid: Token = { kind: 'invalid', text: char, at, end: at + char.length }
  if (char === '\\') {
    const escaped = text.codePointAt(at + 1)
    if (escaped === undefined) return invalid
    const value = String.fromCodePoint(escaped)
    return { kind: 'escaped', text: value, at, end: at + 1 + value.length }
  }
  if (char === ':') {
    NAME.lastIndex = at
    const name = NAME.exec(text)?.[1]
    return name === undefined
      ? invalid
      : { kind: 'name', text: name, at, end: at + 1 + name.length }
  }
  if (char === '(') {
    const end = groupEnd(text, at)
    if (end === undefined) return invalid
    return { kind: 'regexp', text: text.slice(at + 1, end - 1), at, end }
  }
  return { ...invalid, kind: SIGNS.get(char) ?? 'char' }
}

/**
 * Cuts pattern text into tokens, ended by one of kind `end`; URL Pattern standard, "tokenize". Malformed
 * pieces become `invalid` tokens, which only the reader of a whole component has to refuse.
 */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const token = tokenAt(text, at)
    tokens.push(token)
    at = token.end
  }
  tokens.push({ kind: 'end', text: '', at, end: at })
  return tokens
}
