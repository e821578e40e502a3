import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const BIN = fileURLToPath(new URL('../bin/hivegate.js', import.meta.url))

/** `hivegate serve` in a process of its own, on a free port and a data folder that goes away with it. */
export interface BrokerProcess {
  readonly port: number
  /** Everything that the broker has logged. */
  log(): string
  /** Ends it as an operator would (SIGTERM); answers its exit code. */
  stop(): Promise<number | null>
}

/** Where to keep the data, if whoever runs the example has set it. */
const STORE = ['DATABASE_URL', 'DATABASE_POOL_SIZE']

/** Starts a broker with these settings; resolves when it listens. Without `DATABASE_URL` its data is in the folder. */
export function startBrokerProcess(
  settings: Readonly<Record<string, string>>,
): Promise<BrokerProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hivegate-example-'))
  const store = Object.fromEntries(
    STORE.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  )
  const env = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: dataDir, ...store, ...settings }
  const child = spawn(process.execPath, [BIN, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      rmSync(dataDir, { recursive: true, force: true })
      resolve(code)
    })
  })
  return new Promise((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      output += chunk.toString()
      const port = /"port":([0-9]+),"msg":"listening"/.exec(output)?.[1]
      if (port === undefined) return
      const stop = () => {
        child.kill('SIGTERM')
        return exited
      }
      resolve({ port: Number(port), log: () => output, stop })
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    void exited.then((code) => reject(new Error(`the broker ended with code ${code}\n${output}`)))
  })
}
