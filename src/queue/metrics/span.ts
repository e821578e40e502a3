const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The span of a series: both ends in ms since 1970, and the width of one bucket in minutes. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
  readonly bucketMinutes: number
}

/** Bucket widths by the length of the span; queue API section 11. The last row takes every longer span. */
const WIDTHS = [
  { upToMs: HOUR_MS, minutes: 1 },
  { upToMs: 6 * HOUR_MS, minutes: 5 },
  { upToMs: 24 * HOUR_MS, minutes: 15 },
  { upToMs: 7 * 24 * HOUR_MS, minutes: 60 },
] as const
const WIDEST_MINUTES = 360

/** The width in minutes of the buckets of a span of `lengthMs`. */
export function bucketMinutes(lengthMs: number): number {
  return WIDTHS.find((row) => lengthMs <= row.upToMs)?.minutes ?? WIDEST_MINUTES
}

/** The ends of a span as a request may give them, in ms. */
export interface AskedSpan {
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/**
 * The span that a request asks for. A missing end is `now`, a missing start lies `defaultMs` before the end;
 * ends in the wrong order are swapped, since a series is never an error.
 */
export function spanOf(asked: AskedSpan, nowMs: number, defaultMs = HOUR_MS): Span {
  const end = asked.to ?? Math.max(nowMs, asked.from ?? nowMs)
  const start = asked.from ?? end - defaultMs
  const fromMs = Math.min(start, end)
  const toMs = Math.max(start, end)
  return { fromMs, toMs, bucketMinutes: bucketMinutes(toMs - fromMs) }
}

/** The start in ms of the bucket of `minutes` that `atMs` lies in. */
export function bucketStart(atMs: number, minutes: number): number {
  const width = minutes * MINUTE_MS
  return Math.floor(atMs / width) * width
}

/** A rate per second over one bucket, rounded to a thousandth. */
export function perSecond(total: number, minutes: number): number {
  return Math.round((total / (minutes * 60)) * 1000) / 1000
}

/** The mean of `sum` over `samples`, rounded to a thousandth; zero when there are none. */
export function mean(sum: number, samples: number): number {
  return samples === 0 ? 0 : Math.round((sum / samples) * 1000) / 1000
}

/** The two ends as answers show them. */
export function timeRangeOf(span: Span): { readonly from: string; readonly to: string } {
  return { from: new Date(span.fromMs).toISOString(), to: new Date(span.toMs).toISOString() }
}
