import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StoreClosedError } from '../../src/storage/index.ts'
import { LogSync } from '../../src/storage/log-sync.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hivegate-log-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('bringing the write-ahead log to disk', () => {
  test('returns for a log that is there, as often as it is asked', () => {
    const file = join(folder, 'x-wal')
    writeFileSync(file, 'frames')
    const log = new LogSync(file)
    log.check()
    log.flush()
    log.flush()
    log.close()
  })

  test('a flush that fails is told, and from then on nothing is promised', () => {
    const file = join(folder, 'x-wal')
    const log = new LogSync(file)
    expect(() => log.flush()).toThrow(StoreClosedError)
    writeFileSync(file, 'frames')
    expect(() => log.check()).toThrow(StoreClosedError)
    expect(() => log.flush()).toThrow(StoreClosedError)
    log.close()
  })
})
