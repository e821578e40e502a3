import { describe, expect, it } from 'vitest'
import { GAUGES, type Sample } from '../../../src/queue/metrics/columns.ts'
import { type MetricsBatch, MetricsRecorder } from '../../../src/queue/metrics/recorder.ts'

const START = Date.UTC(2025, 0, 1)
const MINUTE = 60_000
const NOTHING = Object.fromEntries(GAUGES.map((gauge) => [gauge, 1])) as Sample

function recorderAt(startMs: number) {
  const clock = { at: startMs, now: () => clock.at }
  const stored: MetricsBatch[] = []
  const store = { down: false }
  const recorder = new MetricsRecorder({
    clock,
    process: { hostname: 'h', workerId: 'w', port: 1 },
    intervalMs: MINUTE,
    sample: () => NOTHING,
    maxQueues: 100,
    store: async (batch) => {
      if (store.down) throw new Error('down')
      stored.push(batch)
    },
  })
  return { clock, stored, store, recorder }
}

describe('the metrics recorder', () => {
  it('stores the counts of an interval when it has ended', async () => {
    const { clock, stored, recorder } = recorderAt(START + 10_000)
    recorder.tally.note('q', 'pushMessages', 5)
    await recorder.tick()
    expect(stored).toEqual([])
    clock.at = START + MINUTE
    await recorder.tick()
    expect(stored).toMatchObject([
      { atMs: START, queues: [['q', { pushMessages: 5 }]], sampled: { samples: 2 } },
    ])
    expect(recorder.finished).toMatchObject({ endedMs: START + MINUTE, sampled: { samples: 2 } })
    expect(recorder.finished?.queues.get('q')).toMatchObject({ pushMessages: 5 })
  })

  it('counts what was flushed early to the interval it happened in, once', async () => {
    const { clock, stored, recorder } = recorderAt(START)
    recorder.tally.note('q', 'popMessages', 2)
    await recorder.flush()
    recorder.tally.note('q', 'popMessages', 3)
    clock.at = START + MINUTE + 5
    await recorder.flush()
    expect(stored.map((batch) => [batch.atMs, batch.queues[0]?.[1].popMessages])).toEqual([
      [START, 2],
      [START, 3],
    ])
    expect(recorder.finished?.queues.get('q')).toMatchObject({ popMessages: 5 })
  })

  it('loses and doubles nothing while the store is down', async () => {
    const { clock, stored, store, recorder } = recorderAt(START)
    store.down = true
    recorder.tally.note('q', 'ackSuccess', 4)
    await expect(recorder.flush()).rejects.toThrow('down')
    recorder.tally.note('q', 'ackSuccess', 1)
    store.down = false
    await recorder.flush()
    expect(stored).toMatchObject([{ queues: [['q', { ackSuccess: 5 }]] }])
    clock.at = START + MINUTE
    await recorder.tick()
    expect(recorder.finished?.queues.get('q')).toMatchObject({ ackSuccess: 5 })
  })

  it('sends nothing when nothing happened', async () => {
    const { stored, recorder } = recorderAt(START)
    await recorder.flush()
    expect(stored).toEqual([])
  })
})
