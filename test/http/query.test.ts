import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  flagParam,
  integerParam,
  textParam,
  timeOf,
  timeParam,
  wordParam,
} from '../../src/http/query.ts'

const query = z.object({
  limit: integerParam(100, 0, 1000),
  name: textParam(),
  flag: flagParam(true),
  word: wordParam(['a', 'b']),
  at: timeParam(),
})

describe('query parameters', () => {
  it('take their defaults when missing', () => {
    expect(query.parse({})).toEqual({ limit: 100, flag: true })
  })

  it.each([
    ['7', 7],
    [' 7 ', 7],
    ['-5', 0],
    ['5000', 1000],
    ['1.5', 100],
    ['abc', 100],
    ['', 100],
    ['1e3', 100],
    ['99999999999999999999', 100],
  ])('integer %j is %j', (text, value) => {
    expect(query.parse({ limit: text }).limit).toBe(value)
  })

  it.each([
    ['true', true],
    ['1', true],
    ['yes', true],
    ['false', false],
    ['0', false],
    ['no', false],
    ['maybe', true],
  ])('switch %j is %j', (text, value) => {
    expect(query.parse({ flag: text }).flag).toBe(value)
  })

  it('counts as its first value when given twice', () => {
    expect(query.parse({ limit: ['5', '6'], name: ['x', 'y'] })).toMatchObject({
      limit: 5,
      name: 'x',
    })
  })

  it('is never an error, whatever the value', () => {
    fc.assert(
      fc.property(
        fc.record({ limit: fc.anything(), name: fc.anything(), at: fc.anything() }),
        (raw) => query.safeParse(raw).success,
      ),
    )
  })
})

describe('points in time', () => {
  it.each([
    ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05.000Z'],
    ['2024-01-02T03:04:05.678901Z', '2024-01-02T03:04:05.678Z'],
    ['2024-01-02T03:04:05+02:00', '2024-01-02T01:04:05.000Z'],
    ['2024-01-02T03:04:05', '2024-01-02T03:04:05.000Z'],
    ['2024-01-02 03:04:05', '2024-01-02T03:04:05.000Z'],
    ['2024-01-02', '2024-01-02T00:00:00.000Z'],
    ['2 January 2024 03:04:05', '2024-01-02T03:04:05.000Z'],
    ['Tue, 02 Jan 2024 03:04:05 GMT', '2024-01-02T03:04:05.000Z'],
  ])('%s is %s', (text, iso) => {
    const ms = timeOf(text)
    expect(ms === undefined ? 'unreadable' : new Date(ms).toISOString()).toBe(iso)
  })

  it.each([[undefined], [''], ['  '], ['soon'], ['2024-13-01']])('%j is unreadable', (text) => {
    expect(timeOf(text)).toBeUndefined()
  })
})
