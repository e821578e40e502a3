import {
  type Action,
  type Grants,
  grantsBy,
  grantsOfPrefixes,
  verifyPrefixToken,
} from '../access/index.ts'
import type { TokenBearer, TokenDialect } from '../hub/index.ts'
import { fits, type KeySource, type PublicJwk, verificationKeyOf } from '../keys/index.ts'

/** Public keys by `kid`, such as the register of the issuer. */
export interface KeyRegister extends KeySource {
  /** The public JWK of an active key. */
  find(kid: string): PublicJwk | undefined
}

/** A register that holds these keys and never another. */
export function fixedKeys(jwks: readonly PublicJwk[]): KeyRegister {
  const byKid = new Map(jwks.map((jwk) => [jwk.kid, jwk]))
  return {
    about: 'fixed public keys',
    find: (kid) => byKid.get(kid),
    candidates(request) {
      const jwk = byKid.get(request.kid ?? '')
      const key = jwk && verificationKeyOf(jwk)
      return key && fits(key, request) ? [key] : []
    },
    onChange: () => () => {},
    close() {},
  }
}

/** Path-prefix tokens as the hub's second dialect, and which key each of its bearers came with. */
export interface PubsubDialect extends TokenDialect {
  /** The `kid` of a bearer's token; undefined for bearers of another dialect. */
  kidOf(bearer: object): string | undefined
}

/**
 * Grants that end with their key. Streams are closed when a key is revoked; a stream that is just being opened
 * at that moment would escape that, so the key is asked about at every decision too.
 */
function whileActive(grants: Grants, isActive: () => boolean): Grants {
  const { details, payloadFor } = grants
  return grantsBy({
    details,
    *covers(action: Action, topic: string) {
      yield 1
      return isActive() && grants.allows(action, topic)
    },
    payloadFor,
  })
}

/**
 * Reads path-prefix tokens for the hub (token issuing, 1.7; design, "Dialects on the hub"): `exp` and an active
 * `kid` are needed, `put` publishes, `get` subscribes.
 */
export function pubsubDialect(registry: KeyRegister, clock: { now(): number }): PubsubDialect {
  const rules = { keys: registry, clock, requireKid: true, requireExp: true }
  const kids = new WeakMap<object, string>()
  return {
    kidOf: (bearer) => kids.get(bearer),
    async verify(compact) {
      const { claims, kid = '' } = await verifyPrefixToken(compact, rules)
      const grants = whileActive(grantsOfPrefixes(claims), () => registry.find(kid) !== undefined)
      const bearer: TokenBearer = {
        anonymous: false,
        grants,
        claims: { ...claims },
        expiresAtMs: (claims.exp ?? 0) * 1000,
      }
      kids.set(bearer, kid)
      return bearer
    },
  }
}
