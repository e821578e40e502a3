import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/** How a command ended and what it wrote. */
export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
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
