import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createTopicMatchers,
  finish,
  MatchCache,
  type Matcher,
  NO_GRANTS,
} from '../../src/access/index.ts'
import type { EventStream } from '../../src/hub/delivery/event-stream.ts'
import { type Subscriber, selects } from '../../src/hub/delivery/subscriber.ts'
import { SubscriberIndex } from '../../src/hub/delivery/subscriber-index.ts'
import { HUB_ID } from '../support/hub/config.ts'

const MATCHERS: readonly Matcher[] = [
  { type: 'exact', pattern: '*' },
  { type: 'urlpattern', pattern: '*' },
  { type: 'exact', pattern: 'a' },
  { type: 'exact', pattern: '/p/:x' },
  { type: 'exact', pattern: '__proto__' },
  { type: 'urlpattern', pattern: '/p/:x' },
  { type: 'urlpattern', pattern: '/p/1' },
  { type: 'urlpattern', pattern: '/*' },
  { type: 'urlpattern', pattern: 'https://shop.example/*' },
]
const TOPICS = ['a', '/p/1', '/p/2', '/p/:x', '__proto__', 'https://shop.example/z', 'urn:x:1']

const step = fc.oneof(
  fc.record({ add: fc.uniqueArray(fc.nat(MATCHERS.length - 1), { minLength: 1, maxLength: 4 }) }),
  fc.record({ remove: fc.nat(20) }),
  fc.record({ ask: fc.uniqueArray(fc.constantFrom(...TOPICS), { minLength: 1, maxLength: 3 }) }),
)

describe('the index of subscribers', () => {
  it.each([0, 1, 100])(
    'H35: finds exactly those that a look at everybody finds, with a cache of %s lists',
    (subscriberListCacheSize) => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          const { compile } = createTopicMatchers(HUB_ID, new MatchCache(10))
          const index = new SubscriberIndex({ compile, subscriberListCacheSize })
          const open: Subscriber[] = []
          for (const action of steps) {
            if ('add' in action) {
              const matchers = action.add.map((at) => index.compile(MATCHERS[at] as Matcher))
              const subscriber: Subscriber = {
                id: `${open.length}`,
                matchers,
                identity: { anonymous: true, grants: NO_GRANTS },
                // The index never looks at the stream.
                stream: {} as EventStream,
                liveAfter: 0,
                held: undefined,
              }
              index.add(subscriber)
              open.push(subscriber)
            } else if ('remove' in action) {
              const [gone] = open.splice(action.remove % Math.max(open.length, 1), 1)
              if (gone !== undefined) expect(index.remove(gone)).toBe(true)
              if (gone !== undefined) expect(index.remove(gone)).toBe(false)
            } else {
              const expected = open.filter((subscriber) => finish(selects(subscriber, action.ask)))
              expect(new Set(finish(index.recipients(action.ask)))).toEqual(new Set(expected))
            }
          }
          expect(index.all.size).toBe(open.length)
        }),
        { numRuns: 200 },
      )
    },
  )
})
