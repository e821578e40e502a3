import { z } from 'zod'
import { isUnder } from './paths-prefix.ts'

/** What a bearer may do on a path: publish (`put`) or subscribe (`get`); neither implies the other. */
export type PathAction = 'put' | 'get'

/** The claims of a path-prefix token after a check (seed "Pub/sub tokens": Claims). */
export interface PrefixClaims {
  /** Base namespace; the prefixes are relative to it. */
  readonly root: string
  readonly put: readonly string[]
  readonly get: readonly string[]
  /** Seconds since the epoch. */
  readonly iat?: number
  /** Seconds since the epoch; absent only in tokens that were not minted here. */
  readonly exp?: number
}

const prefixes = z.union([z.string(), z.array(z.string())])

const claimsSchema = z
  .object({
    root: z.string(),
    put: prefixes.optional(),
    get: prefixes.optional(),
    iat: z.number().optional(),
    exp: z.number().optional(),
  })
  .refine((claims) => claims.put !== undefined || claims.get !== undefined)

/**
 * Reads the claims of a path-prefix token. Undefined when `root` is missing, both `put` and `get` are,
 * or one of them has the wrong type: such a token grants nothing and counts as invalid.
 */
export function readPrefixClaims(payload: unknown): PrefixClaims | undefined {
  const parsed = claimsSchema.safeParse(payload)
  if (!parsed.success) return undefined
  const { root, put = [], get = [], iat, exp } = parsed.data
  return {
    root,
    put: typeof put === 'string' ? [put] : put,
    get: typeof get === 'string' ? [get] : get,
    ...(iat === undefined ? {} : { iat }),
    ...(exp === undefined ? {} : { exp }),
  }
}

/** True when the claims open `path` for the action. The path is percent-encoded, as in a URL. */
export function allowsPath(claims: PrefixClaims, action: PathAction, path: string): boolean {
  return isUnder(claims.root, claims[action], path)
}
