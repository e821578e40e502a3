import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { closingTime, startAlarm } from '../../src/hub/delivery/deadline.ts'

const OFF = { writeTimeoutMs: 0, dispatchTimeoutMs: 0, expiresAtMs: undefined }
const NOW = 1_800_000_000_000

describe('when a stream is closed', () => {
  it('is never, with all timers off and no token', () => {
    expect(closingTime(OFF, NOW, 0.5)).toBeUndefined()
  })

  it.each([
    [0, 480_000],
    [0.5, 540_000],
    [1, 600_000],
  ])('row 36: the write timeout is drawn between 80 and 100 %% (%s)', (random, life) => {
    expect(closingTime({ ...OFF, writeTimeoutMs: 600_000 }, NOW, random)).toBe(NOW + life)
  })

  it('row 35: is exp at the latest, with all timers off', () => {
    expect(closingTime({ ...OFF, expiresAtMs: NOW + 2000 }, NOW, 1)).toBe(NOW + 2000)
  })

  it('is the earlier of the two', () => {
    const both = { ...OFF, writeTimeoutMs: 600_000, expiresAtMs: NOW + 500_000 }
    expect(closingTime(both, NOW, 1)).toBe(NOW + 500_000)
    expect(closingTime(both, NOW, 0)).toBe(NOW + 480_000)
  })

  it('is one dispatch timeout before the deadline, to end in order', () => {
    const lifetime = { ...OFF, dispatchTimeoutMs: 5000, expiresAtMs: NOW + 60_000 }
    expect(closingTime(lifetime, NOW, 1)).toBe(NOW + 55_000)
  })

  it('H28: a token with less life left than the dispatch timeout gets all of it', () => {
    const lifetime = { ...OFF, dispatchTimeoutMs: 5000, expiresAtMs: NOW + 3000 }
    expect(closingTime(lifetime, NOW, 1)).toBe(NOW + 3000)
  })
})

describe('an alarm', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: NOW })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('rings at its moment even when it is farther away than a timer can count', () => {
    const ring = vi.fn()
    const in2100 = 4_102_444_800_000
    startAlarm(in2100, Date.now, ring)
    vi.advanceTimersByTime(2 ** 31)
    expect(ring).not.toHaveBeenCalled()
    vi.advanceTimersByTime(in2100 - Date.now() - 1)
    expect(ring).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(ring).toHaveBeenCalledTimes(1)
  })

  it('rings at once for a moment that has passed', () => {
    const ring = vi.fn()
    startAlarm(NOW - 5, Date.now, ring)
    vi.advanceTimersByTime(0)
    expect(ring).toHaveBeenCalledTimes(1)
  })

  it('does not ring after it was called off, and leaves no timer behind', () => {
    const ring = vi.fn()
    startAlarm(4_102_444_800_000, Date.now, ring)()
    expect(vi.getTimerCount()).toBe(0)
  })
})
