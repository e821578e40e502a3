import { LRUCache } from 'lru-cache'
import { type CompiledMatcher, type Walk, walkMatch } from '../../access/index.ts'
import type { Subscriber } from './subscriber.ts'

/** All subscribers of one distinct URL pattern; the pattern is evaluated once for all of them. */
interface Entry {
  readonly matcher: CompiledMatcher
  readonly subscribers: Set<Subscriber>
  /** When the pattern came; a cached answer is only asked about patterns that came after it. */
  readonly born: number
}

/** Which patterns match a topic, as known when `asOf` patterns had come. */
interface Answer {
  asOf: number
  entries: Entry[]
}

/** Bytes of topics and entries that the cache may hold: a topic may be as long as a request body. */
const MAX_CACHE_BYTES = 64 * 1024 * 1024
const ENTRY_BYTES = 8
const ANSWER_BYTES = 128

/** The URL patterns of all subscribers, with the bounded memory of which of them match which topic. */
export class PatternTable {
  readonly #entries = new Map<string, Entry>()
  /** Entries by age, oldest first; gone ones stay until half of the list is gone. */
  #byAge: Entry[] = []
  #births = 0
  readonly #answers: LRUCache<string, Answer>

  /** `maxTopics`: topics whose answer is remembered; 0 = bounded by their bytes alone. */
  constructor(maxTopics: number) {
    this.#answers = new LRUCache<string, Answer>({
      ...(maxTopics > 0 ? { max: maxTopics } : {}),
      maxSize: MAX_CACHE_BYTES,
      sizeCalculation: (answer, topic) =>
        topic.length * 2 + ANSWER_BYTES + answer.entries.length * ENTRY_BYTES,
    })
  }

  /** The compiled form of a pattern that some subscriber already holds. */
  compiled(pattern: string): CompiledMatcher | undefined {
    return this.#entries.get(pattern)?.matcher
  }

  add(matcher: CompiledMatcher, subscriber: Subscriber): void {
    const known = this.#entries.get(matcher.pattern)
    if (known) {
      known.subscribers.add(subscriber)
      return
    }
    this.#births += 1
    const entry = { matcher, subscribers: new Set([subscriber]), born: this.#births }
    this.#entries.set(matcher.pattern, entry)
    this.#byAge.push(entry)
  }

  remove(pattern: string, subscriber: Subscriber): void {
    const entry = this.#entries.get(pattern)
    if (!entry?.subscribers.delete(subscriber) || entry.subscribers.size > 0) return
    this.#entries.delete(pattern)
    if (this.#byAge.length > 2 * this.#entries.size) {
      this.#byAge = this.#byAge.filter((kept) => kept.subscribers.size > 0)
    }
  }

  /** The subscribers of every pattern that matches a topic; one set per pattern. */
  *matching(topic: string): Walk<readonly ReadonlySet<Subscriber>[]> {
    if (this.#entries.size === 0) return []
    const { entries } = yield* this.#answer(topic)
    return entries.map(({ subscribers }) => subscribers)
  }

  *#answer(topic: string): Walk<Answer> {
    const known = this.#answers.get(topic)
    // Patterns that come while this one walks are those that the answer is not asked about.
    const asOf = this.#births
    if (known?.asOf === asOf) return known
    const entries = (known?.entries ?? []).filter((entry) => entry.subscribers.size > 0)
    for (const entry of this.#newerThan(known?.asOf ?? 0)) {
      // Its last subscriber may have gone meanwhile.
      if (entry.subscribers.size > 0 && (yield* walkMatch(entry.matcher, topic))) {
        entries.push(entry)
      }
    }
    const answer = { asOf, entries }
    this.#answers.set(topic, answer)
    return answer
  }

  /** The entries that came after a moment: the tail of the list. */
  #newerThan(asOf: number): readonly Entry[] {
    const first = this.#byAge.findLastIndex((entry) => entry.born <= asOf) + 1
    return this.#byAge.slice(first).filter((entry) => entry.subscribers.size > 0)
  }
}
