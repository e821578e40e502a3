import { z } from 'zod'
import { HUB_ALGORITHMS, type HubAlgorithm } from './hub-types.ts'
import { list } from './kinds.ts'
import type { Kind } from './variable.ts'

/** Scheme, `//` and something behind it: what the URL parser alone would not insist on. */
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/[^\s]+$/i

function hasHost(value: string): boolean {
  return ABSOLUTE.test(value) && (URL.parse(value)?.host ?? '') !== ''
}

/**
 * The hub's resource identifier (RFC 8707 section 2): an absolute URL with a host and without a fragment, kept as
 * it is written, because `aud` is compared with it as text.
 */
export const resourceIdentifier: Kind<string> = {
  schema: z.string().refine((value) => hasHost(value) && !value.includes('#')),
  accepts: 'an absolute URL with a host and without a fragment',
}

/** Scheme, host and port of a URL in normal form; the rest of the URL does not count. */
function originOf(value: string): string {
  const { protocol, host } = new URL(value)
  return `${protocol}//${host.toLowerCase()}`
}

/** A comma list of public URLs, reduced to their origins. */
export const publicOrigins: Kind<readonly string[]> = {
  schema: list.schema.pipe(
    z.array(z.string().refine(hasHost)).transform((urls) => Object.freeze(urls.map(originOf))),
  ),
  accepts: 'a comma-separated list of absolute URLs with a host',
}

/** An origin with at most one star. A path, even a lone `/`, a query, a fragment or a user part is none. */
const ORIGIN_PATTERN =
  /^[a-z][a-z0-9+.-]*:\/\/(?:\[[0-9a-f:]+\]|[^\s/?#@:*,\\]*\*?[^\s/?#@:*,\\]*)(?::(?:[0-9]+|\*))?$/

function isOriginPattern(value: string): boolean {
  if (value === '*' || value === 'null') return true
  const authority = value.slice(value.indexOf('://') + 3)
  const stars = value.split('*').length - 1
  return ORIGIN_PATTERN.test(value) && stars <= 1 && authority !== '' && !authority.startsWith(':')
}

/** A comma list of origins as browsers send them, in lower case. */
export const originList: Kind<readonly string[]> = {
  schema: list.schema.pipe(
    z
      .array(z.string().toLowerCase().refine(isOriginPattern))
      .transform((origins) => Object.freeze(origins)),
  ),
  accepts: 'a comma-separated list of *, null or origins such as https://*.example.com:8443',
}

/** A cookie name: a token of RFC 6265 section 4.1.1. */
export const cookieName: Kind<string> = {
  schema: z.string().regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/),
  accepts: 'a cookie name (letters, digits and -._~ and the like, no spaces)',
}

const UNIT_BYTES: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1000,
  kib: 1024,
  mb: 1_000_000,
  mib: 1_048_576,
  gb: 1_000_000_000,
  gib: 1_073_741_824,
}
const MAX_SIZE_BYTES = 1_073_741_824

/** A number of bytes: `1048576`, `1MiB`, `64KB`; `0` switches off. */
export const byteSize: Kind<number> = {
  schema: z
    .string()
    .regex(/^[0-9]{1,10}(?:[KMG]i?B|B)?$/i)
    .transform((value) => {
      const unit = value.replace(/^[0-9]+/, '').toLowerCase()
      return Number.parseInt(value, 10) * (UNIT_BYTES[unit] ?? Number.NaN)
    })
    .pipe(z.number().int().max(MAX_SIZE_BYTES)),
  accepts: 'a size such as 1MiB, 500KB or a number of bytes, at most 1GiB',
}

/** A probability from 0 to 1. */
export const probability: Kind<number> = {
  schema: z
    .string()
    .regex(/^(?:[0-9]+|[0-9]*\.[0-9]+)$/)
    .transform(Number)
    .pipe(z.number().max(1)),
  accepts: 'a number from 0 to 1',
}

/** The size of a cache; 0 and less mean none. */
export const cacheSize: Kind<number> = {
  schema: z
    .string()
    .regex(/^-?[0-9]{1,8}$/)
    .transform((value) => Math.max(0, Number(value))),
  accepts: 'a whole number of at most 8 digits; 0 or less for no cache',
}

/** A comma list of algorithm names. */
export const algorithmList: Kind<readonly HubAlgorithm[]> = {
  schema: list.schema.pipe(
    z.array(z.enum(HUB_ALGORITHMS)).transform((names) => Object.freeze(names)),
  ),
  accepts: `a comma-separated list of ${HUB_ALGORITHMS.join(', ')}`,
}
