import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Server } from './child.ts'

const BIN = fileURLToPath(new URL('../../bin/hivegate.js', import.meta.url))
const START_TRIES = 600
const START_PAUSE_MS = 50

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function healthy(url: string): Promise<void> {
  for (let tried = 0; tried < START_TRIES; tried += 1) {
    const up = await fetch(`${url}/health`).then(
      (reply) => reply.ok,
      () => false,
    )
    if (up) return
    await delay(START_PAUSE_MS)
  }
  throw new Error('the broker did not become healthy')
}

/** The real broker as a user starts it, on a free port with a data folder of its own. */
export async function startBroker(env: Readonly<Record<string, string>> = {}): Promise<Server> {
  const port = await freePort()
  const dataDir = await mkdtemp(join(tmpdir(), 'hivegate-bench-'))
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [BIN, 'serve'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      ...env,
    },
  })
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    await healthy(url)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, stop }
}
