/** A regular expression in RE2 syntax, and how many automaton states it stands for. */
export interface LinearRegexp {
  readonly source: string
  readonly states: number
  /** True when it asks for what stands before it (`^`, `\\b`, `\\B`), so that its text must not be cut. */
  readonly looksBack?: boolean
}

/** RE2 refuses larger counts; a repetition also multiplies `states`, which has its own limit. */
const MAX_REPEAT = 1000
/** Nesting costs a stack frame each, here and in the engine. */
const MAX_DEPTH = 100
/** Every character that a component of a parsed URL can hold. */
const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
/** Escapes without a width: they assert, they do not match a character. */
const ASSERTIONS = new Set(['\\b', '\\B'])

const CLASS_ESCAPE =
  /\\(?:[pP]\{[A-Za-z0-9_=]+\}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[^pPuxck1-9q])/y
const QUANTIFIER = /(?:[*+?]|\{([0-9]{1,6})(?:,([0-9]{0,6}))?\})\??/y
const GROUP_START = /\(\?:/y

/** Writes one ASCII character so that RE2 reads it as itself. */
function literal(char: string): string {
  return `\\x{${char.charCodeAt(0).toString(16)}}`
}

/** The class of those ASCII characters that a one-character JavaScript atom matches. */
function asciiClass(atom: string): string {
  const native = new RegExp(`^${atom}$`, 'v')
  const members = ASCII.filter((char) => native.test(char))
  if (members.length === 0) return '[^\\x{0}-\\x{10ffff}]'
  return `[${members.map(literal).join('')}]`
}

/**
 * Reads one group of a URL pattern, JavaScript syntax with the `v` flag, and writes it for RE2.
 *
 * The two syntaxes disagree in places (`[]a]` is one class for RE2, none for JavaScript), so nothing is
 * passed through: every one-character atom is asked of the native engine for each ASCII character, and the
 * rest is a closed list. What has no linear-time form (look-around, back references) is a SyntaxError,
 * and so are named groups, inline flags and strings in classes.
 */
class Translator {
  readonly #text: string
  readonly #classes = new Map<string, string>()
  #at = 0
  #depth = 0
  #looksBack = false

  constructor(text: string) {
    this.#text = text
  }

  translate(): LinearRegexp {
    const result = this.#alternatives()
    if (this.#at < this.#text.length) throw new SyntaxError('unbalanced group')
    return { ...result, looksBack: this.#looksBack }
  }

  #take(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at
    const found = sticky.exec(this.#text)
    if (found === null) return undefined
    this.#at += found[0].length
    return found
  }

  #alternatives(): LinearRegexp {
    const sources = ['']
    let states = 1
    while (this.#at < this.#text.length && this.#text[this.#at] !== ')') {
      if (this.#text[this.#at] === '|') {
        this.#at += 1
        states += 1
        sources.push('')
        continue
      }
      const term = this.#quantified(this.#atom())
      sources.push(`${sources.pop()}${term.source}`)
      states += term.states
    }
    return { source: `(?:${sources.join('|')})`, states }
  }

  #quantified(atom: LinearRegexp): LinearRegexp {
    const found = this.#take(QUANTIFIER)
    if (found === undefined) return atom
    const [text, min, max] = found
    if (min === undefined) return { source: atom.source + text, states: atom.states + 1 }
    const most = Math.max(Number(min), Number(max ?? 0), 1)
    if (most > MAX_REPEAT) throw new SyntaxError('repetition too large')
    return { source: atom.source + text, states: atom.states * most + most }
  }

  #atom(): LinearRegexp {
    const char = this.#text[this.#at] ?? ''
    if (char === '(') return this.#group()
    if (char === '[') return this.#one(this.#classText())
    if (char === '\\') return this.#escape()
    this.#at += 1
    if (char === '^') this.#looksBack = true
    if (char === '.' || char === '^' || char === '$') return { source: char, states: 1 }
    return { source: literal(char), states: 1 }
  }

  #group(): LinearRegexp {
    if (this.#take(GROUP_START) === undefined) throw new SyntaxError('group kind')
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) throw new SyntaxError('nested too deep')
    const inner = this.#alternatives()
    this.#depth -= 1
    if (this.#text[this.#at] !== ')') throw new SyntaxError('unclosed group')
    this.#at += 1
    return inner
  }

  #escape(): LinearRegexp {
    const text = this.#take(CLASS_ESCAPE)?.[0]
    if (text === undefined) throw new SyntaxError('escape without a linear-time form')
    if (!ASSERTIONS.has(text)) return this.#one(text)
    this.#looksBack = true
    return { source: text, states: 1 }
  }

  #one(atom: string): LinearRegexp {
    const source = this.#classes.get(atom) ?? asciiClass(atom)
    this.#classes.set(atom, source)
    return { source, states: 1 }
  }

  /** The text of a class up to its own closing bracket; classes nest under the `v` flag. */
  #classText(): string {
    const start = this.#at
    let open = 0
    do {
      const char = this.#text[this.#at]
      if (char === undefined) throw new SyntaxError('unclosed class')
      if (char === '\\') {
        if (this.#take(CLASS_ESCAPE) === undefined) throw new SyntaxError('escape in a class')
        continue
      }
      if (char === '[') open += 1
      if (char === ']') open -= 1
      this.#at += 1
    } while (open > 0)
    return this.#text.slice(start, this.#at)
  }
}

/**
 * Translates the text of one group for the linear-time engine; both match the same ASCII strings.
 * @throws SyntaxError when it is malformed, has no linear-time form or repeats too often
 */
export function translateRegexp(source: string): LinearRegexp {
  // Never run, only read: the native parser is the judge of what is well-formed.
  new RegExp(`(?:${source})`, 'v')
  return new Translator(source).translate()
}
