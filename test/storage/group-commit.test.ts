import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GroupCommit, StoreBusyError, StoreClosedError } from '../../src/storage/index.ts'

interface Gate {
  readonly batch: readonly string[]
  readonly open: () => void
  readonly fail: (error: Error) => void
}

/** A batcher over a disk that waits for the test before each commit is done. */
function held(
  limits: {
    maxWaiting?: number
    maxWaitingBytes?: number
    maxBatch?: number
    inHalves?: boolean
  } = {},
) {
  const gates: Gate[] = []
  let arrived = (): void => {}
  const reports: number[] = []
  const batcher = new GroupCommit<string, string>({
    ...limits,
    sizeOf: (op) => op.length,
    onBatch: (report) => reports.push(report.operations),
    commit: (batch) =>
      new Promise((resolve, reject) => {
        const open = () => resolve(batch.map((op) => op.toUpperCase()))
        gates.push({ batch, open, fail: reject })
        arrived()
      }),
  })
  const nextGate = async (): Promise<Gate> => {
    if (gates.length === 0) {
      await new Promise<void>((resolve) => {
        arrived = resolve
      })
    }
    return gates.shift()!
  }
  return { batcher, nextGate, reports }
}

describe('group commit', () => {
  test('operations that arrive while a commit is in flight share the next one', async () => {
    const { batcher, nextGate, reports } = held()
    const first = batcher.submit('a')
    const gate = await nextGate()
    const later = [batcher.submit('b'), batcher.submit('c'), batcher.submit('d')]
    gate.open()
    expect(await first).toBe('A')
    const second = await nextGate()
    expect(second.batch).toEqual(['b', 'c', 'd'])
    second.open()
    expect(await Promise.all(later)).toEqual(['B', 'C', 'D'])
    await batcher.drain()
    expect(reports).toEqual([1, 3])
  })

  test('a batch holds no more operations than allowed', async () => {
    const { batcher, nextGate } = held({ maxBatch: 2 })
    const all = ['a', 'b', 'c'].map((op) => batcher.submit(op))
    const first = await nextGate()
    expect(first.batch).toEqual(['a', 'b'])
    first.open()
    const second = await nextGate()
    expect(second.batch).toEqual(['c'])
    second.open()
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C'])
  })

  test('a full queue refuses at once and keeps what it took in', async () => {
    const { batcher, nextGate } = held({ maxWaiting: 2 })
    const taken = [batcher.submit('a'), batcher.submit('b')]
    await expect(batcher.submit('c')).rejects.toBeInstanceOf(StoreBusyError)
    ;(await nextGate()).open()
    expect(await Promise.all(taken)).toEqual(['A', 'B'])
  })

  test('the bytes that wait are bounded, yet a single large operation gets through', async () => {
    const { batcher, nextGate } = held({ maxWaitingBytes: 3 })
    const large = batcher.submit('large')
    await expect(batcher.submit('b')).rejects.toMatchObject({ code: 'store_busy', status: 503 })
    ;(await nextGate()).open()
    expect(await large).toBe('LARGE')
  })

  test('a failed commit fails its own operations and not the next ones', async () => {
    const { batcher, nextGate } = held()
    const first = batcher.submit('a')
    const gate = await nextGate()
    const second = batcher.submit('b')
    gate.fail(new Error('disk'))
    await expect(first).rejects.toThrow('disk')
    ;(await nextGate()).open()
    expect(await second).toBe('B')
  })

  test('close commits what was taken in and refuses the rest', async () => {
    const { batcher, nextGate } = held()
    const taken = batcher.submit('a')
    const closed = batcher.close()
    await expect(batcher.submit('b')).rejects.toBeInstanceOf(StoreClosedError)
    ;(await nextGate()).open()
    await closed
    expect(await taken).toBe('A')
    expect(batcher.pending).toBe(0)
  })
})

/** Operations of one character each. */
const letters = (count: number): string[] => Array.from({ length: count }, (_, at) => `${at % 10}`)

describe('group commit in halves', () => {
  test('a batch takes half of what is under way, and the other half follows', async () => {
    const { batcher, nextGate, reports } = held({ inHalves: true })
    const all = letters(20).map((op) => batcher.submit(op))
    const first = await nextGate()
    expect(first.batch).toEqual(letters(10))
    first.open()
    const second = await nextGate()
    expect(second.batch).toEqual(letters(10))
    // The first ten come again while the others are committed.
    const again = letters(10).map((op) => batcher.submit(op))
    second.open()
    await Promise.all(all)
    ;(await nextGate()).open()
    await Promise.all(again)
    await batcher.drain()
    expect(reports).toEqual([10, 10, 10])
  })

  test('a few operations are not worth two commits', async () => {
    const { batcher, nextGate } = held({ inHalves: true })
    for (const op of letters(7)) void batcher.submit(op)
    const { batch, open } = await nextGate()
    expect(batch).toEqual(letters(7))
    open()
    await batcher.drain()
  })

  test('a commit begins before the turn is over when a batch is full', async () => {
    const { batcher, nextGate } = held({ inHalves: true })
    let turned = false
    setImmediate(() => {
      turned = true
    })
    for (const op of letters(8)) void batcher.submit(op)
    const { open } = await nextGate()
    expect(turned).toBe(false)
    open()
    await batcher.drain()
  })

  test('however many come in whatever turns, each is committed once and in its order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 40 }), { maxLength: 12 }), async (turns) => {
        const committed: number[] = []
        const batcher = new GroupCommit<number, number>({
          inHalves: true,
          sizeOf: () => 1,
          async commit(batch) {
            await new Promise((resolve) => setImmediate(resolve))
            committed.push(...batch)
            return batch
          },
        })
        const answers: Promise<number>[] = []
        for (const count of turns) {
          for (let i = 0; i < count; i += 1) answers.push(batcher.submit(answers.length))
          await new Promise((resolve) => setImmediate(resolve))
        }
        const numbers = answers.map((_, at) => at)
        expect(await Promise.all(answers)).toEqual(numbers)
        expect(committed).toEqual(numbers)
      }),
    )
  })
})
