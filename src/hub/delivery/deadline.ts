/** Longest delay that setTimeout takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Share of the write timeout that is fixed; the rest is drawn, so that clients do not all return at once. */
const FIXED_SHARE = 0.8

/** What decides how long a stream may live. */
export interface Lifetime {
  /** 0 = no limit. */
  readonly writeTimeoutMs: number
  readonly dispatchTimeoutMs: number
  /** `exp` of the token in ms since 1970; undefined for an anonymous subscriber. */
  readonly expiresAtMs: number | undefined
}

/**
 * When the hub closes a stream, in ms since 1970; undefined means never. To end in order it closes one
 * dispatch timeout before the deadline, unless that moment has passed: a token with little life left
 * still gets all of it, so that it causes no loop of instant reconnections. `random` is from 0 to 1.
 */
export function closingTime(lifetime: Lifetime, nowMs: number, random: number): number | undefined {
  const { writeTimeoutMs, dispatchTimeoutMs, expiresAtMs } = lifetime
  const drawn = writeTimeoutMs * (FIXED_SHARE + (1 - FIXED_SHARE) * random)
  const written = writeTimeoutMs > 0 ? nowMs + drawn : Number.POSITIVE_INFINITY
  const deadline = Math.min(written, expiresAtMs ?? Number.POSITIVE_INFINITY)
  if (deadline === Number.POSITIVE_INFINITY) return undefined
  const early = deadline - dispatchTimeoutMs
  return early > nowMs ? early : deadline
}

/** Calls `ring` at a moment however far away; returns the function that calls it off. */
export function startAlarm(atMs: number, now: () => number, ring: () => void): () => void {
  let timer: NodeJS.Timeout
  const arm = (): void => {
    const left = atMs - now()
    timer = setTimeout(left <= MAX_TIMER_MS ? ring : arm, Math.min(Math.max(left, 0), MAX_TIMER_MS))
  }
  arm()
  return () => clearTimeout(timer)
}
