import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { envExample } from '../../src/config/env-example.ts'
import { loadConfig, SECTIONS } from '../../src/config/index.ts'

const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')

describe('.env.example', () => {
  it('is what the script writes from the tables: run node scripts/env-example.ts', () => {
    expect(text).toBe(envExample(SECTIONS))
  })

  it('names every variable that is read, once, with its meaning above it', () => {
    const names = Object.values(SECTIONS).flatMap((section) =>
      Object.values(section).map((row) => row.name),
    )
    const listed = [...text.matchAll(/^#([A-Z_0-9]+)=/gm)].map((match) => match[1])
    expect(listed).toEqual(names)
  })

  it('holds the defaults: with every line in force the configuration is that of an empty environment', () => {
    const inForce = text.replace(/^#([A-Z_0-9]+=)/gm, '$1')
    expect(loadConfig(parseEnv(inForce))).toEqual(loadConfig({}))
  })
})
