import {
  type CompiledMatcher,
  type Matcher,
  MatcherError,
  type MatcherType,
} from '../access/index.ts'
import { HubRequestError } from './errors.ts'
import { type FormField, fieldText } from './form.ts'

/** Most matchers of one subscribe request, all names together. */
export const MAX_MATCHERS = 100

const MATCH_PARAMETERS: ReadonlyMap<string, MatcherType> = new Map<string, MatcherType>([
  ['match', 'exact'],
  ['match_exact', 'exact'],
  ['match_urlpattern', 'urlpattern'],
])

/** Makes a matcher ready; the hub keeps one per distinct pattern, see `SubscriberIndex.compile`. */
export type Compile = (matcher: Matcher) => CompiledMatcher

function assertKnown(name: string): void {
  if (name.toLowerCase().startsWith('match') && !MATCH_PARAMETERS.has(name)) {
    throw new HubRequestError('unknown_matcher', 'unknown matcher parameter')
  }
  // The parameter of protocol 0.x: silence would let an old client wait for events for ever.
  if (name === 'topic') throw new HubRequestError('old_parameter', 'topic: use match')
}

function compileField(type: MatcherType, field: FormField, compile: Compile): CompiledMatcher {
  const pattern = fieldText(field)
  try {
    return compile({ type, pattern })
  } catch (error) {
    if (!(error instanceof MatcherError)) throw error
    // A fixed text: the compiler's own words would describe our internals.
    throw new HubRequestError(error.code, `${field.name}: invalid pattern`)
  }
}

/**
 * Reads the matcher parameters of a subscribe request; equal ones are merged after they are counted.
 * @throws HubRequestError 400 for no matcher, too many, an unknown name or a pattern that cannot be used
 */
export function readMatchers(
  fields: readonly FormField[],
  compile: Compile,
): readonly CompiledMatcher[] {
  for (const field of fields) assertKnown(field.name)
  const asked = fields.flatMap((field) => {
    const type = MATCH_PARAMETERS.get(field.name)
    return type === undefined ? [] : [{ type, field }]
  })
  if (asked.length === 0) throw new HubRequestError('matcher_missing', 'match: missing')
  if (asked.length > MAX_MATCHERS) {
    throw new HubRequestError('too_many_matchers', 'match: too many')
  }
  const distinct = new Map<string, CompiledMatcher>()
  for (const { type, field } of asked) {
    const matcher = compileField(type, field, compile)
    distinct.set(`${type} ${matcher.pattern}`, matcher)
  }
  return [...distinct.values()]
}
