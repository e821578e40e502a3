import { describe, expect, it } from 'vitest'
import { BufferDrainer, type DrainWrite } from '../../src/queue/engine/drainer.ts'
import { StoreBusyError, StoreFailedError } from '../../src/storage/index.ts'

/** A buffer in memory: `poison` can never be replayed. */
function bufferOf(items: string[], poison: ReadonlySet<string> = new Set()) {
  const moved: string[] = []
  const aside: string[] = []
  const calls = { busy: 0 }
  const write = (async (kind: string, args: { limit?: number }) => {
    if (calls.busy > 0) {
      calls.busy -= 1
      throw new StoreBusyError()
    }
    if (kind === 'skipBuffered') {
      aside.push(...items.splice(0, 1))
      return { skipped: true }
    }
    const step = items.slice(0, args.limit)
    if (step.some((item) => poison.has(item))) throw new StoreFailedError('poison')
    moved.push(...items.splice(0, step.length))
    return { moved: step.length, left: items.length === 0 ? 0 : 1 }
  }) as DrainWrite
  return { moved, aside, calls, write }
}

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, at) => String(at))
}

/** Resolves when the drainer has nothing in flight. */
async function settled(drainer: BufferDrainer): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await drainer.stop()
}

describe('the drainer', () => {
  it('moves everything in arrival order, in steps', async () => {
    const { moved, write } = bufferOf(numbers(1203))
    let left = 0
    const drainer = new BufferDrainer(
      (kind, args) => {
        left += 1
        return write(kind, args)
      },
      () => {},
    )
    drainer.kick()
    await expect.poll(() => moved.length).toBe(1203)
    await settled(drainer)
    expect(moved).toEqual(numbers(1203))
    expect(left).toBe(3)
  })

  it('sets a push aside that can never be replayed and goes on behind it', async () => {
    const { moved, aside, write } = bufferOf(numbers(5), new Set(['2']))
    const errors: unknown[] = []
    const drainer = new BufferDrainer(write, (error) => errors.push(error))
    drainer.kick()
    await expect.poll(() => moved.length).toBe(4)
    await settled(drainer)
    expect(moved).toEqual(['0', '1', '3', '4'])
    expect(aside).toEqual(['2'])
    expect(errors.length).toBeGreaterThan(0)
  })

  it('sets nothing aside when the store itself is busy', async () => {
    const { moved, aside, calls, write } = bufferOf(numbers(2))
    calls.busy = 1
    const drainer = new BufferDrainer(write, () => {})
    drainer.kick()
    await expect.poll(() => calls.busy).toBe(0)
    drainer.kick()
    await expect.poll(() => moved.length).toBe(2)
    await settled(drainer)
    expect(aside).toEqual([])
  })
})
