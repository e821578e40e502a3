import { isPermittedText } from './characters.ts'
import { compileUrlPattern, type TopicReader } from './url-pattern/index.ts'

/** The two ways in which a pattern can be read. */
export const MATCHER_TYPES = ['exact', 'urlpattern'] as const
export type MatcherType = (typeof MATCHER_TYPES)[number]

/** The reserved pattern that matches every topic, decided before the matcher type is looked at. */
export const WILDCARD = '*'

/** Longest pattern in UTF-8 bytes, in a request and in a token; the protocol's bound on compile cost. */
export const MAX_PATTERN_BYTES = 4096

/** A pattern and how to read it. */
export interface Matcher {
  readonly type: MatcherType
  readonly pattern: string
}

/** A matcher that is ready to be asked. */
export interface CompiledMatcher extends Matcher {
  /** Automaton states that a character of a topic may visit; 0 when a topic is not walked. */
  readonly states: number
  matches(topic: string): boolean
}

/** Why a matcher is refused; the text for clients names the reason and never quotes the compiler. */
export type MatcherFault = 'unknown_type' | 'too_long' | 'forbidden_character' | 'malformed_pattern'

/** A matcher that cannot be used: 400 in a request, 401 `invalid_token` in a token. */
export class MatcherError extends Error {
  readonly code: MatcherFault
  constructor(code: MatcherFault, options?: ErrorOptions) {
    super(code, options)
    this.name = 'MatcherError'
    this.code = code
  }
}

/** Tells whether a text names a matcher type; names are case-sensitive. */
export function isMatcherType(text: unknown): text is MatcherType {
  return text === 'exact' || text === 'urlpattern'
}

const everything = (): boolean => true

/**
 * Makes a matcher ready. `baseUrl` is what relative patterns and relative topics are resolved against.
 * The wildcard is decided first, so that `*` is never read as a relative URL pattern.
 * @param read reads topics for URL patterns, see `compileUrlPattern`
 * @throws MatcherError when the pattern is too long, holds a forbidden character or does not compile
 */
export function compileMatcher(
  matcher: Matcher,
  baseUrl: string,
  read?: TopicReader,
): CompiledMatcher {
  const { type, pattern } = matcher
  if (Buffer.byteLength(pattern) > MAX_PATTERN_BYTES) throw new MatcherError('too_long')
  if (!isPermittedText(pattern)) throw new MatcherError('forbidden_character')
  if (pattern === WILDCARD) return { type, pattern, states: 0, matches: everything }
  if (type === 'exact') return { type, pattern, states: 0, matches: (topic) => topic === pattern }
  try {
    return { type, pattern, ...compileUrlPattern(pattern, baseUrl, read) }
  } catch (cause) {
    // Three engines have a say in a pattern, each with its own kind of error; all mean the same to a client.
    throw new MatcherError('malformed_pattern', { cause })
  }
}
