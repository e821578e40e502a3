import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { count, fails, time } from './values.ts'

/** POST /api/v1/lease/:leaseId/extend. Section 6.3. */
export const extendLease = operation({
  method: 'POST',
  path: '/api/v1/lease/:leaseId/extend',
  body: z.object({ seconds: z.number().nullish() }),
  bodyOptional: true,
  answers: {
    200: {
      about: 'An unknown or expired lease is `success: false` with null times.',
      json: z.strictObject({
        leaseId: z.string(),
        success: z.boolean(),
        renewed: count,
        newExpiresAt: time.nullable(),
        expiresAt: time.nullable(),
        lease_expires_at: time.nullable(),
      }),
    },
    400: fails('`seconds` is not a number.'),
  },
})
