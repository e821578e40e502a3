import { describe, expect, test, vi } from 'vitest'
import { ackOf, item, openBench, payloads, request, settle } from './open.ts'

describe('a waiting pop is answered', () => {
  test('by a push to its queue', async () => {
    const { engine } = await openBench()
    const waiting = engine.pop(request())
    await settle()
    expect(engine.counters().parked).toBe(1)
    await engine.push([item('p', 1)], null)
    expect(payloads(await waiting)).toEqual([1])
    expect(engine.counters().parked).toBe(0)
  })

  test('by a push of the same commit as its own first look', async () => {
    const { engine } = await openBench()
    const waiting = engine.pop(request())
    await engine.push([item('p', 1)], null)
    expect(payloads(await waiting)).toEqual([1])
  })

  test('by a push that creates its queue, also when it waits by namespace', async () => {
    const { engine } = await openBench()
    const waiting = engine.pop(request({ scope: { namespace: 'ns', task: null } }))
    await settle()
    await engine.push([item('p', 1, { queue: 'ns.job' })], null)
    expect(payloads(await waiting)).toEqual([1])
  })

  test('by an ack that ends the lease before it', async () => {
    const { engine } = await openBench()
    await engine.push([item('p', 1), item('p', 2)], null)
    const first = await engine.pop(request({ batch: 1 }))
    const waiting = engine.pop(request())
    await settle()
    await engine.ack(first === null ? '' : '__QUEUE_MODE__', [ackOf(first)])
    expect(payloads(await waiting)).toEqual([2])
  })

  test('by the expiry of a lease, also of one that was taken after it began to wait', async () => {
    const { engine } = await openBench()
    const early = engine.pop(request())
    await settle()
    await engine.push([item('p', 1)], null)
    expect(payloads(await early)).toEqual([1])
    const waiting = engine.pop(request({ waitMs: 1_000_000 }))
    await settle()
    await vi.advanceTimersByTimeAsync(299_000)
    await settle()
    expect(engine.counters().parked).toBe(1)
    await vi.advanceTimersByTimeAsync(1_001)
    expect(payloads(await waiting)).toEqual([1])
  })

  test('by a transaction', async () => {
    const { engine } = await openBench()
    const waiting = engine.pop(request())
    await settle()
    await engine.transaction([{ type: 'push', item: item('p', 1) }], [], null)
    expect(payloads(await waiting)).toEqual([1])
  })

  test('by the end of a delay, with one timer and no polling between', async () => {
    const { engine, writes } = await openBench()
    const options = { delayedProcessing: 5 }
    await engine.configure({ queue: 'q', namespace: null, task: null, options, mode: 'merge' })
    const waiting = engine.pop(request())
    await settle()
    await engine.push([item('p', 1)], null)
    await vi.advanceTimersByTimeAsync(4000)
    await settle()
    expect(writes.filter((kind) => kind === 'pop')).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1002)
    expect(payloads(await waiting)).toEqual([1])
    expect(writes.filter((kind) => kind === 'pop')).toHaveLength(2)
  })

  test('by the end of a window that later pushes have moved', async () => {
    const { engine } = await openBench()
    const options = { windowBuffer: 5 }
    await engine.configure({ queue: 'q', namespace: null, task: null, options, mode: 'merge' })
    const waiting = engine.pop(request())
    await settle()
    await engine.push([item('p', 1)], null)
    await vi.advanceTimersByTimeAsync(3000)
    await engine.push([item('p', 2)], null)
    await vi.advanceTimersByTimeAsync(3000)
    await settle()
    expect(engine.counters().parked).toBe(1)
    await vi.advanceTimersByTimeAsync(2002)
    expect(payloads(await waiting)).toEqual([1, 2])
  })

  test('by a seek', async () => {
    const { engine } = await openBench()
    await engine.push([item('p', 1)], null)
    await engine.pop(request({ autoAck: true }))
    const waiting = engine.pop(request())
    await settle()
    await engine.seek('__QUEUE_MODE__', 'q', null, { to: 'time', atUs: 0 })
    expect(payloads(await waiting)).toEqual([1])
  })

  test('by a push to its queue after that was deleted and made again', async () => {
    const { engine } = await openBench()
    await engine.push([item('p', 1)], null)
    await engine.pop(request({ autoAck: true }))
    const waiting = engine.pop(request())
    await settle()
    await engine.deleteQueue('q')
    await settle()
    await engine.push([item('p', 2)], null)
    expect(payloads(await waiting)).toEqual([2])
  })

  test('with nothing when its time is over, and not before', async () => {
    const { engine } = await openBench()
    let answered = false
    const waiting = engine.pop(request({ waitMs: 5000 })).finally(() => {
      answered = true
    })
    await settle()
    await vi.advanceTimersByTimeAsync(4999)
    expect(answered).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await waiting).toBeNull()
  })

  test('at once without a wait', async () => {
    const { engine } = await openBench()
    expect(await engine.pop(request({ waitMs: 0 }))).toBeNull()
  })
})

describe('many waiting pops', () => {
  test('one push wakes as many as can be served', async () => {
    const { engine } = await openBench()
    const waiting = Array.from({ length: 6 }, () => engine.pop(request({ batch: 1 })))
    await settle()
    const names = ['a', 'b', 'c', 'd']
    await engine.push(
      names.map((name) => item(name, name)),
      null,
    )
    await settle()
    expect(engine.counters().parked).toBe(2)
    await engine.drain()
    const served = (await Promise.all(waiting)).flatMap(payloads)
    expect(served.toSorted()).toEqual(names)
  })

  test('they are served in the order in which they came', async () => {
    const { engine } = await openBench()
    const order: number[] = []
    const waiting = [1, 2, 3].map((n) =>
      engine.pop(request({ batch: 1 })).then((reply) => {
        if (reply !== null) order.push(n)
      }),
    )
    await settle()
    for (const name of ['a', 'b', 'c']) {
      await engine.push([item(name, name)], null)
      await settle()
    }
    await Promise.all(waiting)
    expect(order).toEqual([1, 2, 3])
  })

  test('every group is served', async () => {
    const { engine } = await openBench()
    const groups = Array.from({ length: 20 }, (_, i) => `g${i}`)
    const waiting = groups.map((group) => engine.pop(request({ group })))
    await settle()
    await engine.push([item('p', 1)], null)
    const replies = await Promise.all(waiting)
    expect(replies.map(payloads)).toEqual(groups.map(() => [1]))
  })

  test('a push that makes nothing ready lets them sleep', async () => {
    const { engine, writes } = await openBench()
    await engine.push([item('p', 1)], null)
    await engine.pop(request({ waitMs: 0 }))
    void engine.pop(request())
    await settle()
    const before = writes.filter((kind) => kind === 'pop').length
    await engine.push([item('p', 2)], null)
    await settle()
    expect(writes.filter((kind) => kind === 'pop')).toHaveLength(before)
  })

  test('above the limit a waiting pop is refused, one that does not wait is not', async () => {
    const { engine } = await openBench({ maxParkedPops: 1 })
    void engine.pop(request())
    await settle()
    await expect(engine.pop(request())).rejects.toMatchObject({
      code: 'too_many_polls',
      status: 503,
    })
    expect(await engine.pop(request({ waitMs: 0 }))).toBeNull()
  })
})

describe('a pop whose client has gone', () => {
  test('is not tried when it is gone before', async () => {
    const { engine, writes } = await openBench()
    await engine.push([item('p', 1)], null)
    expect(await engine.pop(request(), AbortSignal.abort())).toBeNull()
    expect(writes).toEqual(['push'])
  })

  test('claims nothing later, while others go on waiting', async () => {
    const { engine } = await openBench()
    const gone = new AbortController()
    const left = engine.pop(request(), gone.signal)
    const waiting = engine.pop(request())
    await settle()
    gone.abort()
    expect(await left).toBeNull()
    await engine.push([item('p', 1)], null)
    expect(payloads(await waiting)).toEqual([1])
  })

  test.each([0, 30_000])('gives back what was claimed meanwhile (wait %i ms)', async (waitMs) => {
    const bench = await openBench()
    const { engine } = bench
    await engine.push([item('p', 1)], null)
    const gone = new AbortController()
    bench.onCommit = (batch) => {
      if (batch.some(({ kind }) => kind === 'pop')) gone.abort()
    }
    expect(await engine.pop(request({ waitMs }), gone.signal)).toBeNull()
    await settle()
    expect(bench.writes).toEqual(['push', 'pop', 'release'])
    bench.onCommit = () => {}
    expect(payloads(await engine.pop(request({ waitMs: 0 })))).toEqual([1])
  })

  test('loses nothing with autoAck either', async () => {
    const bench = await openBench()
    const { engine } = bench
    await engine.push([item('p', 1)], null)
    const gone = new AbortController()
    bench.onCommit = () => gone.abort()
    await engine.pop(request({ waitMs: 0, autoAck: true }), gone.signal)
    expect(payloads(await engine.pop(request({ waitMs: 0 })))).toEqual([1])
  })
})

describe('pauses and ends', () => {
  test('pop maintenance lets waiting pops go and answers new ones at once, acks go on', async () => {
    const { engine } = await openBench()
    await engine.push([item('p', 1), item('p', 2)], null)
    const first = await engine.pop(request({ batch: 1 }))
    const waiting = engine.pop(request())
    await settle()
    await engine.setFlag('popMaintenance', true)
    expect(await waiting).toBeNull()
    expect(await engine.pop(request())).toBeNull()
    expect((await engine.ack('__QUEUE_MODE__', [ackOf(first)]))[0]?.success).toBe(true)
    await engine.setFlag('popMaintenance', false)
    expect(payloads(await engine.pop(request()))).toEqual([2])
  })

  test('a drain answers all that wait with nothing, and later pops too', async () => {
    const { engine } = await openBench()
    const waiting = [engine.pop(request()), engine.pop(request({ group: 'g' }))]
    await settle()
    await engine.drain()
    expect(await Promise.all(waiting)).toEqual([null, null])
    await engine.push([item('p', 1)], null)
    expect(await engine.pop(request())).toBeNull()
  })

  test('a deadline during a slow claim waits for what it brings', async () => {
    const bench = await openBench()
    const { engine } = bench
    const waiting = engine.pop(request({ waitMs: 1000 }))
    await settle()
    bench.onCommit = async (batch) => {
      if (batch.some(({ kind }) => kind === 'pop')) await vi.advanceTimersByTimeAsync(2000)
    }
    await engine.push([item('p', 1)], null)
    expect(payloads(await waiting)).toEqual([1])
  })

  test('a fault of the store reaches the pop that met it', async () => {
    const bench = await openBench()
    bench.onCommit = () => {
      throw new Error('disk')
    }
    await expect(bench.engine.pop(request())).rejects.toThrow('disk')
    bench.onCommit = () => {}
    expect(bench.engine.counters().parked).toBe(0)
  })
})
