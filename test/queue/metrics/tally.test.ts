import { describe, expect, it } from 'vitest'
import type { Sample } from '../../../src/queue/metrics/columns.ts'
import { GAUGES } from '../../../src/queue/metrics/columns.ts'
import { GaugeRun } from '../../../src/queue/metrics/gauges.ts'
import { ProcessGauges } from '../../../src/queue/metrics/process.ts'
import { OTHER_QUEUES, Tally } from '../../../src/queue/metrics/tally.ts'

describe('the tally', () => {
  it('adds counts and keeps the highest of the others', () => {
    const tally = new Tally()
    tally.note('a', 'pushMessages', 3)
    tally.note('a', 'pushMessages')
    tally.note('a', 'lagMaxMs', 9)
    tally.note('a', 'lagMaxMs', 4)
    expect(tally.take().get('a')).toMatchObject({ pushMessages: 4, lagMaxMs: 9, popMessages: 0 })
  })

  it('starts afresh after take', () => {
    const tally = new Tally()
    tally.note('a', 'popEmpty')
    tally.take()
    expect(tally.take().size).toBe(0)
  })

  it('keeps what could not be stored', () => {
    const tally = new Tally()
    tally.note('a', 'popEmpty', 2)
    const lost = tally.take()
    tally.note('a', 'popEmpty')
    tally.putBack(lost)
    expect(tally.take().get('a')).toMatchObject({ popEmpty: 3 })
  })

  it('gives queues beyond its limit one row together', () => {
    const tally = new Tally()
    for (let at = 0; at < 10_050; at += 1) tally.note(`q${at}`, 'pushMessages')
    const rows = tally.take()
    expect(rows.size).toBe(10_001)
    expect(rows.get(OTHER_QUEUES)?.pushMessages).toBe(50)
  })

  it('takes names that objects reserve', () => {
    const tally = new Tally()
    tally.note('__proto__', 'pushMessages')
    tally.note('constructor', 'pushMessages')
    expect([...tally.take().keys()]).toEqual(['__proto__', 'constructor'])
  })
})

function sampleOf(value: number): Sample {
  return Object.fromEntries(GAUGES.map((gauge) => [gauge, value])) as Sample
}

describe('the run of samples', () => {
  it('keeps sum, lowest, highest and last', () => {
    const run = new GaugeRun()
    for (const value of [5, 1, 3]) run.add(sampleOf(value))
    expect(run.take()).toMatchObject({
      samples: 3,
      gauges: { rssBytes: { sum: 9, min: 1, max: 5, last: 3 } },
    })
    expect(run.take()).toBeUndefined()
  })
})

describe('a sample of this process', () => {
  it('holds every gauge as a number that is not negative', () => {
    const gauges = new ProcessGauges()
    const sample = gauges.sample({
      storeConnections: 2,
      storeActive: 1,
      pendingWrites: 0,
      freeSlots: 100,
      parkedPops: 4,
    })
    gauges.close()
    expect(Object.keys(sample).toSorted()).toEqual([...GAUGES].toSorted())
    expect(Object.values(sample).every((value) => Number.isFinite(value) && value >= 0)).toBe(true)
    expect(sample).toMatchObject({ storeIdle: 1, parkedPops: 4 })
  })
})
