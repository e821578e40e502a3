/** A clock that stands still until a test moves it; `now()` is in ms since 1970 like `Date.now()`. */
export interface FakeClock {
  now(): number
  /** Moves the clock on by `ms`. */
  advance(ms: number): void
  /** Sets the clock to `ms` since 1970. */
  set(ms: number): void
}

/** 2027-01-15T08:00:00Z in seconds: the moment at which fake clocks and minted tokens start. */
export const START_S = 1_800_000_000

/** Makes a fake clock that stands at `startMs`. */
export function fakeClock(startMs = START_S * 1000): FakeClock {
  let now = startMs
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
    set(ms) {
      now = ms
    },
  }
}
