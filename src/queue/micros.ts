import { timeOf } from '../http/query.ts'

/** Digits of a second beyond the millisecond, which `Date` cuts off but messages carry. */
const MICRO_DIGITS = /[.,][0-9]{3}([0-9]{1,3})/

/**
 * A point in time in µs since 1970, kept inside the numbers that every store takes exactly (1970 to 2255):
 * no message lies outside. Undefined if the text is unreadable.
 */
export function microsOf(text: string | null | undefined): number | undefined {
  const ms = timeOf(text ?? undefined)
  if (ms === undefined) return undefined
  const micros = Number((MICRO_DIGITS.exec(text ?? '')?.[1] ?? '').padEnd(3, '0'))
  return Math.min(Math.max(ms * 1000 + micros, 0), Number.MAX_SAFE_INTEGER)
}
