import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Caller, callerOf } from './caller.ts'
import { storeSettings } from './test-store.ts'

const BIN = fileURLToPath(new URL('../../bin/hivegate.js', import.meta.url))

/** How a process ended. */
export interface Exit {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `hivegate ARGS` to its end with this environment and nothing else. */
export async function runHivegate(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<Exit> {
  const child = spawn(process.execPath, [BIN, ...args], { env, ...(cwd && { cwd }) })
  return exitOf(child, watch(child))
}

function watch(child: ChildProcess) {
  const seen = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk: Buffer) => {
    seen.stdout += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    seen.stderr += chunk.toString()
  })
  return seen
}

async function exitOf(child: ChildProcess, seen: ReturnType<typeof watch>): Promise<Exit> {
  const [code] = await once(child, 'close')
  return { code, ...seen }
}

/** A broker in a process of its own, as an operator runs it. */
export interface ChildBroker {
  readonly url: string
  readonly port: number
  readonly call: Caller
  readonly exited: Promise<Exit>
  /** Everything on stdout so far. */
  output(): string
  /** Sends a signal; `exited` tells when it has worked. */
  signal(name: NodeJS.Signals): void
}

/** Starts `hivegate serve` on a free port and waits until it listens. @throws Error with its output if it ends first */
export async function startChildBroker(
  env: Readonly<Record<string, string>>,
  switches: readonly string[] = [],
): Promise<ChildBroker> {
  const settings = {
    ...{ HOST: '127.0.0.1', PORT: '0' },
    ...(env['DATA_DIR'] !== undefined && (await storeSettings(env['DATA_DIR']))),
    ...env,
  }
  const child = spawn(process.execPath, [BIN, 'serve', ...switches], { env: settings })
  // A test that fails half-way must not leave a broker behind.
  const end = () => void child.kill('SIGKILL')
  process.once('exit', end)
  const seen = watch(child)
  const exited = exitOf(child, seen).finally(() => process.off('exit', end))
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.on('data', () => {
      const found = /"port":([0-9]+),"msg":"listening"/.exec(seen.stdout)
      if (found) resolve(Number(found[1]))
    })
    exited.then(
      ({ code, stdout, stderr }) => reject(new Error(`exit ${code}: ${stdout}${stderr}`)),
      reject,
    )
  })
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    port,
    call: callerOf(url),
    exited,
    output: () => seen.stdout,
    signal: (name) => void child.kill(name),
  }
}
