import { copyFile, cp, mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SpillLog, type SpillLogOptions, StoreLockedError } from '../../../src/storage/index.ts'

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'hivegate-spill-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** A log with what was found and what was damaged when it was opened. */
async function open(path: string, more: Partial<SpillLogOptions> = {}) {
  const found: string[] = []
  const damaged: string[] = []
  const log = await SpillLog.open({
    ...{ folder: path, maxBytes: 1_000_000, ...more },
    onRecord: (body) => found.push(body.toString()),
    onDamage: (copy) => damaged.push(copy),
  })
  onTestFinished(() => log.close())
  const append = (text: string) => log.append(Buffer.from(text))
  const peek = async (most = 100) =>
    (await log.peek(most, 1_000_000)).map((body) => body.toString())
  const release = async (most: number) => log.release(await log.peek(most, 1_000_000))
  return { log, found, damaged, append, peek, release }
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
    const { append, release, peek } = await open(path, { segmentBytes: 20 })
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
      texts.slice(0, at + 1).reduce((sum, text) => sum + 8 + text.length, 0),
    )
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: size }), async (cut) => {
        const copy = await mkdtemp(join(tmpdir(), 'hivegate-spill-'))
        await copyFile(join(path, name), join(copy, name))
        await truncate(join(copy, name), cut)
        const found: string[] = []
        const log = await SpillLog.open({
          ...{ folder: copy, maxBytes: 1000 },
          onRecord: (body) => found.push(body.toString()),
          onDamage: () => found.push('damage'),
        })
        await log.append(Buffer.from('next'))
        const whole = texts.slice(0, ends.filter((end) => end <= cut).length)
        expect(found).toEqual(whole)
        const bodies = await log.peek(10, 1000)
        expect(bodies.map((body) => body.toString())).toEqual([...whole, 'next'])
        await log.close()
        await rm(copy, { recursive: true })
      }),
      { numRuns: 12 },
    )
  })

  it('keeps a copy of a file with damaged bytes, and goes on with what is whole', async () => {
    const path = await folder()
    const { append } = await open(path, { segmentBytes: 1 })
    for (const text of ['a', 'bad', 'c']) await append(text)
    const copy = await crashed(path)
    const [, second = ''] = await segmentsOf(copy)
    await writeFile(join(copy, second), Buffer.alloc(11))
    const again = await open(copy)
    expect(again.found).toEqual(['a', 'c'])
    expect(again.damaged).toEqual([join(copy, `${second}.damaged`)])
    expect(await again.peek()).toEqual(['a', 'c'])
  })

  it('refuses what does not fit, and has room again when something was released', async () => {
    const { append, release, peek } = await open(await folder(), { maxBytes: 30 })
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
