import { z } from 'zod'

/**
 * The building blocks of answers. Objects are strict, so that an answer with a member that is not
 * documented fails the tests against the API document.
 */

/** A whole number that is never negative: a count. */
export const count = z.number().int().min(0)

/** A number that is never negative: a rate, a length of time, a load. */
export const amount = z.number().min(0)

/** ISO-8601 UTC with `Z` (queue API section 1.4). */
export const time = z.iso.datetime()

/** Any JSON value: a payload, a state value, trace data. */
export const json = z.unknown()

/** The six counters of messages; section 9 defines each. */
export const sixCounters = {
  total: count,
  pending: count,
  processing: count,
  completed: count,
  failed: count,
  deadLetter: count,
} as const

/** The span that an analytics answer covers; both ends ISO-8601. */
export const timeRange = z.strictObject({ from: time, to: time })

/** Head of every series (section 11): the span, the width of a bucket and how many points follow. */
export const seriesHead = {
  timeRange,
  bucketMinutes: z.number().positive(),
  pointCount: count,
} as const

/** Paging as the lists echo it. */
export const pagination = z.strictObject({ limit: count, offset: count })

/** The one failure shape (section 1.3). */
export const failure = z.looseObject({ error: z.string() })

/** A 404 or 400 of an operation, with the sentence that says when. */
export function fails(about: string) {
  return { about, json: failure } as const
}
