import { z } from 'zod'
import { operation } from '../../http/operation.ts'

const named = { id: z.string(), slug: z.string() } as const

/** GET /auth/me: who a dashboard is. Section 14. */
export const whoAmI = operation({
  method: 'GET',
  path: '/auth/me',
  answers: {
    200: {
      about: 'Tokens are off: the one operator there is.',
      json: z.strictObject({
        user_id: z.literal('standalone'),
        email: z.null(),
        tenant_slug: z.string(),
        is_operator: z.literal(true),
        operator_enabled: z.literal(true),
        operator_live: z.literal(true),
        acting_cluster: z.strictObject(named),
        clusters: z.array(
          z.strictObject({
            ...named,
            role: z.literal('admin'),
            tenant_slug: z.string(),
            tenant_id: z.string(),
            status: z.literal('active'),
            cell_slug: z.string(),
          }),
        ),
        act_cluster_header: z.string(),
        role: z.literal('admin'),
        cluster: z.null(),
        standalone: z.literal(true),
      }),
    },
    401: {
      about: 'Tokens are on, whatever the token: there are no browser sessions.',
      json: z.strictObject({ error: z.literal('auth_required'), code: z.literal('auth_required') }),
    },
  },
})

/** GET /auth/login. */
export const logIn = operation({
  method: 'GET',
  path: '/auth/login',
  answers: {
    200: { about: 'Tokens are on: a page that explains where to log in.', text: 'text/html' },
    303: { about: 'Tokens are off: on to the start page.' },
  },
})

/** POST /auth/logout. */
export const logOut = operation({
  method: 'POST',
  path: '/auth/logout',
  answers: { 200: { about: 'Always.', json: z.strictObject({ ok: z.literal(true) }) } },
})
