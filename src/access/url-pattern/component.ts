import { RE2JS, RE2Set } from 're2js'
import { CANONICALIZE } from './canonical.ts'
import { type ComponentRules, type Part, parseComponent } from './component-parser.ts'

/** Most automaton states of one component: bounds the memory of a pattern and the cost of each step. */
const MAX_STATES = 2000

/**
 * Longest walk of one test in states times characters, beyond which nothing matches. The automaton is made
 * deterministic as it runs, so the usual cost is one step per character; this bounds the worst case.
 */
const MAX_COST = 2_000_000

/** So few states cost little on a topic of any length that a request can carry (1 MiB). */
const SMALL_STATES = 16

/** Bytes that the deterministic automaton of one component may keep; it starts afresh when they are used up. */
const AUTOMATON_BYTES = 131_072

/** The schemes whose paths are lists of segments; URL standard, "special scheme", with their default ports. */
export const SPECIAL_SCHEMES: ReadonlyMap<string, string> = new Map([
  ['ftp', '21'],
  ['file', ''],
  ['http', '80'],
  ['https', '443'],
  ['ws', '80'],
  ['wss', '443'],
])

/** One component of a pattern, ready to be asked. */
export interface ComponentTest {
  /** Automaton states that a character may visit; 0 when nothing is walked. */
  readonly states: number
  /** Asks whether the component of a parsed URL fits. */
  fits(value: string): boolean
}

const ANYTHING: ComponentTest = { states: 0, fits: () => true }
const PROTOCOL_RULES = { delimiter: '', prefix: '', canonicalize: CANONICALIZE.protocol }

function statesOf(part: Part): number {
  return typeof part === 'string' ? part.length : part.states
}

/** Runs the parts behind the leading text; `undefined` when there are none. */
function tailTest(parts: readonly Part[]): ComponentTest | undefined {
  if (parts.length === 0) return undefined
  const states = parts.reduce((sum, part) => sum + statesOf(part), 0)
  if (states > MAX_STATES) throw new SyntaxError('pattern too complex')
  const source = parts
    .map((part) => (typeof part === 'string' ? RE2JS.quote(part) : part.source))
    .join('')
  if (source === '(?:.*)') return ANYTHING
  const automaton = new RE2Set(RE2Set.ANCHOR_BOTH, 0, AUTOMATON_BYTES)
  automaton.add(source)
  automaton.compile()
  const longest = states <= SMALL_STATES ? Number.POSITIVE_INFINITY : MAX_COST / states
  const fits = (value: string) => value.length <= longest && automaton.match(value).length > 0
  return { states, fits }
}

/**
 * Compiles the pattern text of one component for evaluation in linear time.
 * @throws SyntaxError, TypeError or the engine's own kind when it is malformed or too complex
 */
export function compileComponent(pattern: string, rules: ComponentRules): ComponentTest {
  // By far the most frequent component: what a pattern leaves open.
  if (pattern === '*') return ANYTHING
  const parts = parseComponent(pattern, rules)
  const whole = parts.some((part) => typeof part !== 'string' && part.looksBack)
  const [first = ''] = parts
  const head = typeof first === 'string' && !whole ? first : ''
  const tail = tailTest(head === '' ? parts : parts.slice(1))
  if (tail === undefined) return { states: 0, fits: (value) => value === head }
  const fits = (value: string) => value.startsWith(head) && tail.fits(value.slice(head.length))
  return { states: tail.states, fits }
}

/** Compiles the protocol component. */
export function compileProtocol(pattern: string): ComponentTest {
  return compileComponent(pattern, PROTOCOL_RULES)
}

/** Whether a protocol pattern can stand for a scheme whose paths are lists of segments. */
export function matchesSpecialScheme(pattern: string): boolean {
  return [...SPECIAL_SCHEMES.keys()].some(compileProtocol(pattern).fits)
}
