import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  fromWire,
  pushAnswerRow,
  pushResults,
  toWire,
} from '../../../../src/queue/stores/sqlite/wire.ts'

const maybe = fc.option(fc.string())
const item = fc.record({
  queue: fc.string(),
  partition: fc.string(),
  payload: fc.string(),
  transactionId: maybe,
  traceId: maybe,
  namespace: maybe,
  task: maybe,
})
const args = fc.record({ items: fc.array(item), producerSub: maybe, nowUs: fc.nat() })
const result = fc.oneof(
  fc.record({
    status: fc.constantFrom('queued' as const, 'duplicate' as const),
    transactionId: fc.string(),
    messageId: fc.string(),
    partitionId: fc.string(),
  }),
  fc.record({
    status: fc.constant('buffered' as const),
    transactionId: fc.string(),
    messageId: fc.string(),
    partitionId: fc.constant(null),
  }),
)

describe('a push that crosses the thread', () => {
  test('arrives as it was sent, whatever its texts', () => {
    fc.assert(
      fc.property(args, (push) => {
        const op = { kind: 'push', args: push } as const
        expect(fromWire(structuredClone(toWire(op)))).toEqual(op)
      }),
    )
  })

  test('is answered item by item', () => {
    fc.assert(
      fc.property(fc.array(result), (results) => {
        expect(pushResults(structuredClone(pushAnswerRow(results)))).toEqual(results)
      }),
    )
  })

  test('is the only write that changes its form', () => {
    const op = { kind: 'deleteQueue', args: { queue: 'q', nowUs: 1 } } as const
    expect(toWire(op)).toBe(op)
    expect(fromWire(op)).toBe(op)
  })
})
