import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { vi } from 'vitest'

/** How a command ended and what it wrote. */
export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Thrown in the place of leaving the process. */
class Exit extends Error {
  readonly exitCode: number
  constructor(exitCode: number) {
    super(`exit ${exitCode}`)
    this.exitCode = exitCode
  }
}

function capture(stream: NodeJS.WriteStream) {
  let written = ''
  const spy = vi.spyOn(stream, 'write').mockImplementation((chunk) => {
    written += String(chunk)
    return true
  })
  return { stop: () => spy.mockRestore(), written: () => written }
}

/** Runs a command in this process with these variables; what it writes and how it leaves is caught. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value)
  const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Exit(Number(code ?? 0))
  })
  const [out, err] = [capture(process.stdout), capture(process.stderr)]
  const before = process.exitCode
  let code = 0
  try {
    await command.parseAsync([...args], { from: 'user' })
    code = Number(process.exitCode ?? 0)
  } catch (error) {
    if (!(error instanceof Exit)) throw error
    code = error.exitCode
  } finally {
    for (const { stop } of [out, err]) stop()
    exit.mockRestore()
    process.exitCode = before
    vi.unstubAllEnvs()
  }
  return { code, stdout: out.written(), stderr: err.written() }
}

/** Runs `factory` of `src/cli/<file>` as a process of its own, which reads `stdin`. */
export async function runProcess(
  file: string,
  factory: string,
  args: readonly string[],
  { env, stdin }: { env: Readonly<Record<string, string>>; stdin: string },
): Promise<CommandResult> {
  const module = new URL(`../../src/cli/${file}`, import.meta.url).href
  const script = `import(${JSON.stringify(module)}).then((m) =>
    m.${factory}().parseAsync(process.argv.slice(1), { from: 'user' }))`
  const flags = ['-e', script, '--', ...args]
  const child = spawn(process.execPath, flags, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  })
  child.stdin.on('error', () => undefined).end(stdin)
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve(code ?? -1))
  })
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, stdout, stderr }
}
