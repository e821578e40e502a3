import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_OPTIONS } from '../../../src/queue/model.ts'
import { popRequestOf } from '../../../src/queue/routes/pop-query.ts'
import { startTestBroker, type TestBroker } from '../../support/broker.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

const NUMERIC = Object.entries(DEFAULT_OPTIONS).flatMap(([name, value]) =>
  typeof value === 'number' ? [name] : [],
)
const MOST = 2_147_483_647

/** Options that mean something below zero: an order, and what queue API 5.1 clamps to 0 to 60 000. */
const SIGNED: ReadonlyMap<string, (value: number) => number> = new Map([
  ['priority', (value) => value],
  ['minPopWaitTime', (value) => Math.min(Math.max(value, 0), 60_000)],
])

/** The body is written by hand, because JSON.stringify has no form for what is beyond every number. */
function configure(name: string, literal: string, nested: boolean) {
  const member = `"${name}":${literal}`
  const json = `{"queue":"ranges",${nested ? `"options":{${member}}` : member}}`
  return broker.call('POST /api/v1/configure', { json })
}

describe('a numeric option of configure', () => {
  it.each(NUMERIC)('%s takes zero, the largest number, and a fraction cut off', async (name) => {
    const shown = SIGNED.get(name) ?? ((value: number) => value)
    for (const [literal, value] of [
      ['0', 0],
      ['-0.9', 0],
      ['7.9', 7],
      [`${MOST}`, MOST],
    ] as const) {
      const { status, body } = await configure(name, literal, true)
      expect([literal, status, body.options?.[name]]).toEqual([literal, 200, shown(value)])
    }
  })

  const unsigned = NUMERIC.filter((name) => !SIGNED.has(name))
  it.each(unsigned)('%s below zero is 400, and changes nothing', async (name) => {
    await configure(name, '5', true)
    for (const literal of ['-1', '-1.5', `-${MOST}`]) {
      for (const nested of [true, false]) {
        const place = nested ? `options.${name}` : name
        const { status, body } = await configure(name, literal, nested)
        expect([literal, status, body]).toEqual([
          literal,
          400,
          { error: `${place} must be at least 0` },
        ])
      }
    }
    expect((await configure('encryptionEnabled', 'null', true)).body.options[name]).toBe(5)
  })

  it.each([...SIGNED])('%s takes a number below zero', async (name, shown) => {
    const { status, body } = await configure(name, '-3', true)
    expect([status, body.options[name]]).toEqual([200, shown(-3)])
  })

  it.each(NUMERIC)('%s that is absurd or no number is 400', async (name) => {
    for (const literal of ['2147483648', '-2147483648', '1e300', '1e999', '-1e999', '"1"', '[1]']) {
      const { status, body } = await configure(name, literal, true)
      expect([literal, status, Object.keys(body)]).toEqual([literal, 400, ['error']])
    }
  })
})

describe('a numeric parameter of pop', () => {
  const defaults = { defaultBatchSize: 3, defaultTimeoutMs: 30_000 }
  const YEAR_S = 31_536_000
  const read = (name: string, text: string) => {
    const { batch, partitions, leaseSeconds, waitMs } = popRequestOf(
      { wait: 'true', [name]: text },
      { queue: 'q', partition: null },
      defaults,
    )
    return { batch, partitions, leaseSeconds, timeout: waitMs }
  }

  // Queue API 1.4 and 5.3: never an error; unreadable is the default, the rest is brought into range.
  it.each([
    ['batch', '0', 1],
    ['batch', '-5', 1],
    ['batch', '999999999999999', 100_000],
    ['batch', '1e3', 3],
    ['batch', '1.5', 3],
    ['batch', '99999999999999999999', 3],
    ['batch', 'NaN', 3],
    ['batch', '', 3],
    ['timeout', '0', 0],
    ['timeout', '-1', 0],
    ['timeout', '999999999999999', 3_600_000],
    ['timeout', 'Infinity', 30_000],
    ['partitions', '0', 0],
    ['partitions', '-1', 0],
    ['partitions', '999999999999999', 100_000],
    ['partitions', '0x10', 1],
    ['leaseSeconds', '0', null],
    ['leaseSeconds', '-1', null],
    ['leaseSeconds', '999999999999999', YEAR_S],
    ['leaseSeconds', '1e3', null],
  ] as const)('%s=%s counts as %j', (name, text, value) => {
    expect(read(name, text)[name]).toBe(value)
  })
})
