import { isIP } from 'node:net'
import { z } from 'zod'
import { list } from './kinds.ts'
import type { Kind } from './variable.ts'

/** Whose `X-Forwarded-*` headers count: nobody's, those of so many hops, or those of these peers. */
export type TrustProxy = false | number | readonly string[]

/** Names that Express knows for ranges of addresses. */
const NAMED_RANGES = new Set(['loopback', 'linklocal', 'uniquelocal'])
const MAX_HOPS = 99

function isSubnet(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  if (bits === undefined) return true
  return /^[0-9]{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
}

function parse(text: string, context: z.RefinementCtx): TrustProxy {
  if (/^(?:false|0)$/i.test(text.trim())) return false
  if (/^[0-9]{1,2}$/.test(text) && Number(text) <= MAX_HOPS) return Number(text)
  const peers = list.schema.parse(text)
  if (peers.length > 0 && peers.every((peer) => NAMED_RANGES.has(peer) || isSubnet(peer))) {
    return peers
  }
  context.addIssue('not a proxy setting')
  return z.NEVER
}

/**
 * Express's `trust proxy` as a hop count or a list of addresses. `true` is refused: it would believe what
 * any client says of itself.
 */
export const trustProxy: Kind<TrustProxy> = {
  schema: z.string().transform(parse),
  accepts:
    'a number of proxy hops, or a comma-separated list of addresses, subnets, loopback, linklocal and uniquelocal (not true)',
}
