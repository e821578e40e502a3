#!/usr/bin/env node
// Plain JavaScript that any Node can parse, so that an old one gets a sentence and not a syntax error.
import { existsSync } from 'node:fs'

const NEEDED_MAJOR = 24
const major = Number(process.versions.node.split('.')[0])
if (major < NEEDED_MAJOR) {
  console.error(`hivegate needs Node.js ${NEEDED_MAJOR} or newer; this is ${process.version}`)
  process.exit(1)
}
// A checkout runs its TypeScript directly; an installed package runs what was built from it.
const source = new URL('../src/cli/main.ts', import.meta.url)
const entry = existsSync(source) ? source : new URL('../dist/cli/main.js', import.meta.url)
const { main } = await import(entry.href)
await main(process.argv)
