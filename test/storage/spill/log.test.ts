import {
  copyFile,
  cp,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SpillLog, type SpillLogOptions, StoreLockedError } from '../../../src/storage/index.ts'

/** Bytes in front of every record. */
const HEADER = 12

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'hivegate-spill-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** A log with what was found, and how many torn bytes went, when it was opened. */
async function open(path: string, more: Partial<SpillLogOptions> = {}) {
  const found: string[] = []
  const torn: number[] = []
  const gone: number[] = []
  const log = await SpillLog.open({
    ...{ folder: path, maxBytes: 1_000_000, ...more },
    onRecord: (body) => found.push(body.toString()),
    onTorn: (_, bytes) => torn.push(bytes),
    onGone: (segment) => gone.push(segment),
  })
  onTestFinished(() => log.close())
  const append = (text: string) => log.append(Buffer.from(text))
  const entries = (most = 100) => log.peek(most, 1_000_000)
  /** Records as they were appended, and of what is damaged how many bytes are left. */
  const peek = async (most?: number) =>
    (await entries(most)).map(({ damaged, body }) => (damaged ? body.length : body.toString()))
  const release = async (most: number) => {
    const last = (await entries(most)).at(-1)
    if (last !== undefined) await log.release(last)
  }
  return { log, found, torn, gone, append, peek, release }
}

/** Changes bytes of a file in place, as a disk that forgets does. */
async function scribble(path: string, at: number, bytes: Buffer): Promise<void> {
  const file = await openFile(path, 'r+')
  await file.write(bytes, 0, bytes.length, at)
  await file.close()
}

/** What `kill -9` leaves: the files as they are now. */
async function crashed(path: string): Promise<string> {
  const copy = await folder()
  await cp(path, copy, { recursive: true, filter: (name) => !name.includes('hivegate.lock') })
  return copy
}

const segmentsOf = async (path: string) =>
  (await readdir(path)).filter((name) => name.endsWith('.spill')).toSorted()

describe('a spill log', () => {
  it('gives records back in the order in which they were appended, at once and after a crash', async () => {
    const path = await folder()
    const { append, peek } = await open(path)
    const texts = Array.from({ length: 50 }, (_, at) => `record ${at}`)
    await Promise.all(texts.map(append))
    expect(await peek()).toEqual(texts)
    expect(await peek(3)).toEqual(texts.slice(0, 3))
    const again = await open(await crashed(path))
    expect(again.found).toEqual(texts)
    expect(await again.peek()).toEqual(texts)
  })

  it('goes on behind what a crash left, and forgets what was released', async () => {
    const path = await folder()
    const { append, release, peek } = await open(path)
    for (const text of ['a', 'b', 'c']) await append(text)
    await release(2)
    expect(await peek()).toEqual(['c'])
    const again = await open(await crashed(path))
    expect(again.found).toEqual(['c'])
    await again.append('d')
    expect(await again.peek()).toEqual(['c', 'd'])
    await again.release(2)
    expect(await again.peek()).toEqual([])
  })

  it('gives what was released once more when the note of it is lost or unreadable', async () => {
    const path = await folder()
    const { append, release } = await open(path)
    for (const text of ['a', 'b']) await append(text)
    await release(1)
    const copy = await crashed(path)
    await writeFile(join(copy, 'progress'), '1 9 0')
    expect((await open(copy)).found).toEqual(['a', 'b'])
  })

  it('takes files away that hold nothing more, and begins a new one when one is full', async () => {
    const path = await folder()
    const { append, release, peek } = await open(path, { segmentBytes: 28 })
    for (const text of ['one', 'two', 'three', 'four']) await append(text)
    expect(await segmentsOf(path)).toHaveLength(2)
    await release(2)
    expect(await segmentsOf(path)).toHaveLength(1)
    await release(2)
    expect(await segmentsOf(path)).toEqual([])
    await append('five')
    expect(await peek()).toEqual(['five'])
    expect((await open(await crashed(path))).found).toEqual(['five'])
  })

  it('drops exactly the record that a crash cut short, wherever the cut is', async () => {
    const path = await folder()
    const { append } = await open(path)
    const texts = ['first', 'second', 'third']
    for (const text of texts) await append(text)
    const [name = ''] = await segmentsOf(path)
    const { size } = await stat(join(path, name))
    const ends = texts.map((_, at) =>
      texts.slice(0, at + 1).reduce((sum, text) => sum + HEADER + text.length, 0),
    )
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: size }), async (cut) => {
        const copy = await mkdtemp(join(tmpdir(), 'hivegate-spill-'))
        await copyFile(join(path, name), join(copy, name))
        await truncate(join(copy, name), cut)
        const { log, found, append, peek } = await open(copy)
        await append('next')
        const whole = texts.slice(0, ends.filter((end) => end <= cut).length)
        expect(found).toEqual(whole)
        expect(await peek()).toEqual([...whole, 'next'])
        await log.close()
        await rm(copy, { recursive: true })
      }),
      { numRuns: 12 },
    )
  })

  it('finds what is whole behind damaged bytes, wherever they are, and gives them in their place', async () => {
    const path = await folder()
    const { append } = await open(path)
    const texts = ['first', 'second', 'third', 'fourth']
    for (const text of texts) await append(text)
    const [name = ''] = await segmentsOf(path)
    const [first, second] = [HEADER + 5, HEADER + 6]
    await fc.assert(
      fc.asyncProperty(fc.nat(second - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const copy = await crashed(path)
        const bytes = await readFile(join(copy, name))
        bytes.writeUInt8(bytes.readUInt8(first + at) ^ change, first + at)
        await writeFile(join(copy, name), bytes)
        const again = await open(copy)
        expect(again.found).toEqual(['first', 'third', 'fourth'])
        expect(await again.peek()).toEqual(['first', second])
        await again.release(2)
        expect(await again.peek()).toEqual(['third', 'fourth'])
        expect(again.torn).toEqual([])
        await again.log.close()
      }),
      { numRuns: 12 },
    )
  })

  it('goes on behind bytes that were damaged while it runs, and says when a file is gone', async () => {
    const path = await folder()
    const { append, peek, release, gone } = await open(path, { segmentBytes: 40 })
    expect([await append('one'), await append('two'), await append('three')]).toEqual([1, 1, 1])
    expect(await append('four')).toBe(2)
    const [name = ''] = await segmentsOf(path)
    await scribble(join(path, name), 2, Buffer.alloc(HEADER))
    await truncate(join(path, name), 2 * (HEADER + 3) + 4)
    expect(await peek()).toEqual([HEADER + 3])
    await release(1)
    expect(await peek()).toEqual(['two', 4])
    await release(2)
    expect(gone).toEqual([1])
    await append('five')
    expect(await peek()).toEqual(['four', 'five'])
    expect((await open(await crashed(path))).found).toEqual(['four', 'five'])
  })

  it('drops an end that was cut short only where a crash can have done it, and says so', async () => {
    const path = await folder()
    const { append } = await open(path, { segmentBytes: 1 })
    for (const text of ['older', 'newer']) await append(text)
    const [older = '', newer = ''] = await segmentsOf(path)
    for (const name of [older, newer]) await truncate(join(path, name), HEADER + 3)
    const again = await open(await crashed(path))
    expect([again.found, again.torn]).toEqual([[], [HEADER + 3]])
    expect(await again.peek()).toEqual([HEADER + 3])
  })

  it('refuses what does not fit, and has room again when something was released', async () => {
    const { append, release, peek } = await open(await folder(), { maxBytes: 38 })
    await append('0123456789')
    await expect(append('0123456789')).rejects.toMatchObject({ status: 503, retryAfterS: 1 })
    await append('012')
    expect(await peek()).toEqual(['0123456789', '012'])
    await release(2)
    await append('0123456789')
  })

  it('belongs to one process', async () => {
    const path = await folder()
    await open(path)
    await expect(open(path)).rejects.toBeInstanceOf(StoreLockedError)
  })

  it('writes down what was refused and counts it over all starts', async () => {
    const path = await folder()
    const { log } = await open(path)
    expect(await log.refused()).toBe(0)
    await log.refuse('{"n":1}')
    await log.refuse('{"n":2}')
    expect(await (await open(await crashed(path))).log.refused()).toBe(2)
  })
})
