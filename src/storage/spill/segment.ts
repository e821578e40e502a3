import { copyFile, type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { frameBytes, readFrame } from './frame.ts'

const FILE_NAME = /^([0-9]{10})\.spill$/

/** One file of a log. */
export interface Segment {
  readonly number: number
  readonly path: string
  readonly file: FileHandle
  /** Where the next record goes; everything before is on disk. */
  end: number
}

function pathOf(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(10, '0')}.spill`)
}

/** Makes a name in a folder last: a file that was synced may still be missing from its folder after a crash. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes an empty segment. */
export async function makeSegment(folder: string, number: number): Promise<Segment> {
  const path = pathOf(folder, number)
  const file = await open(path, 'wx+', 0o600)
  await syncFolder(folder)
  return { number, path, file, end: 0 }
}

/** Takes a segment away. */
export async function removeSegment({ file, path }: Segment): Promise<void> {
  await file.close()
  await rm(path, { force: true })
}

/** Numbers of the segments in a folder, oldest first. */
async function numbersIn(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder)
  return names
    .map((name) => Number(FILE_NAME.exec(name)?.[1] ?? -1))
    .filter((number) => number >= 0)
    .sort((a, b) => a - b)
}

/** Told of what a folder holds. */
export interface Finder {
  record(body: Buffer, segment: number, at: number): void
  /** The rest of a file cannot be read and was kept under this path. */
  damage(path: string): void
}

async function openOne(folder: string, number: number, newest: boolean, finder: Finder) {
  const path = pathOf(folder, number)
  const file = await open(path, 'r+')
  const { size } = await file.stat()
  let end = 0
  while (end < size) {
    const body = await readFrame(file, end, size)
    if (typeof body === 'string') {
      // A write that a crash cut short was never answered. Whatever else is wrong is kept for its owner to see.
      if (body === 'damaged' || !newest) {
        await copyFile(path, `${path}.damaged`)
        finder.damage(`${path}.damaged`)
      }
      await file.truncate(end)
      await file.sync()
      break
    }
    finder.record(body, number, end)
    end += frameBytes(body)
  }
  return { number, path, file, end } satisfies Segment
}

/** Opens every segment of a folder, oldest first, and tells what is in them. */
export async function openSegments(folder: string, finder: Finder): Promise<Segment[]> {
  const numbers = await numbersIn(folder)
  const segments: Segment[] = []
  for (const number of numbers) {
    segments.push(await openOne(folder, number, number === numbers.at(-1), finder))
  }
  return segments
}
