// The compiler leaves `.sql` files behind; the built package reads its migrations beside its code.
import { cpSync, statSync } from 'node:fs'

const source = new URL('../src/', import.meta.url)
const built = new URL('../dist/', import.meta.url)

cpSync(source, built, {
  recursive: true,
  filter: (path) => statSync(path).isDirectory() || path.endsWith('.sql'),
})
