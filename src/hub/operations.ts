import { z } from 'zod'
import { MERCURE_DETAIL_TYPE } from '../access/index.ts'
import { type Answer, type Operation, operation } from '../http/index.ts'
import { HUB_PATH, METADATA_PATH } from './reserved.ts'
import { SUBSCRIPTIONS_PATH } from './subscriptions.ts'

const TEXT = 'text/plain; charset=utf-8'

const refusals = {
  400: { about: 'The request or the way its token came is malformed.', text: TEXT },
  401: { about: 'No token, or one that is not valid; RFC 6750 challenge.', text: TEXT },
  403: { about: 'The token does not grant this.', text: TEXT },
  421: { about: 'This origin is not served.', text: TEXT },
} as const satisfies Record<number, Answer>

const subscription = z.strictObject({
  id: z.string(),
  type: z.literal('subscription'),
  subscriber: z.string(),
  match: z.string(),
  match_type: z.enum(['exact', 'urlpattern']),
  active: z.boolean(),
  payload: z.unknown().optional(),
})

const collection = z.strictObject({
  id: z.string(),
  type: z.literal('subscriptions'),
  subscriptions: z.array(subscription),
})

const selection = z.object({
  match: z.string().optional(),
  match_exact: z.string().optional(),
  match_urlpattern: z.string().optional(),
  last_event_id: z.string().optional(),
})

const publication = z.object({
  topic: z.array(z.string()).min(1),
  data: z.string().optional(),
  private: z.string().optional(),
  id: z.string().optional(),
  type: z.string().optional(),
  retry: z.string().optional(),
})

const stream = {
  200: { about: 'The event stream, which stays open.', text: 'text/event-stream' },
  ...refusals,
  503: { about: 'The hub is closing, or its history cannot be read.', text: TEXT },
} as const satisfies Record<number, Answer>

const notModified = { about: 'Nothing has changed since that entity tag.' }

/** What the hub's routes take and answer, for the API document; the levels are in the route table. */
export const HUB_OPERATIONS: readonly Operation[] = [
  operation({ method: 'GET', path: HUB_PATH, query: selection, answers: stream }),
  operation({ method: 'QUERY', path: HUB_PATH, form: selection, answers: stream }),
  operation({
    method: 'POST',
    path: HUB_PATH,
    form: publication,
    answers: {
      200: { about: 'The id of the update, which is stored.', text: TEXT },
      ...refusals,
      413: { about: 'The body is too large, or it has too many topics.', text: TEXT },
      415: { about: 'The body has a content coding.', text: TEXT },
      500: { about: 'The update could not be stored.', text: TEXT },
    },
  }),
  operation({
    method: 'GET',
    path: METADATA_PATH,
    answers: {
      200: {
        about: 'Protected resource metadata (RFC 9728).',
        json: z.strictObject({
          resource: z.string(),
          bearer_methods_supported: z.tuple([z.literal('header')]),
          authorization_servers: z.array(z.string()).optional(),
          authorization_details_types_supported: z.tuple([z.literal(MERCURE_DETAIL_TYPE)]),
          mercure_cookie: z.string(),
          mercure_subscriptions: z.literal(true).optional(),
        }),
      },
    },
  }),
  ...['', '/:match_type/:match'].map((rest) =>
    operation({
      method: 'GET',
      path: `${SUBSCRIPTIONS_PATH}${rest}`,
      answers: {
        200: { about: 'Active subscriptions.', json: collection },
        304: notModified,
        ...refusals,
      },
    }),
  ),
  operation({
    method: 'GET',
    path: `${SUBSCRIPTIONS_PATH}/:match_type/:match/:subscriber`,
    answers: {
      200: { about: 'One active subscription.', json: subscription },
      304: notModified,
      ...refusals,
      404: { about: 'No such subscription is active.', text: TEXT },
    },
  }),
]
