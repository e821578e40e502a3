import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const TESTS = fileURLToPath(new URL('../', import.meta.url))
const ROWS = 70
const RULES = 37

/** The tests without their comments: what is left holds the names, also those in tables of cases. */
const text = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.endsWith('checklist.test.ts'))
  .map((name) => readFileSync(join(TESTS, name), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, ''))
  .join('\n')

const numbersOf = (pattern: RegExp): ReadonlySet<number> =>
  new Set([...text.matchAll(pattern)].flatMap((match) => match.slice(1).map(Number)))
const missing = (count: number, found: ReadonlySet<number>): readonly number[] =>
  Array.from({ length: count }, (_, at) => at + 1).filter((number) => !found.has(number))

describe('the checklist of the hub', () => {
  it('has a test named after each of its rows', () => {
    const rows = numbersOf(/\b(?:rows?|checklist) ([0-9]+)(?: and ([0-9]+))?/g)
    expect(missing(ROWS, rows)).toEqual([])
  })

  it('has a test named after each hardening rule', () => {
    expect(missing(RULES, numbersOf(/\bH([0-9]+)\b/g))).toEqual([])
  })
})
