import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { dropStore, storeSettings } from '../support/test-store.ts'

/** Stands for the data folder, which the example makes for itself. */
const DATA = 'streams example'
afterAll(() => dropStore(DATA))

const SCRIPT = fileURLToPath(new URL('../../examples/streams/index.ts', import.meta.url))

it('the streams example mints as device and user, streams below its herd, and is refused elsewhere', async () => {
  const env = { ...process.env, ...(await storeSettings(DATA)) }
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT], {
    timeout: 120_000,
    env,
  })
  expect(stdout.trim().split('\n')).toEqual([
    'minted: put ["north-farm"], get ["north-farm"]',
    'minted: put [], get ["north-farm"]',
    'the viewer received: frame 1, frame 2, frame 3',
    'the camera publishes on south-farm: 403',
    'the viewer publishes on north-farm: 403',
  ])
}, 150_000)
