import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { closeAfterTest } from './guarded-app.ts'

/** A bare Express app with the middleware, in a process of its own, as an operator would run it. */
export interface AuthProcess {
  readonly url: string
  /** Everything on stdout and stderr so far. */
  output(): string
}

/** Starts `auth-server.ts` with this environment and nothing else; it is killed after the test. */
export async function startAuthProcess(
  env: Readonly<Record<string, string>>,
): Promise<AuthProcess> {
  const script = fileURLToPath(new URL('auth-server.ts', import.meta.url))
  const child = spawn(process.execPath, [script], { env })
  let output = ''
  const port = await new Promise<number>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const found = /listening on ([0-9]+)\n/.exec(output)
      if (found) resolve(Number(found[1]))
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('exit', (code) => reject(new Error(`exit ${code}: ${output}`)))
  })
  closeAfterTest(async () => {
    const gone = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await gone
  })
  return { url: `http://127.0.0.1:${port}`, output: () => output }
}
