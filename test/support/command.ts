import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { vi } from 'vitest'

/** How a command ended and what it wrote. */
export interface CommandResult {
  readonly code: number | null
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
export async function runHere(
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

/** What a command is run with; nothing of our own environment but PATH reaches it. */
export interface CommandInput {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

/** Runs one sub-command as a process of its own: `factory` of the module `src/cli/<file>` makes it. */
export async function runCommand(
  file: string,
  factory: string,
  args: readonly string[],
  { env = {}, stdin = '' }: CommandInput = {},
): Promise<CommandResult> {
  const module = new URL(`../../src/cli/${file}`, import.meta.url).href
  const commander = import.meta.resolve('commander')
  const script = `
    const { Command } = await import(${JSON.stringify(commander)})
    const { ${factory} } = await import(${JSON.stringify(module)})
    const program = new Command('hivegate').addCommand(${factory}())
    await program.parseAsync(process.argv.slice(1), { from: 'user' })`
  const flags = ['--input-type=module', '-e', script, '--', ...args]
  const child = spawn(process.execPath, flags, { env: { PATH: process.env['PATH'] ?? '', ...env } })
  child.stdin.on('error', () => undefined).end(stdin)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, stdout, stderr }
}
