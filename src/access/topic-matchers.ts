import { LRUCache } from 'lru-cache'
import { type CompiledMatcher, compileMatcher, type Matcher, WILDCARD } from './matchers.ts'
import type { TopicReader } from './url-pattern/index.ts'

/** Longest topic whose match result is kept; longer ones are asked anew, so that the cache stays small. */
const MAX_CACHED_TOPIC_CHARS = 1024
/** Patterns kept compiled, beyond those that open subscriptions and cached tokens hold. */
const MAX_COMPILED = 1000

/** Two hubs with different base URLs must not share results: the same pattern means something else there. */
export class SharedCacheError extends Error {
  readonly code = 'match_cache_shared'
  constructor(first: string, second: string) {
    super(`one match cache for two base URLs: ${first} and ${second}`)
    this.name = 'SharedCacheError'
  }
}

/** A bounded store of match results that belongs to one base URL. */
export class MatchCache {
  readonly #results: LRUCache<string, boolean> | undefined
  #baseUrl: string | undefined

  /** @param size most results kept; 0 or less keeps none */
  constructor(size: number) {
    this.#results = size > 0 ? new LRUCache({ max: size }) : undefined
  }

  /** @throws SharedCacheError when the cache already belongs to another base URL */
  bind(baseUrl: string): void {
    if (this.#baseUrl !== undefined && this.#baseUrl !== baseUrl) {
      throw new SharedCacheError(this.#baseUrl, baseUrl)
    }
    this.#baseUrl = baseUrl
  }

  /** The kept result of a pattern and topic, or the answer of `ask`, kept from now on. */
  remember(pattern: string, topic: string, ask: (topic: string) => boolean): boolean {
    if (this.#results === undefined || topic.length > MAX_CACHED_TOPIC_CHARS) return ask(topic)
    // A pattern holds no NUL, so no two pairs share a key.
    const key = `${pattern}\0${topic}`
    const known = this.#results.get(key)
    if (known !== undefined) return known
    const answer = ask(topic)
    this.#results.set(key, answer)
    return answer
  }
}

/** Compiles matchers for one hub; equal matchers are compiled once and their results are shared. */
export interface TopicMatchers {
  readonly baseUrl: string
  /** @throws MatcherError like `compileMatcher` */
  compile(matcher: Matcher): CompiledMatcher
}

/** Remembers the last topic: patterns are asked about one topic after another, all of them about each. */
function readerOf(baseUrl: string): TopicReader {
  let last: string | undefined
  let url: URL | null = null
  return (topic) => {
    if (topic !== last) {
      last = topic
      url = URL.parse(topic, baseUrl)
    }
    return url
  }
}

/**
 * The matchers of one hub. Answers are those of `compileMatcher`, with results kept in `cache`.
 * @throws SharedCacheError when the cache already serves another base URL: a fault of the start-up code
 */
export function createTopicMatchers(baseUrl: string, cache: MatchCache): TopicMatchers {
  cache.bind(baseUrl)
  const compiled = new LRUCache<string, CompiledMatcher>({ max: MAX_COMPILED })
  const read = readerOf(baseUrl)
  const compile = (matcher: Matcher): CompiledMatcher => {
    const { type, pattern } = matcher
    // Exact patterns are cheaper to ask than to look up.
    if (type === 'exact' || pattern === WILDCARD) return compileMatcher(matcher, baseUrl)
    const known = compiled.get(pattern)
    if (known !== undefined) return known
    const fresh = compileMatcher(matcher, baseUrl, read)
    const cached: CompiledMatcher = {
      ...fresh,
      matches: (topic) => cache.remember(pattern, topic, fresh.matches),
    }
    compiled.set(pattern, cached)
    return cached
  }
  return Object.freeze({ baseUrl, compile })
}
