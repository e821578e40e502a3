import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A server in a process of its own, so that it does not share a thread with the load. */
export interface Server {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a bench server file; it prints `listening PORT` when it is ready. */
export async function startServer(file: URL, args: readonly string[] = []): Promise<Server> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', fileURLToPath(file), ...args],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_ENV: 'production' } },
  )
  return { url: `http://127.0.0.1:${await announcedPort(child)}`, stop: () => stop(child) }
}

async function announcedPort(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the server has no standard output')
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /"?listening"? (\d+)/.exec(line)?.[1]
    if (port === undefined) continue
    child.stdout.resume()
    return port
  }
  throw new Error('the server ended before it listened')
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
