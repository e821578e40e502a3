import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ReplayLoop, type ReplayStep, unlessRefused } from '../../src/queue/replay-loop.ts'
import { StoreFailedError, StoreUnavailableError } from '../../src/storage/index.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A loop whose steps come out as listed, then `done`. */
function loopOf(...outcomes: readonly (ReplayStep | Error)[]) {
  const left = [...outcomes]
  const errors: unknown[] = []
  const seen = { steps: 0 }
  const loop = new ReplayLoop(
    async () => {
      seen.steps += 1
      const outcome = left.shift() ?? 'done'
      if (outcome instanceof Error) throw outcome
      return outcome
    },
    (error) => errors.push(error),
  )
  return { loop, errors, seen }
}

const away = () => new StoreUnavailableError()
const broken = () => new StoreFailedError('the disk')

test('it goes on until all is done, and looks again when it is told to', async () => {
  const { loop, seen } = loopOf('more', 'more', 'done')
  loop.kick()
  await vi.advanceTimersByTimeAsync(0)
  expect(seen.steps).toBe(3)
  loop.kick()
  await vi.advanceTimersByTimeAsync(0)
  expect(seen.steps).toBe(4)
})

test('an outage is told of once and tried again soon; it is over with the first step that works', async () => {
  const { loop, errors, seen } = loopOf(away(), away(), away(), 'more', away(), 'done')
  loop.kick()
  await vi.advanceTimersByTimeAsync(600)
  expect([seen.steps, errors.length, loop.away, loop.failing]).toEqual([3, 1, true, false])
  await vi.advanceTimersByTimeAsync(250)
  expect([seen.steps, errors.length]).toEqual([5, 2])
  await vi.advanceTimersByTimeAsync(250)
  expect([seen.steps, loop.away]).toEqual([6, false])
})

test('what is no outage is told of every time, and tried again with growing pauses', async () => {
  const { loop, errors, seen } = loopOf(...Array.from({ length: 100 }, broken))
  loop.kick()
  await vi.advanceTimersByTimeAsync(600_000)
  // 1, 2, 4, 8, 16 s, then every 30 s; up to half of each pause is taken off.
  expect(seen.steps).toBeGreaterThan(20)
  expect(seen.steps).toBeLessThan(50)
  expect([errors.length, loop.failing, loop.away]).toEqual([seen.steps, true, false])
})

test('a pause is not cut short by more work, and ends when it is stopped', async () => {
  const { loop, seen } = loopOf('held')
  loop.kick()
  await vi.advanceTimersByTimeAsync(100)
  loop.kick()
  await vi.advanceTimersByTimeAsync(100)
  expect(seen.steps).toBe(1)
  await loop.stop()
  loop.kick()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(seen.steps).toBe(1)
})

test('only what the store refuses for good is tried in another way', async () => {
  const other = vi.fn(async () => 'other')
  expect(await unlessRefused(() => Promise.reject(broken()), other)).toBe('other')
  expect(await unlessRefused(async () => 'first', other)).toBe('first')
  await expect(unlessRefused(() => Promise.reject(away()), other)).rejects.toThrow('not available')
  expect(other).toHaveBeenCalledTimes(1)
})
