import { z } from 'zod'

/**
 * Query parameters. A parameter that cannot be read takes its default and is never an error (queue API
 * section 1.4); one that is given twice counts as its first value.
 */
const first = z.preprocess(
  (value) => (Array.isArray(value) ? value[0] : value),
  z.string().optional().catch(undefined),
)

/** A whole number; outside `min` to `max` it is moved to the nearer end, unreadable it is `fallback`. */
export function integerParam(fallback: number, min: number, max = Number.MAX_SAFE_INTEGER) {
  return first
    .transform((text) => {
      if (text === undefined || !/^[+-]?[0-9]{1,15}$/.test(text.trim())) return fallback
      return Math.min(Math.max(Number(text), min), max)
    })
    .meta({ type: 'integer', default: fallback, minimum: min })
}

/** Free text; absent or empty means "not given". */
export function textParam() {
  return first.transform((text) => (text === '' ? undefined : text)).meta({ type: 'string' })
}

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['no', false],
])

/** A switch: `true`, `1` or `yes`, `false`, `0` or `no`; anything else is `fallback`. */
export function flagParam(fallback: boolean) {
  return first
    .transform((text) => (text === undefined ? fallback : (WORDS.get(text) ?? fallback)))
    .meta({ type: 'boolean', default: fallback })
}

/** One of the listed words; anything else counts as not given. */
export function wordParam<const W extends string>(words: readonly W[]) {
  return first
    .transform((text) => words.find((word) => word === text))
    .meta({ type: 'string', enum: [...words] })
}

const ZONE = /(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})$/i
const ISO_DATE = /^[0-9]{4}(?:-[0-9]{2}){0,2}$/
const ISO_DATE_TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:/

/**
 * Reads a point in time: ISO-8601 or anything `Date` can read, in ms since 1970; undefined if unreadable.
 * A value without a zone is UTC (queue API section 1.4), where `Date` alone would take the machine's zone.
 */
export function timeOf(text: string | undefined): number | undefined {
  const value = text?.trim() ?? ''
  if (value === '') return undefined
  const zoned = ZONE.test(value) || ISO_DATE.test(value)
  const ms = Date.parse(zoned ? value : `${value}${ISO_DATE_TIME.test(value) ? 'Z' : ' UTC'}`)
  return Number.isNaN(ms) ? undefined : ms
}

/** A point in time in ms since 1970; unreadable counts as not given. */
export function timeParam() {
  return first.transform((text) => timeOf(text)).meta({ type: 'string', format: 'date-time' })
}
