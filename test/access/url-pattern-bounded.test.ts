import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileMatcher } from '../../src/access/index.ts'

const BASE = 'https://hub.shop.example/.well-known/mercure'
const HOST = 'https://shop.example'

describe('URL pattern: bounded evaluation', () => {
  const random = (length: number): string =>
    fc.sample(
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: length, maxLength: length }),
      { seed: 7, numRuns: 1 },
    )[0] ?? ''

  it.each([
    ['nested choice', `${HOST}/:a((?:a|a)*b)`, `${HOST}/${'a'.repeat(30)}c`],
    ['nested choice, long topic', `${HOST}/:a((?:a|a)*b)`, `${HOST}/${'a'.repeat(100_000)}c`],
    ['nested repetition', `${HOST}/:a((?:(?:a+)+)+b)`, `${HOST}/${'a'.repeat(50_000)}`],
    ['many wildcards', `${HOST}${'/*'.repeat(400)}/x`, `${HOST}${'/a'.repeat(20_000)}`],
    [
      'many optional groups',
      `${HOST}/${'{/:a}?'.replace('a', 'b')}${'{/c}?'.repeat(300)}x`,
      `${HOST}/${'/c'.repeat(400)}`,
    ],
    ['exponential automaton', `${HOST}/(\\w*a\\w{100})`, `${HOST}/${random(20_000)}!`],
  ])('%s: a match is decided within the cost limit', (_, pattern, topic) => {
    const matcher = compileMatcher({ type: 'urlpattern', pattern }, BASE)
    const started = process.cpuUsage()
    expect(matcher.matches(topic)).toBe(false)
    const { user } = process.cpuUsage(started)
    // On a backtracking engine these take minutes to centuries; the margin is for slow machines.
    expect(user / 1_000_000).toBeLessThan(5)
  })

  it('a topic that would cost too much counts as not matching', () => {
    const pattern = `${HOST}/(\\w*a\\w{100})`
    const matcher = compileMatcher({ type: 'urlpattern', pattern }, BASE)
    expect(matcher.matches(`${HOST}/a${'b'.repeat(100)}`)).toBe(true)
    expect(matcher.matches(`${HOST}/${'b'.repeat(1_000_000)}a${'b'.repeat(100)}`)).toBe(false)
  })

  it('an ordinary pattern matches topics of any length that a request can carry', () => {
    const matcher = compileMatcher({ type: 'urlpattern', pattern: `${HOST}/users/42/*` }, BASE)
    expect(matcher.matches(`${HOST}/users/42/${'x/'.repeat(500_000)}`)).toBe(true)
    const named = compileMatcher({ type: 'urlpattern', pattern: `${HOST}/books/:id` }, BASE)
    expect(named.matches(`${HOST}/books/${'x'.repeat(1_000_000)}`)).toBe(true)
  })
})
