import { describe, expect, test } from 'vitest'
import { subscriptionOf } from '../../../src/queue/engine/subscription.ts'

const AT_US = Date.UTC(2026, 0, 2, 3, 4, 5) * 1000

describe('where a group starts', () => {
  test.each([
    ['new', 'new'],
    ['NEW-ONLY', 'new'],
    ['new_only', 'new'],
    ['NewOnly', 'new'],
    ['all', 'all'],
    ['from_beginning', 'all'],
    ['newest', 'all'],
  ])('mode %s means %s', (mode, expected) => {
    expect(subscriptionOf(mode, null, '')).toEqual({ mode: expected })
  })

  test.each([
    ['', 'all'],
    ['all', 'all'],
    ['new', 'new'],
  ])('without a mode the default %j decides', (fallback, expected) => {
    expect(subscriptionOf(null, null, fallback)).toEqual({ mode: expected })
    expect(subscriptionOf('', '', fallback)).toEqual({ mode: expected })
  })

  test.each([
    '2026-01-02T03:04:05Z',
    '2026-01-02T03:04:05',
    '2026-01-02 03:04:05',
    '2026-01-02T04:04:05+01:00',
  ])('from %s wins over the mode', (from) => {
    expect(subscriptionOf('new', from, '')).toEqual({ mode: 'timestamp', fromUs: AT_US })
  })

  test('six digits of a second are kept', () => {
    const from = '2026-01-02T03:04:05.123456Z'
    expect(subscriptionOf(null, from, '')).toEqual({ mode: 'timestamp', fromUs: AT_US + 123_456 })
  })

  test.each(['now', 'NOW', 'yesterday', 'soon', '{}'])('from %s means new', (from) => {
    expect(subscriptionOf('all', from, '')).toEqual({ mode: 'new' })
  })
})
