import { RE2JS } from 're2js'
import type { Canonicalize } from './canonical.ts'
import { type LinearRegexp, translateRegexp } from './linear-regexp.ts'
import { type Token, type TokenKind, tokenize } from './tokens.ts'

/** How one component is read; URL Pattern standard, "options" and "encoding callback". */
export interface ComponentRules {
  /** What a named group never crosses. */
  readonly delimiter: string
  /** A character before a group that belongs to it, so that it repeats or vanishes with it. */
  readonly prefix: string
  readonly canonicalize: Canonicalize
}

/** A piece of a component: text that stands for itself, or an expression in RE2 syntax. */
export type Part = string | LinearRegexp

const ANYTHING: LinearRegexp = { source: '.*', states: 2 }

/** URL Pattern standard, "parse a pattern string". */
class ComponentParser {
  readonly #tokens: readonly Token[]
  readonly #rules: ComponentRules
  readonly #segment: LinearRegexp
  readonly #names = new Set<string>()
  readonly #parts: Part[] = []
  #at = 0
  #fixed = ''

  constructor(pattern: string, rules: ComponentRules) {
    this.#tokens = tokenize(pattern)
    this.#rules = rules
    const { delimiter } = rules
    this.#segment = { source: delimiter === '' ? '.+' : `[^${RE2JS.quote(delimiter)}]+`, states: 2 }
  }

  parse(): readonly Part[] {
    while (this.#take('end') === undefined) this.#step()
    this.#flush()
    return this.#parts
  }

  #take(kind: TokenKind): string | undefined {
    const token = this.#tokens[this.#at]
    if (token?.kind !== kind) return undefined
    this.#at += 1
    return token.text
  }

  /** A group's own expression; `undefined` when neither a name, nor an expression, nor a star is there. */
  #group(): LinearRegexp | undefined {
    const name = this.#take('name')
    if (name !== undefined) {
      if (this.#names.has(name)) throw new SyntaxError('a name twice')
      this.#names.add(name)
    }
    const regexp = this.#take('regexp')
    if (regexp !== undefined) return translateRegexp(regexp)
    if (name !== undefined) return this.#segment
    return this.#take('asterisk') === undefined ? undefined : ANYTHING
  }

  #step(): void {
    const char = this.#take('char')
    const group = this.#group()
    if (group !== undefined) {
      const owned = char !== undefined && char === this.#rules.prefix
      if (!owned) this.#fixed += char ?? ''
      this.#add(owned ? char : '', group, '')
      return
    }
    const text = char ?? this.#take('escaped')
    if (text !== undefined) this.#fixed += text
    else this.#braces()
  }

  #braces(): void {
    if (this.#take('open') === undefined) throw new SyntaxError('unexpected sign')
    const prefix = this.#text()
    const group = this.#group()
    const suffix = this.#text()
    if (this.#take('close') === undefined) throw new SyntaxError('unclosed brace')
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
    const modifier = this.#take('modifier') ?? this.#take('asterisk') ?? ''
    if (group === undefined && modifier === '') {
      this.#fixed += prefix
      return
    }
    this.#flush()
    const before = this.#rules.canonicalize(prefix)
    const after = this.#rules.canonicalize(suffix)
    this.#parts.push({
      source: `(?:${RE2JS.quote(before)}${group?.source ?? ''}${RE2JS.quote(after)})${modifier}`,
      states: before.length + after.length + (group?.states ?? 0) + 1,
      looksBack: group?.looksBack ?? false,
    })
  }

  #flush(): void {
    const text = this.#rules.canonicalize(this.#fixed)
    if (text !== '') this.#parts.push(text)
    this.#fixed = ''
  }
}

/**
 * Reads the pattern text of one component.
 * @throws SyntaxError or TypeError when it is malformed or has no linear-time form
 */
export function parseComponent(pattern: string, rules: ComponentRules): readonly Part[] {
  return new ComponentParser(pattern, rules).parse()
}
