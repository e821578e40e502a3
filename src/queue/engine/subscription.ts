import { microsOf } from '../micros.ts'
import type { Subscription } from '../model.ts'

/** Spellings of "skip history". Queue API 7.1. */
const NEW_WORDS: ReadonlySet<string> = new Set(['new', 'new-only', 'new_only', 'newonly'])

function byMode(word: string): Subscription {
  return { mode: NEW_WORDS.has(word.toLowerCase()) ? 'new' : 'all' }
}

/**
 * Where a group wants to start: `from` wins over `mode`, `mode` over the server's default; a moment that
 * cannot be read means new. Empty text counts as absent. Queue API 7.1.
 */
export function subscriptionOf(
  mode: string | null,
  from: string | null,
  fallbackMode: string,
): Subscription {
  if (from !== null && from !== '') {
    const fromUs = from.toLowerCase() === 'now' ? undefined : microsOf(from)
    return fromUs === undefined ? { mode: 'new' } : { mode: 'timestamp', fromUs }
  }
  return byMode(mode === null || mode === '' ? fallbackMode : mode)
}
