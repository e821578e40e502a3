import { describe, expect, test } from 'vitest'
import { StoreBusyError } from '../../../src/storage/index.ts'
import { item, openBench, payloads, request } from './open.ts'

/** A bench whose disk hangs until the test lets it go on. */
async function slowDisk(limits: Parameters<typeof openBench>[0]) {
  const bench = await openBench(limits)
  const disk = Promise.withResolvers<void>()
  const sizes: number[] = []
  bench.onCommit = (batch) => {
    sizes.push(batch.length)
    return disk.promise
  }
  return { engine: bench.engine, release: disk.resolve, sizes }
}

/** Pushes numbered payloads at once; which were taken in, and what the others were told. */
function flood(engine: Awaited<ReturnType<typeof slowDisk>>['engine'], count: number, text = '') {
  const refused: unknown[] = []
  const accepted = Array.from({ length: count }, (_, number) =>
    engine.push([item('p', { number, text })], null).then(
      () => number,
      (error: unknown) => void refused.push(error),
    ),
  )
  return { refused, accepted }
}

describe('a disk that has stopped', () => {
  test('lets no more writes wait than allowed, refuses the rest at once and loses none of the accepted', async () => {
    const { engine, release, sizes } = await slowDisk({ maxWaitingWrites: 100 })
    const { refused, accepted } = flood(engine, 1)
    // The first is in the commit that hangs before the flood comes.
    await expect.poll(() => sizes.length).toBe(1)
    const more = flood(engine, 10_000)
    await expect.poll(() => more.refused.length).toBe(9_900)
    expect(engine.counters().pendingWrites).toBe(101)
    expect(more.refused.every((error) => error instanceof StoreBusyError)).toBe(true)
    expect(more.refused[0]).toMatchObject({ status: 503, retryAfterS: 1 })
    release()
    const taken = (await Promise.all([...accepted, ...more.accepted])).filter(
      (n) => n !== undefined,
    )
    expect([taken.length, refused.length]).toEqual([101, 0])
    const popped = payloads(await engine.pop(request({ batch: 1000, waitMs: 0 })))
    expect(popped).toHaveLength(101)
  })

  test('bounds the bytes that wait as well, so that large messages fill no memory', async () => {
    const { engine, release, sizes } = await slowDisk({ maxWaitingBytes: 1_000_000 })
    const first = flood(engine, 1)
    await expect.poll(() => sizes.length).toBe(1)
    const { refused, accepted } = flood(engine, 100, 'x'.repeat(100_000))
    await expect.poll(() => refused.length).toBeGreaterThanOrEqual(90)
    expect(refused.length).toBeLessThan(100)
    release()
    await Promise.all([...first.accepted, ...accepted])
    const popped = payloads(await engine.pop(request({ batch: 1000, waitMs: 0 })))
    expect(popped).toHaveLength(101 - refused.length)
  })
})
