import { RE2JS, RE2Set } from 're2js'
import { type ComponentOptions, type Part, parseComponent } from './url-component-parser.ts'

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

/** Asks whether one component of a parsed URL fits. */
export type ComponentTest = (value: string) => boolean

const anything: ComponentTest = () => true

/** Runs the parts behind the leading text; `undefined` stands for "fixed text only". */
function tailTest(parts: readonly Part[]): ComponentTest | undefined {
  if (parts.length === 0) return undefined
  const states = parts.reduce(
    (sum, part) => sum + (typeof part === 'string' ? part.length : part.states),
    0,
  )
  if (states > MAX_STATES) throw new SyntaxError('pattern too complex')
  const sources = parts.map((part) => (typeof part === 'string' ? RE2JS.quote(part) : part.source))
  if (sources.join('') === '(?:.*)') return anything
  const automaton = new RE2Set(RE2Set.ANCHOR_BOTH, 0, AUTOMATON_BYTES)
  automaton.add(sources.join(''))
  automaton.compile()
  const longest = states <= SMALL_STATES ? Number.POSITIVE_INFINITY : MAX_COST / states
  return (value) => value.length <= longest && automaton.match(value).length > 0
}

/**
 * Compiles one component of a URL pattern, in the canonical form that the native URLPattern gives it, for
 * evaluation in linear time.
 * @throws SyntaxError (also the engine's own kind) when it has no linear-time form or is too complex
 */
export function compileComponent(pattern: string, options: ComponentOptions): ComponentTest {
  // By far the most frequent component: what a pattern leaves open.
  if (pattern === '*') return anything
  const parts = parseComponent(pattern, options)
  const whole = parts.some((part) => typeof part !== 'string' && part.looksBack)
  const [first = ''] = parts
  const head = typeof first === 'string' && !whole ? first : ''
  const tail = tailTest(head === '' ? parts : parts.slice(1))
  if (tail === undefined) return (value) => value === head
  return (value) => value.startsWith(head) && tail(value.slice(head.length))
}
