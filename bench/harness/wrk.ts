import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A request that never changes. */
export interface FixedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

let found: boolean | undefined

/** Whether the load generator wrk is on the PATH (Debian: `apt-get install wrk`). */
export function hasWrk(): boolean {
  found ??= spawnSync('wrk', ['-v']).error === undefined
  return found
}

/** Text between brackets that Lua takes as it stands. */
export function luaText(text: string): string {
  if (text.includes(']==]')) throw new Error('the text ends its own quotes')
  return `[==[${text}]==]`
}

/** The script that sends one request over and over. */
export function fixedScript({ method, path, headers, body }: FixedRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => {
    // The spaces keep Lua from reading two brackets in a row as one.
    return `wrk.headers[ ${luaText(name)} ] = ${luaText(value)}`
  })
  const request = { method, path, body }
  const parts = Object.entries(request).map(([name, text]) => `wrk.${name} = ${luaText(text)}`)
  return [...parts, ...lines, ''].join('\n')
}

/** Sends what a script says on every connection; answers per second. Any answer that is not 2xx is an error. */
export async function wrkRequestsPerSecond(
  { url, connections, seconds }: { url: string; connections: number; seconds: number },
  script: string,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'hivegate-wrk-'))
  try {
    const file = join(folder, 'requests.lua')
    await writeFile(file, script)
    const sizes = ['-t1', `-c${connections}`, `-d${seconds}s`]
    const { stdout } = await promisify(execFile)('wrk', [...sizes, '-s', file, url])
    const rate = /^Requests\/sec:\s+([\d.]+)$/m.exec(stdout)?.[1]
    const fault = /^\s*(?:Non-2xx|Socket errors).*$/m.exec(stdout)?.[0]
    if (rate === undefined || fault !== undefined) throw new Error(`${url}: ${fault ?? stdout}`)
    return Number(rate)
  } finally {
    await rm(folder, { recursive: true })
  }
}
