import { z } from 'zod'
import { deviceName, herdId, herdIds } from './names.ts'

/** ISO-8601 UTC with milliseconds. */
const time = z.string()
const prefixes = z.array(z.string())
const kid = z.string()

/** A refusal. */
export const errorShape = z.strictObject({ error: z.string() })

/** A public JWK as it is served: an allow-list of members and nothing else. */
export const publicJwkShape = z.strictObject({
  kty: z.enum(['RSA', 'EC', 'OKP']),
  kid,
  alg: z.string(),
  use: z.literal('sig'),
  key_ops: z.array(z.literal('verify')),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
  n: z.string().optional(),
  e: z.string().optional(),
})

export const keySetShape = z.strictObject({ keys: z.array(publicJwkShape) })

/** What a token allows. */
export const claimsShape = z.strictObject({ root: z.string(), put: prefixes, get: prefixes })

export const mintBody = z.looseObject({ herd_ids: herdIds.optional() })
export const mintShape = z.strictObject({
  token: z.string(),
  expires_in: z.int(),
  expires_at: z.int(),
  kid,
  claims: claimsShape,
})

/** A row of `pubsub_jwt_public_keys`; `revoked_at` is null while the key is active. */
export const keyRowShape = z.strictObject({
  kid,
  jwk: publicJwkShape,
  created_at: time,
  revoked_at: time.nullable(),
})
export const activeKeyShape = z.strictObject({ kid, jwk: publicJwkShape, created_at: time })

export const noArguments = z.looseObject({})
export const upsertArguments = z.looseObject({
  kid: z.string(),
  jwk: z.looseObject({ kid: z.string().optional() }),
})
export const revokeArguments = z.looseObject({ kid: z.string() })
export const serviceArguments = z.looseObject({ herd_ids: herdIds })

export const herdBody = z.looseObject({ id: herdId })
export const herdShape = z.strictObject({ id: z.string(), created_at: time })
export const herdsShape = z.strictObject({ herds: z.array(herdShape) })

export const deviceBody = z.looseObject({ herd_id: herdId, name: deviceName })
export const deviceShape = z.strictObject({
  id: z.string(),
  herd_id: z.string(),
  name: z.string(),
  created_at: time,
})
export const devicesShape = z.strictObject({ devices: z.array(deviceShape) })
export const newDeviceShape = z.strictObject({
  id: z.string(),
  herd_id: z.string(),
  name: z.string(),
  api_key: z.string(),
})
export const rotatedDeviceShape = z.strictObject({ id: z.string(), api_key: z.string() })
