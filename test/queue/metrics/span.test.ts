import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bucketMinutes,
  bucketStart,
  mean,
  perSecond,
  spanOf,
} from '../../../src/queue/metrics/span.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const NOW = Date.UTC(2025, 5, 1, 12)

describe('the width of a bucket', () => {
  it.each([
    [0, 1],
    [HOUR, 1],
    [HOUR + 1, 5],
    [6 * HOUR, 5],
    [6 * HOUR + 1, 15],
    [DAY, 15],
    [DAY + 1, 60],
    [7 * DAY, 60],
    [7 * DAY + 1, 360],
    [400 * DAY, 360],
  ])('a span of %d ms has buckets of %d minutes', (length, minutes) => {
    expect(bucketMinutes(length)).toBe(minutes)
  })
})

describe('the span of a series', () => {
  it('is the last hour by default', () => {
    expect(spanOf({}, NOW)).toEqual({ fromMs: NOW - HOUR, toMs: NOW, bucketMinutes: 1 })
  })
  it('ends now when only the start is given', () => {
    expect(spanOf({ from: NOW - DAY }, NOW)).toEqual({
      fromMs: NOW - DAY,
      toMs: NOW,
      bucketMinutes: 15,
    })
  })
  it('begins an hour before its end when only the end is given', () => {
    expect(spanOf({ to: NOW - DAY }, NOW).fromMs).toBe(NOW - DAY - HOUR)
  })
  it('puts ends in the wrong order right', () => {
    expect(spanOf({ from: NOW, to: NOW - HOUR }, NOW)).toMatchObject({
      fromMs: NOW - HOUR,
      toMs: NOW,
    })
  })
  it('never ends before it begins', () => {
    fc.assert(
      fc.property(
        fc.option(fc.nat(), { nil: undefined }),
        fc.option(fc.nat(), { nil: undefined }),
        (from, to) => {
          const span = spanOf({ from, to }, NOW)
          return span.fromMs <= span.toMs
        },
      ),
    )
  })
})

describe('figures of a bucket', () => {
  it('a bucket starts at a whole multiple of its width', () => {
    expect(bucketStart(NOW + 7 * MINUTE + 3, 5)).toBe(NOW + 5 * MINUTE)
  })
  it('a rate is per second, to a thousandth', () => {
    expect(perSecond(100, 1)).toBe(1.667)
  })
  it('the mean of nothing is zero', () => {
    expect([mean(5, 0), mean(10, 4)]).toEqual([0, 2.5])
  })
})
