// The compiler leaves these behind: the built package reads its migrations and pages beside its code.
import { cpSync, statSync } from 'node:fs'
import { extname } from 'node:path'

const source = new URL('../src/', import.meta.url)
const FILES = new Set(['.sql', '.html', '.css', '.js', '.svg'])
const built = new URL('../dist/', import.meta.url)

cpSync(source, built, {
  recursive: true,
  filter: (path) => statSync(path).isDirectory() || FILES.has(extname(path)),
})
