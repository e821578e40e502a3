import { matchesSpecialScheme } from './component.ts'
import { type Token, tokenize } from './tokens.ts'

/** The components of a URL, in the order of the standard's inheritance rules. */
export const COMPONENT_NAMES = [
  'protocol',
  'username',
  'password',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const
export type ComponentName = (typeof COMPONENT_NAMES)[number]

/** Pattern text per component; what is missing is inherited or left open. */
export type PatternInit = { [N in ComponentName]?: string }

type State = ComponentName | 'init' | 'authority' | 'done'

/** What ends the component that is being read, with the state that follows and the characters to skip. */
interface Exit {
  readonly sign: 'port' | 'pathname' | 'search' | 'hash'
  readonly skip: 0 | 1
}

const PORT: Exit = { sign: 'port', skip: 1 }
const PATHNAME: Exit = { sign: 'pathname', skip: 0 }
const SEARCH: Exit = { sign: 'search', skip: 1 }
const HASH: Exit = { sign: 'hash', skip: 1 }

const EXITS: Partial<Record<State, readonly Exit[]>> = {
  hostname: [PORT, PATHNAME, SEARCH, HASH],
  port: [PATHNAME, SEARCH, HASH],
  pathname: [SEARCH, HASH],
  search: [HASH],
}

const SIGN_OF = { port: ':', pathname: '/', search: '?', hash: '#' } as const
const END: Token = { kind: 'end', text: '', at: 0, end: 0 }

function isOneOf(state: State, states: string): boolean {
  return states.split(' ').includes(state)
}

/** URL Pattern standard, "constructor string parser"; the method names are the standard's. */
class ConstructorStringParser {
  readonly #input: string
  readonly #tokens: readonly Token[]
  readonly #result: PatternInit = {}
  #state: State = 'init'
  #start = 0
  #at = 0
  #step = 1
  #groups = 0
  #brackets = 0
  #special = false

  constructor(input: string) {
    this.#input = input
    this.#tokens = tokenize(input)
  }

  parse(): PatternInit {
    while (this.#at < this.#tokens.length && this.#state !== 'done') {
      this.#step = 1
      this.#token(this.#tokens[this.#at] ?? END)
      this.#at += this.#step
    }
    if (this.#result.hostname !== undefined) this.#result.port ??= ''
    return this.#result
  }

  #token({ kind }: Token): void {
    if (kind === 'end') this.#end()
    else if (kind === 'open') this.#groups += 1
    else if (this.#groups > 0 && kind !== 'close') return
    else {
      if (this.#groups > 0) this.#groups -= 1
      this.#advance()
    }
  }

  #end(): void {
    if (this.#state === 'authority') this.#rewind('hostname')
    else if (this.#state !== 'init') this.#change('done', 0)
    else {
      this.#rewind('init')
      if (this.#is('#')) this.#change('hash', 1)
      else if (this.#isSearchPrefix()) this.#change('search', 1)
      else this.#change('pathname', 0)
    }
  }

  #advance(): void {
    if (this.#state === 'init') {
      if (this.#is(':')) this.#rewind('protocol')
    } else if (this.#state === 'protocol') {
      if (this.#is(':')) this.#leaveProtocol()
    } else if (this.#state === 'authority') {
      if (this.#is('@')) this.#rewind('username')
      else if (this.#is('/') || this.#isSearchPrefix() || this.#is('#')) this.#rewind('hostname')
    } else if (this.#state === 'username' || this.#state === 'password') {
      if (this.#state === 'username' && this.#is(':')) this.#change('password', 1)
      else if (this.#is('@')) this.#change('hostname', 1)
    } else this.#leave()
  }

  #leaveProtocol(): void {
    this.#special = matchesSpecialScheme(this.#componentText())
    if (this.#is('/', 1) && this.#is('/', 2)) this.#change('authority', 3)
    else this.#change(this.#special ? 'authority' : 'pathname', 1)
  }

  #leave(): void {
    if (this.#state === 'hostname' && (this.#is('[') || this.#is(']'))) {
      this.#brackets += this.#is('[') ? 1 : -1
      return
    }
    const exit = EXITS[this.#state]?.find(({ sign }) => this.#exitsBy(sign))
    if (exit !== undefined) this.#change(exit.sign, exit.skip)
  }

  #exitsBy(sign: Exit['sign']): boolean {
    if (sign === 'search') return this.#isSearchPrefix()
    // The colons of an IPv6 address are no port prefix.
    if (sign === 'port' && this.#brackets !== 0) return false
    return this.#is(SIGN_OF[sign])
  }

  /** Whether the token stands for the character itself and not for a piece of syntax. */
  #is(char: string, ahead = 0): boolean {
    const token = this.#tokens[this.#at + ahead] ?? this.#tokens.at(-1) ?? END
    return token.text === char && isTextual(token)
  }

  /** A `?` starts the query unless it makes what stands before it optional. */
  #isSearchPrefix(): boolean {
    if (this.#is('?')) return true
    if (this.#tokens[this.#at]?.text !== '?') return false
    const before = this.#tokens[this.#at - 1]
    return before === undefined || !['name', 'regexp', 'close', 'asterisk'].includes(before.kind)
  }

  #rewind(state: State): void {
    this.#at = this.#start
    this.#step = 0
    this.#state = state
  }

  #change(next: State, skip: number): void {
    const from = this.#state
    if (from !== 'init' && from !== 'authority' && from !== 'done') {
      this.#result[from] = this.#componentText()
    }
    if (from !== 'init' && next !== 'done') this.#fillSkipped(from, next)
    this.#state = next
    this.#at += skip
    this.#start = this.#at
    this.#step = 0
  }

  /** What was passed over is empty, not open: a pattern that goes on to the path has no other host. */
  #fillSkipped(from: State, next: State): void {
    const identity = 'protocol authority username password'
    if (isOneOf(from, identity) && isOneOf(next, 'port pathname search hash')) {
      this.#result.hostname ??= ''
    }
    if (isOneOf(from, `${identity} hostname port`) && isOneOf(next, 'search hash')) {
      this.#result.pathname ??= this.#special ? '/' : ''
    }
    if (isOneOf(from, `${identity} hostname port pathname`) && next === 'hash') {
      this.#result.search ??= ''
    }
  }

  #componentText(): string {
    const from = (this.#tokens[this.#start] ?? this.#tokens.at(-1) ?? END).at
    return this.#input.slice(from, this.#tokens[this.#at]?.at)
  }
}

function isTextual({ kind }: Token): boolean {
  return kind === 'char' || kind === 'escaped' || kind === 'invalid'
}

/**
 * Splits a pattern into its components; URL Pattern standard, "parse a constructor string".
 * @throws SyntaxError or TypeError when the protocol part cannot be read
 */
export function splitPattern(pattern: string): PatternInit {
  return new ConstructorStringParser(pattern).parse()
}
