import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AckCursor,
  type AckPolicy,
  type AckSignal,
  decideAck,
} from '../../../src/queue/engine/ack-rules.ts'
import type { AckStatus } from '../../../src/queue/model.ts'

const POLICY: AckPolicy = { retryLimit: 3, deadLetter: true }
const LEASED: AckCursor = { position: 0, leaseEnd: 5, retryCount: 0 }

function signal(position: number, status: AckStatus = 'completed'): AckSignal {
  return { status, positions: [position] }
}

describe('the worked example of queue API 6.2: batch 1 to 5 leased, cursor 0', () => {
  const at3: AckCursor = { position: 3, leaseEnd: 5, retryCount: 0 }

  test('ack 3 completed moves the cursor to 3 and keeps the lease', () => {
    expect(decideAck(LEASED, [signal(3)], POLICY)).toMatchObject({ position: 3, leaseEnds: false })
  })

  test('ack 1 completed behind the cursor is a noop', () => {
    const decision = decideAck(at3, [signal(1)], POLICY)
    expect(decision).toMatchObject({ position: 3, leaseEnds: false })
    expect(decision.verdicts).toEqual([{ failure: null, noop: true, dlq: false }])
  })

  test('ack 1 failed behind the cursor is already committed', () => {
    const decision = decideAck(at3, [signal(1, 'failed')], POLICY)
    expect(decision).toMatchObject({ position: 3, leaseEnds: false, retryCount: 0, failed: false })
    expect(decision.verdicts).toEqual([{ failure: 'committed', noop: false, dlq: false }])
  })

  test('ack 4 failed ends the lease with count 1 and leaves the cursor', () => {
    const decision = decideAck(at3, [signal(4, 'failed')], POLICY)
    expect(decision).toMatchObject({ position: 3, leaseEnds: true, retryCount: 1, givenUp: null })
  })

  test('of a new batch 4 to 5, 4 completed and 5 failed commits 4 with count 2', () => {
    const cursor = { position: 3, leaseEnd: 5, retryCount: 1 }
    const decision = decideAck(cursor, [signal(4), signal(5, 'failed')], POLICY)
    expect(decision).toMatchObject({ position: 4, leaseEnds: true, retryCount: 2, givenUp: null })
  })

  test('ack 5 dlq moves past 5 with count 0 and files it', () => {
    const cursor = { position: 4, leaseEnd: 5, retryCount: 2 }
    const decision = decideAck(cursor, [signal(5, 'dlq')], POLICY)
    expect(decision).toMatchObject({
      position: 5,
      leaseEnds: true,
      retryCount: 0,
      givenUp: { position: 5, deadLetter: true },
    })
    expect(decision.verdicts[0]).toMatchObject({ dlq: true })
  })
})

describe('resolving transaction ids', () => {
  test('an id with no stored position is not found', () => {
    const decision = decideAck(LEASED, [{ status: 'completed', positions: [] }], POLICY)
    expect(decision.verdicts[0]?.failure).toBe('not_found')
  })

  test('a position behind the leased span is not found', () => {
    const decision = decideAck(LEASED, [signal(6)], POLICY)
    expect(decision).toMatchObject({ position: 0, leaseEnds: false })
    expect(decision.verdicts[0]?.failure).toBe('not_found')
  })

  test('without a lease any position above the cursor is eligible', () => {
    const decision = decideAck({ ...LEASED, leaseEnd: null }, [signal(9)], POLICY)
    expect(decision).toMatchObject({ position: 9, leaseEnds: false })
    expect(decision.verdicts[0]).toEqual({ failure: null, noop: false, dlq: false })
  })

  test('an id used twice means its message inside the leased span', () => {
    const cursor = { position: 3, leaseEnd: 5, retryCount: 0 }
    const decision = decideAck(cursor, [{ status: 'completed', positions: [2, 4, 8] }], POLICY)
    expect(decision.position).toBe(4)
  })
})

describe('the head and the commit point', () => {
  test('acking only the last message completes the batch', () => {
    const cursor = { ...LEASED, retryCount: 2 }
    const decision = decideAck(cursor, [signal(5)], POLICY)
    expect(decision).toMatchObject({ position: 5, leaseEnds: true, batchDone: true, retryCount: 0 })
  })

  test('completed messages above the head are not committed and report success', () => {
    const decision = decideAck(LEASED, [signal(1), signal(2, 'retry'), signal(5)], POLICY)
    expect(decision).toMatchObject({ position: 1, leaseEnds: true })
    expect(decision.verdicts.every(({ failure }) => failure === null)).toBe(true)
  })

  test('the lowest negative signal is the head whatever the order of the signals', () => {
    const decision = decideAck(LEASED, [signal(4, 'dlq'), signal(2, 'retry')], POLICY)
    expect(decision).toMatchObject({ position: 0, givenUp: null, retryCount: 0 })
  })

  test.each([
    ['dlq beats failed', ['failed', 'dlq'], { givenUp: { position: 2, deadLetter: true } }],
    ['failed beats retry', ['retry', 'failed'], { retryCount: 1 }],
    ['retry beats completed', ['completed', 'retry'], { retryCount: 0, position: 0 }],
  ] as const)('at one position %s', (_, statuses, expected) => {
    for (const order of [statuses, statuses.toReversed()]) {
      const signals = order.map((status) => signal(2, status))
      expect(decideAck(LEASED, signals, POLICY)).toMatchObject({ leaseEnds: true, ...expected })
    }
  })

  test('several failures in one call count once', () => {
    const signals = [1, 2, 3, 4, 5].map((position) => signal(position, 'failed'))
    expect(decideAck(LEASED, signals, POLICY)).toMatchObject({ position: 0, retryCount: 1 })
  })
})

describe('what the head does', () => {
  test('retry ends the lease and leaves the count', () => {
    const cursor = { ...LEASED, retryCount: 3 }
    const decision = decideAck(cursor, [signal(1, 'retry')], POLICY)
    expect(decision).toMatchObject({ leaseEnds: true, retryCount: 3, failed: false, givenUp: null })
  })

  test.each([
    [0, 0, true],
    [1, 0, false],
    [1, 1, true],
    [3, 2, false],
    [3, 3, true],
  ])(
    'with retryLimit %i and count %i a failure gives up: %s',
    (retryLimit, retryCount, givesUp) => {
      const cursor = { ...LEASED, retryCount }
      const decision = decideAck(cursor, [signal(1, 'failed')], { retryLimit, deadLetter: true })
      expect(decision.givenUp !== null).toBe(givesUp)
      expect(decision.retryCount).toBe(givesUp ? 0 : retryCount + 1)
      expect(decision.position).toBe(givesUp ? 1 : 0)
    },
  )

  test('an exhausted message is dropped when both flags are off', () => {
    const policy = { retryLimit: 0, deadLetter: false }
    const decision = decideAck(LEASED, [signal(1, 'failed')], policy)
    expect(decision).toMatchObject({
      position: 1,
      leaseEnds: true,
      givenUp: { position: 1, deadLetter: false },
    })
    expect(decision.verdicts[0]).toEqual({ failure: null, noop: false, dlq: false })
  })

  test('dlq files the message whatever the count and the flags', () => {
    const decision = decideAck(LEASED, [signal(1, 'dlq')], { retryLimit: 9, deadLetter: false })
    expect(decision.givenUp).toEqual({ position: 1, deadLetter: true })
  })

  test('without a lease on record a negative head changes nothing beyond the commit point', () => {
    const cursor = { position: 0, leaseEnd: null, retryCount: 1 }
    const decision = decideAck(cursor, [signal(1), signal(2, 'failed'), signal(3)], POLICY)
    expect(decision).toMatchObject({ position: 1, retryCount: 1, leaseEnds: false, givenUp: null })
  })
})

/** The rules once more, position by position and without any shared code. */
function naive(cursor: AckCursor, signals: readonly AckSignal[], policy: AckPolicy) {
  const end = cursor.leaseEnd ?? 1000
  const marks = new Map<number, AckStatus[]>()
  for (const { status, positions } of signals) {
    const at = positions.filter((p) => p > cursor.position && p <= end).sort((a, b) => a - b)[0]
    if (at !== undefined) marks.set(at, [...(marks.get(at) ?? []), status])
  }
  let position = cursor.position
  for (let at = cursor.position + 1; at <= 1000; at += 1) {
    const here = marks.get(at) ?? []
    const worst = (['dlq', 'failed', 'retry'] as const).find((status) => here.includes(status))
    if (worst === undefined) {
      if (here.includes('completed')) position = at
      continue
    }
    if (cursor.leaseEnd === null) return { position, lease: 'as before', count: cursor.retryCount }
    if (worst === 'retry') return { position, lease: 'ends', count: cursor.retryCount }
    if (worst === 'failed' && cursor.retryCount < policy.retryLimit) {
      return { position, lease: 'ends', count: cursor.retryCount + 1 }
    }
    return { position: at, lease: 'ends', count: 0 }
  }
  if (cursor.leaseEnd !== null && position >= cursor.leaseEnd) {
    return { position, lease: 'ends', count: 0 }
  }
  return { position, lease: 'as before', count: cursor.retryCount }
}

describe('any signals on any cursor', () => {
  const status = fc.constantFrom<AckStatus>('completed', 'failed', 'retry', 'dlq')
  const signals = fc.array(
    fc.record({
      status,
      positions: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 2 }),
    }),
    { maxLength: 8 },
  )
  const cursors = fc
    .record({
      position: fc.integer({ min: 0, max: 8 }),
      span: fc.option(fc.integer({ min: 1, max: 5 })),
      retryCount: fc.integer({ min: 0, max: 3 }),
    })
    .map(({ position, span, retryCount }) => {
      return { position, leaseEnd: span === null ? null : position + span, retryCount }
    })
  const policies = fc.record({
    retryLimit: fc.integer({ min: 0, max: 3 }),
    deadLetter: fc.boolean(),
  })

  test('the decision is that of a naive walk over the positions', () => {
    fc.assert(
      fc.property(cursors, signals, policies, (cursor, given, policy) => {
        const decision = decideAck(cursor, given, policy)
        const expected = naive(cursor, given, policy)
        expect(decision.position).toBe(expected.position)
        expect(decision.leaseEnds).toBe(expected.lease === 'ends')
        expect(decision.retryCount).toBe(expected.count)
        expect(decision.verdicts).toHaveLength(given.length)
      }),
      { numRuns: 5000 },
    )
  })

  test('the cursor never moves back, and never past a signal that was not given', () => {
    fc.assert(
      fc.property(cursors, signals, policies, (cursor, given, policy) => {
        const { position } = decideAck(cursor, given, policy)
        expect(position).toBeGreaterThanOrEqual(cursor.position)
        const named = given.flatMap(({ positions }) => positions)
        expect([cursor.position, ...named]).toContain(position)
      }),
      { numRuns: 2000 },
    )
  })
})
