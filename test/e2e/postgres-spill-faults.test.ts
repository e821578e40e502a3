import { randomBytes } from 'node:crypto'
import { mkdir, open as openFile, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { startTestBroker } from '../support/broker.ts'
import { runHivegate } from '../support/child-broker.ts'
import {
  eventually,
  figure,
  ids,
  open,
  push,
  query,
  refused,
  replayed,
  setAside,
  settings,
  spillPath,
  startServer,
  statuses,
  stopServer,
  useSpill,
} from './spill-bench.ts'

useSpill()

/** Overwrites the bytes of a word in the newest file of the spill, as a disk that forgets does. */
async function damage(word: string): Promise<void> {
  const names = (await readdir(spillPath())).filter((name) => name.endsWith('.spill'))
  const path = spillPath(names.sort().at(-1))
  const at = (await readFile(path)).indexOf(word)
  expect(at).toBeGreaterThan(0)
  const file = await openFile(path, 'r+')
  await file.write(Buffer.alloc(word.length), 0, word.length, at)
  await file.close()
}

describe('a spill', { timeout: 300_000 }, () => {
  it('sets aside what the database refuses, counts it, and goes on with the rest', async () => {
    const broker = await open()
    await push(broker.call, [{ transactionId: 'before' }])
    await stopServer()
    // Longer than an index of PostgreSQL takes.
    const tooLong = randomBytes(8000).toString('base64')
    await push(broker.call, [{ transactionId: 'a' }, { transactionId: tooLong }])
    await push(broker.call, [{ transactionId: 'b' }])
    await startServer()
    await replayed(broker)
    expect(await ids()).toEqual(['before', 'a', 'b'])
    expect(await figure(broker, 'queen_file_buffer_failed')).toBe(1)
    const [line] = await refused()
    expect(JSON.parse(line.record).messages[0].item.transactionId).toBe(tooLong)
    const where = { file: '0000000001.spill', offset: 0 }
    expect(setAside(broker)).toEqual([
      {
        ...{ level: 'error', time: expect.any(String), msg: expect.any(String), ...where },
        ...{ queue: 'q', partition: 'Default' },
        reason: 'refused by the database, SQLSTATE 54000',
      },
    ])
    expect(broker.lines.join('')).not.toContain(tooLong.slice(0, 100))
  })

  it('sets aside what is damaged on disk, at once and after a restart, and goes on with the rest', async () => {
    const broker = await open()
    await stopServer()
    for (const name of ['one', 'two-secret', 'three']) {
      await push(broker.call, [{ transactionId: name }])
    }
    await damage('two-secret')
    await startServer()
    await replayed(broker)
    expect(await ids()).toEqual(['one', 'three'])
    expect(await figure(broker, 'queen_file_buffer_failed')).toBe(1)
    expect(await figure(broker, 'hivegate_spill_stuck')).toBe(0)
    // Nothing waits any more that pushes would have to line up behind.
    expect(statuses(await push(broker.call, [{ transactionId: 'four' }]))).toEqual(['queued'])
    const [where] = setAside(broker)
    expect(where).toMatchObject({ file: '0000000001.spill', reason: 'its bytes are damaged' })
    expect(where.offset).toBeGreaterThan(0)
    expect(broker.lines.join('')).not.toContain('secret')

    await stopServer()
    for (const name of ['five', 'six-secret', 'seven']) {
      await push(broker.call, [{ transactionId: name }])
    }
    await broker.stop()
    await damage('six-secret')
    await startServer()
    const second = await open()
    await replayed(second)
    expect(await ids()).toEqual(['one', 'three', 'four', 'five', 'seven'])
    expect(setAside(second)).toHaveLength(1)
    const kept = await refused()
    expect(kept).toHaveLength(2)
    for (const { bytes } of kept) expect(Buffer.from(bytes, 'base64').toString()).toContain('item')
    const { body } = await second.call('GET /api/v1/system/maintenance')
    expect(body).toMatchObject({ bufferedMessages: 0, bufferHealthy: false })
  })

  it('that was written with another key is set aside, whole', async () => {
    const key = (digit: string) => ({ QUEEN_ENCRYPTION_KEY: digit.repeat(64) })
    const broker = await open(key('a'))
    await stopServer()
    await push(broker.call, [{ transactionId: 'sealed' }])
    await broker.stop()
    await startServer()
    const second = await open(key('b'))
    await eventually(
      () => figure(second, 'queen_file_buffer_failed'),
      (failed) => failed === 1,
    )
    const [{ record, reason }] = await refused()
    expect(reason).toBe('it cannot be read with this key')
    expect(Object.keys(JSON.parse(record))).toEqual(['encrypted', 'iv', 'authTag'])
    expect(statuses(await push(second.call, [{}]))).toEqual(['queued'])
  })

  it('that cannot go on says so in a figure and the log, does not hurry, and loses nothing', async () => {
    const broker = await open()
    await mkdir(spillPath('refused.jsonl'))
    await stopServer()
    const tooLong = randomBytes(8000).toString('base64')
    await push(broker.call, [{ transactionId: tooLong }, { transactionId: 'a' }])
    await startServer()
    await eventually(
      () => figure(broker, 'hivegate_spill_stuck'),
      (stuck) => stuck === 1,
    )
    // Others need not wait for it.
    const other = await push(broker.call, [{ partition: 'other', transactionId: 'o' }])
    expect(statuses(other)).toEqual(['queued'])
    expect(statuses(await push(broker.call, [{ transactionId: 'b' }]))).toEqual(['buffered'])
    const failures = broker.lines.filter((line) => line.includes('EISDIR'))
    expect(failures.length).toBeGreaterThan(0)
    expect(JSON.parse(failures[0] ?? '').level).toBe('error')
    await rmdir(spillPath('refused.jsonl'))
    await replayed(broker)
    expect(await ids()).toEqual(['a', 'b'])
    expect(await refused()).toHaveLength(1)
    expect(await figure(broker, 'hivegate_spill_stuck')).toBe(0)
  })

  it('is given back by a broker that cannot start', async () => {
    await (await startTestBroker(settings())).stop()
    await query('ALTER TABLE hivegate.flag RENAME TO gone')
    await expect(startTestBroker(settings())).rejects.toThrow(/flag/)
    await query('ALTER TABLE hivegate.gone RENAME TO flag')
    const broker = await open()
    expect(statuses(await push(broker.call, [{}]))).toEqual(['queued'])
  })

  it('with a damaged lock file is refused by one line that names the file and what to do', async () => {
    const lock = spillPath('hivegate.lock')
    await writeFile(lock, 'x'.repeat(5000))
    const boot = await runHivegate(['serve'], { PORT: '0', ...settings() })
    expect([boot.code, boot.stderr]).toEqual([
      1,
      `OUTAGE_SPILL_DIR: "${spillPath()}" cannot be used (the lock file "${lock}" cannot be used ` +
        '(file is not a database); stop every broker on this folder, then remove that file)\n',
    ])
    await rm(lock)
    await open()
  })
})
