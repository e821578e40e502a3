import { z } from 'zod'
import type { Kind } from './variable.ts'

/** Any text, taken as it is. */
export const text: Kind<string> = { schema: z.string(), accepts: 'any text' }

/** `true`, `false`, `1` or `0` in any letter case. A typo must never read as "off". */
export const flag: Kind<boolean> = {
  schema: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['true', 'false', '1', '0']))
    .transform((word) => word === 'true' || word === '1'),
  accepts: 'true, false, 1 or 0',
}

/** A whole number in decimal digits, from `min` to `max`. No sign, exponent or fraction. */
export function integer(min: number, max: number): Kind<number> {
  return {
    schema: z
      .string()
      .regex(/^[0-9]{1,15}$/)
      .transform(Number)
      .pipe(z.number().int().min(min).max(max)),
    accepts: `a whole number from ${min} to ${max}`,
  }
}

/** Exactly one of the listed words, case-sensitive. An empty word only names what "unset" means. */
export function oneOf<const W extends string>(words: readonly W[]): Kind<W> {
  const named = words.filter((word) => word !== '')
  return { schema: z.string().pipe(z.enum(words)), accepts: `one of ${named.join(', ')}` }
}

/** A comma list; entries are trimmed and empty ones ignored. */
export const list: Kind<readonly string[]> = {
  schema: z.string().transform((value) =>
    Object.freeze(
      value
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    ),
  ),
  accepts: 'a comma-separated list',
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
/** setTimeout fires at once beyond 2^31-1 ms; a year is more than any setting here needs. */
const MAX_DURATION_MS = 366 * 24 * UNIT_MS.h

/** Reads a length of time in ms, as {@link duration} does; NaN for text of another form. */
export function durationMs(value: string): number {
  if (/^[0-9]+$/.test(value)) return Number(value) * UNIT_MS.s
  const parts = [...value.matchAll(/([0-9]+)(ms|s|m|h)/gy)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== value) return Number.NaN
  return parts.reduce((sum, [, count, unit]) => {
    return sum + Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]
  }, 0)
}

/** A length of time in ms: `500ms`, `40s`, `10m`, `1h30m`; a bare whole number means seconds, `0` switches off. */
export const duration: Kind<number> = {
  schema: z.string().transform(durationMs).pipe(z.number().int().min(0).max(MAX_DURATION_MS)),
  accepts: 'a duration such as 500ms, 40s, 10m or 1h30m (a bare number means seconds)',
}

/** An absolute `http:` or `https:` URL. */
export const httpUrl: Kind<string> = {
  schema: z
    .string()
    .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)),
  accepts: 'an absolute http:// or https:// URL',
}
