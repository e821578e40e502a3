import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LogSync } from '../../src/storage/log-sync.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hivegate-log-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const flushed = (log: LogSync) => new Promise<Error | null>((resolve) => log.after(resolve))

describe('bringing the write-ahead log to disk', () => {
  test('every commit is answered after a flush that began behind it', async () => {
    const file = join(folder, 'x-wal')
    writeFileSync(file, 'frames')
    const log = new LogSync(file)
    const order: string[] = []
    const first = flushed(log).then(() => order.push('first'))
    // These come while the first flush runs, so the next one answers for both.
    const others = [flushed(log), flushed(log)].map((done) => done.then(() => order.push('later')))
    expect(order).toEqual([])
    await Promise.all([first, ...others])
    expect(order).toEqual(['first', 'later', 'later'])
    expect(log.failed).toBe(false)
    log.close()
  })

  test('a flush that fails is told, and from then on nothing is promised', async () => {
    const file = join(folder, 'x-wal')
    const log = new LogSync(file)
    expect(await flushed(log)).toMatchObject({ code: 'ENOENT' })
    expect(log.failed).toBe(true)
    writeFileSync(file, 'frames')
    expect(await flushed(log)).toMatchObject({ code: 'ENOENT' })
    log.close()
  })
})
