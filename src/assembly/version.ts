import { readFileSync } from 'node:fs'
import { z } from 'zod'

const packageFile = z.object({ version: z.string() })

/** The version of this package, from its `package.json`: two folders up, from the sources and when built. */
export function packageVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return packageFile.parse(JSON.parse(readFileSync(file, 'utf8'))).version
}
