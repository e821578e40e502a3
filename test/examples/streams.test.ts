import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const SCRIPT = fileURLToPath(new URL('../../examples/streams/index.ts', import.meta.url))

it('the streams example mints as device and user, streams below its herd, and is refused elsewhere', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT], { timeout: 120_000 })
  expect(stdout.trim().split('\n')).toEqual([
    'minted: put ["north-farm"], get ["north-farm"]',
    'minted: put [], get ["north-farm"]',
    'the viewer received: frame 1, frame 2, frame 3',
    'the camera publishes on south-farm: 403',
    'the viewer publishes on north-farm: 403',
  ])
}, 150_000)
