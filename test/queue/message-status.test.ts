import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ConsumerView,
  type PartitionView,
  statusAt,
  statusRuns,
} from '../../src/queue/message-status.ts'

const free = (position: number): ConsumerView => ({ position, leaseEnd: null })
const leased = (position: number, leaseEnd: number): ConsumerView => ({ position, leaseEnd })

describe('the status of a message', () => {
  it.each([
    [
      'a dead letter is dead_letter whatever else holds',
      { queueMode: free(9), groups: [] },
      true,
      'dead_letter',
    ],
    ['nobody consumes: pending', { queueMode: null, groups: [] }, false, 'pending'],
    [
      'all groups have passed it: completed',
      { queueMode: null, groups: [free(5), free(7)] },
      false,
      'completed',
    ],
    [
      'one group has not: pending',
      { queueMode: null, groups: [free(5), free(4)] },
      false,
      'pending',
    ],
    [
      'queue mode has passed it: completed',
      { queueMode: free(5), groups: [free(0)] },
      false,
      'completed',
    ],
    [
      'queue mode has not, all groups have: pending',
      { queueMode: free(4), groups: [free(9)] },
      false,
      'pending',
    ],
    [
      'in a live lease of queue mode: processing',
      { queueMode: leased(4, 5), groups: [] },
      false,
      'processing',
    ],
    [
      'in a live lease of a group: processing',
      { queueMode: free(0), groups: [leased(4, 9)] },
      false,
      'processing',
    ],
    ['behind a lease: pending', { queueMode: leased(0, 4), groups: [] }, false, 'pending'],
  ] as const)('%s', (_name, view, dead, status) => {
    expect(statusAt(view, 5, dead)).toBe(status)
  })

  it('runs of positions agree with the status of each position', () => {
    const consumer = fc
      .tuple(fc.integer({ min: 0, max: 12 }), fc.option(fc.integer({ min: 1, max: 5 })))
      .map(([position, length]) => ({
        position,
        leaseEnd: length === null ? null : position + length,
      }))
    const views: fc.Arbitrary<PartitionView> = fc.record({
      queueMode: fc.option(consumer),
      groups: fc.array(consumer, { maxLength: 3 }),
    })
    fc.assert(
      fc.property(views, fc.integer({ min: 1, max: 8 }), fc.nat(10), (view, first, length) => {
        const last = first + length
        const runs = statusRuns(view, first, last)
        const spelled = runs.flatMap((run) =>
          Array.from({ length: run.to - run.from + 1 }, (_, at) => [run.from + at, run.status]),
        )
        const wanted = Array.from({ length: length + 1 }, (_, at) => [
          first + at,
          statusAt(view, first + at, false),
        ])
        expect(spelled).toEqual(wanted)
      }),
    )
  })
})
