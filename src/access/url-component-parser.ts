import { RE2JS } from 're2js'
import { type LinearRegexp, translateRegexp } from './linear-regexp.ts'

/** How a component is cut into segments; URL Pattern standard, "options". */
export interface ComponentOptions {
  /** What a named group never crosses. */
  readonly delimiter: string
  /** A character before a group that belongs to it, so that it repeats or vanishes with it. */
  readonly prefix: string
}

/** A piece of a component: text that stands for itself, or an expression in RE2 syntax. */
export type Part = string | LinearRegexp

interface Token {
  readonly kind: 'char' | 'escaped' | 'name' | 'regexp' | 'sign'
  readonly text: string
}

const NAME = /:([\p{ID_Start}$_][\p{ID_Continue}$_\u200c\u200d]*)/uy

/** The index behind the parenthesis that closes the one at `start`. */
function regexpEnd(pattern: string, start: number): number {
  let open = 0
  for (let at = start; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1
    else if (pattern[at] === '(') open += 1
    else if (pattern[at] === ')') {
      open -= 1
      if (open === 0) return at + 1
    }
  }
  throw new SyntaxError('unclosed group')
}

/** Reads the token at `at` and says how many UTF-16 units it takes. */
function tokenAt(pattern: string, at: number): Token & { readonly width: number } {
  const char = String.fromCodePoint(pattern.codePointAt(at) ?? 0)
  if (char === '\\') return { kind: 'escaped', text: pattern.slice(at + 1, at + 2), width: 2 }
  if (char === '(') {
    const end = regexpEnd(pattern, at)
    return { kind: 'regexp', text: pattern.slice(at + 1, end - 1), width: end - at }
  }
  if (char !== ':') {
    const kind = '*+?{}'.includes(char) ? 'sign' : 'char'
    return { kind, text: char, width: char.length }
  }
  NAME.lastIndex = at
  const name = NAME.exec(pattern)?.[0]
  if (name === undefined) throw new SyntaxError('a colon without a name')
  return { kind: 'name', text: name, width: name.length }
}

/** Cuts a component pattern into tokens; URL Pattern standard, "tokenize", strict policy. */
function tokenize(pattern: string): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < pattern.length; ) {
    const token = tokenAt(pattern, at)
    tokens.push(token)
    at += token.width
  }
  return tokens
}

/** URL Pattern standard, "parse a pattern string". */
class ComponentParser {
  readonly #tokens: readonly Token[]
  readonly #options: ComponentOptions
  readonly #segment: LinearRegexp
  readonly #parts: Part[] = []
  #at = 0
  #fixed = ''

  constructor(pattern: string, options: ComponentOptions) {
    this.#tokens = tokenize(pattern)
    this.#options = options
    const { delimiter } = options
    this.#segment = { source: delimiter === '' ? '.+' : `[^${RE2JS.quote(delimiter)}]+`, states: 2 }
  }

  parse(): readonly Part[] {
    while (this.#at < this.#tokens.length) this.#step()
    this.#flush()
    return this.#parts
  }

  #take(kind: Token['kind'], texts?: string): string | undefined {
    const token = this.#tokens[this.#at]
    if (token?.kind !== kind || texts?.includes(token.text) === false) return undefined
    this.#at += 1
    return token.text
  }

  /** A group's own expression; `undefined` when neither a name, nor an expression, nor a star is there. */
  #group(): LinearRegexp | undefined {
    const name = this.#take('name')
    const regexp = this.#take('regexp')
    if (regexp !== undefined) return translateRegexp(regexp)
    if (name !== undefined) return this.#segment
    return this.#take('sign', '*') === undefined ? undefined : { source: '.*', states: 2 }
  }

  #step(): void {
    const char = this.#take('char')
    const group = this.#group()
    if (group !== undefined) {
      const owned = char !== undefined && char === this.#options.prefix
      if (!owned) this.#fixed += char ?? ''
      this.#add(owned ? char : '', group, '')
      return
    }
    const text = char ?? this.#take('escaped')
    if (text !== undefined) this.#fixed += text
    else this.#braces()
  }

  #braces(): void {
    if (this.#take('sign', '{') === undefined) throw new SyntaxError('unexpected sign')
    const prefix = this.#text()
    const group = this.#group()
    const suffix = this.#text()
    if (this.#take('sign', '}') === undefined) throw new SyntaxError('unclosed brace')
    this.#add(prefix, group, suffix)
  }

  #text(): string {
    let text = ''
    for (;;) {
      const next = this.#take('char') ?? this.#take('escaped')
      if (next === undefined) return text
      text += next
    }
  }

  #add(prefix: string, group: LinearRegexp | undefined, suffix: string): void {
    const modifier = this.#take('sign', '?*+') ?? ''
    if (group === undefined && modifier === '') {
      this.#fixed += prefix
      return
    }
    this.#flush()
    this.#parts.push({
      source: `(?:${RE2JS.quote(prefix)}${group?.source ?? ''}${RE2JS.quote(suffix)})${modifier}`,
      states: prefix.length + suffix.length + (group?.states ?? 0) + 1,
      looksBack: group?.looksBack ?? false,
    })
  }

  #flush(): void {
    if (this.#fixed !== '') this.#parts.push(this.#fixed)
    this.#fixed = ''
  }
}

/**
 * Reads one component of a URL pattern in the canonical form that the native URLPattern gives it.
 * @throws SyntaxError when it is malformed or has no linear-time form
 */
export function parseComponent(pattern: string, options: ComponentOptions): readonly Part[] {
  return new ComponentParser(pattern, options).parse()
}
