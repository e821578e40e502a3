import { type CompiledMatcher, type Matcher, type Walk, WILDCARD } from '../../access/index.ts'
import { PatternTable } from './pattern-table.ts'
import type { Subscriber } from './subscriber.ts'

/** Settings of the index. */
export interface IndexOptions {
  /** Makes a matcher ready. @throws MatcherError when its pattern cannot be used */
  readonly compile: (matcher: Matcher) => CompiledMatcher
  /** Topics whose matching URL patterns are remembered; 0 = no bound on their number. */
  readonly subscriberListCacheSize: number
}

const NOBODY: ReadonlySet<Subscriber> = new Set()

/**
 * Finds who asked for an update without looking at everybody: exact patterns are looked up by the
 * topic itself, a URL pattern is evaluated once however many subscribers hold it, and once per topic.
 */
export class SubscriberIndex {
  readonly #compile: (matcher: Matcher) => CompiledMatcher
  readonly #all = new Set<Subscriber>()
  readonly #everything = new Set<Subscriber>()
  readonly #exact = new Map<string, Set<Subscriber>>()
  readonly #patterns: PatternTable

  constructor(options: IndexOptions) {
    this.#compile = options.compile
    this.#patterns = new PatternTable(options.subscriberListCacheSize)
  }

  /** Every open subscriber. */
  get all(): ReadonlySet<Subscriber> {
    return this.#all
  }

  /**
   * Makes a matcher ready; a URL pattern that some subscriber already holds is not compiled again.
   * @throws MatcherError when the pattern cannot be used
   */
  compile(matcher: Matcher): CompiledMatcher {
    const known =
      matcher.type === 'urlpattern' ? this.#patterns.compiled(matcher.pattern) : undefined
    return known ?? this.#compile(matcher)
  }

  add(subscriber: Subscriber): void {
    this.#all.add(subscriber)
    for (const matcher of subscriber.matchers) {
      if (matcher.pattern === WILDCARD) this.#everything.add(subscriber)
      else if (matcher.type === 'urlpattern') this.#patterns.add(matcher, subscriber)
      else this.#addExact(matcher.pattern, subscriber)
    }
  }

  /** Returns false for a subscriber that is not there (any more). */
  remove(subscriber: Subscriber): boolean {
    if (!this.#all.delete(subscriber)) return false
    this.#everything.delete(subscriber)
    for (const { type, pattern } of subscriber.matchers) {
      if (type === 'urlpattern') this.#patterns.remove(pattern, subscriber)
      else this.#removeExact(pattern, subscriber)
    }
    return true
  }

  /** Everyone with a matcher for one of the topics, each once. */
  *recipients(topics: readonly string[]): Walk<ReadonlySet<Subscriber>> {
    const found: ReadonlySet<Subscriber>[] = []
    for (const topic of topics) found.push(...(yield* this.#patterns.matching(topic)))
    const exact = topics.map((topic) => this.#exact.get(topic) ?? NOBODY)
    const sets = [this.#everything, ...exact, ...found].filter((set) => set.size > 0)
    const [only = NOBODY, ...others] = sets
    if (others.length === 0) return only
    return new Set(sets.flatMap((set) => [...set]))
  }

  #addExact(pattern: string, subscriber: Subscriber): void {
    const known = this.#exact.get(pattern)
    if (known) known.add(subscriber)
    else this.#exact.set(pattern, new Set([subscriber]))
  }

  #removeExact(pattern: string, subscriber: Subscriber): void {
    const subscribers = this.#exact.get(pattern)
    subscribers?.delete(subscriber)
    if (subscribers?.size === 0) this.#exact.delete(pattern)
  }
}
