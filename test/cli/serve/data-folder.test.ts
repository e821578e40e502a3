import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runHivegate, startChildBroker } from '../../support/child-broker.ts'

let dataDir = ''
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hivegate-folder-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

test('a data folder that is in use by another broker is said in one line', async () => {
  const first = await startChildBroker({ DATA_DIR: dataDir })
  const { code, stderr } = await runHivegate(['serve'], { DATA_DIR: dataDir, PORT: '0' })
  first.signal('SIGTERM')
  expect((await first.exited).code).toBe(0)
  expect(code).toBe(1)
  expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(/^DATA_DIR: .* in use/)])
})

test('a data folder that cannot be made is said in one line', async () => {
  const file = join(dataDir, 'file')
  await writeFile(file, '')
  const { code, stderr } = await runHivegate(['serve'], { DATA_DIR: join(file, 'x'), PORT: '0' })
  expect(code).toBe(1)
  expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(/^DATA_DIR: /)])
})

test('a damaged database of a data folder is said in one line, with the folder', async () => {
  await writeFile(join(dataDir, 'hivegate.db'), 'no database at all '.repeat(1000))
  const { code, stderr } = await runHivegate(['serve'], { DATA_DIR: dataDir, PORT: '0' })
  expect([code, stderr]).toEqual([
    1,
    `DATA_DIR: "${dataDir}" cannot be used (file is not a database)\n`,
  ])
})
