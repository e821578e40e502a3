import type { CompiledMatcher } from './matchers.ts'

/**
 * Work of a length that outsiders have a say in, cut into pieces: each piece yields the steps it took, so that
 * who runs the walk can let others have a turn.
 */
export type Walk<T> = Generator<number, T, undefined>

/** What asking costs beside the walk over the characters, in steps: many short topics are work too. */
const STEPS_PER_TEST = 16

/** The most steps that asking a matcher about a topic takes: states times characters. */
export function stepsOf({ states }: CompiledMatcher, topic: string): number {
  return states * topic.length + STEPS_PER_TEST
}

/** Asks a matcher about a topic. */
export function* walkMatch(matcher: CompiledMatcher, topic: string): Walk<boolean> {
  const answer = matcher.matches(topic)
  yield stepsOf(matcher, topic)
  return answer
}

/** Runs a walk to its end without a pause. */
export function finish<T>(walk: Walk<T>): T {
  for (;;) {
    const step = walk.next()
    if (step.done) return step.value
  }
}
