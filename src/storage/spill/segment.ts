import { type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Frame, readFrame } from './frame.ts'
import type { Place } from './place.ts'

const FILE_NAME = /^([0-9]{10})\.spill$/

/** One file of a log. */
export interface Segment {
  readonly number: number
  readonly path: string
  readonly file: FileHandle
  /** Where the next record goes; everything before is on disk. */
  end: number
}

/** What a log holds at one place. */
export interface SpillEntry {
  readonly segment: number
  /** Name of the file in the folder. */
  readonly file: string
  readonly offset: number
  /** Where the next one begins. */
  readonly end: number
  /** The record as it was appended; what is left of one or more of them when they are damaged. */
  readonly body: Buffer
  readonly damaged: boolean
}

/** Told of what a folder holds. */
export interface Finder {
  /** A record that is still to be read. */
  readonly onRecord: (body: Buffer, segment: number) => void
  /** The end of the newest file was cut short, as by a crash in the middle of a write, and is gone. */
  readonly onTorn: (path: string, bytes: number) => void
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

function entryOf({ number, path }: Segment, offset: number, { state, body, end }: Frame) {
  const damaged = state !== 'whole'
  return { segment: number, file: basename(path), offset, end, body, damaged } satisfies SpillEntry
}

/** What a segment holds at an offset before its end. */
export async function entryAt(segment: Segment, offset: number): Promise<SpillEntry> {
  return entryOf(segment, offset, await readFrame(segment.file, offset, segment.end))
}

/** Looks through the records behind an offset, and cuts off what is torn. */
async function lookThrough(segment: Segment, from: number, newest: boolean, finder: Finder) {
  for (let at = from; at < segment.end; ) {
    const { state, body, end } = await readFrame(segment.file, at, segment.end)
    if (state === 'whole') finder.onRecord(body, segment.number)
    if (state === 'torn' && newest) {
      // A write that a crash cut short was never answered. Whatever else is wrong, the reader comes to it.
      finder.onTorn(segment.path, segment.end - at)
      await segment.file.truncate(at)
      await segment.file.sync()
      segment.end = at
    }
    at = end
  }
}

/**
 * Opens the segments of a folder that hold something behind a place, oldest first, tells what, and takes the others
 * away.
 * @throws the system's error
 */
export async function openSegments(
  folder: string,
  head: Place,
  finder: Finder,
): Promise<Segment[]> {
  const numbers = await numbersIn(folder)
  const segments: Segment[] = []
  try {
    for (const number of numbers) {
      const path = pathOf(folder, number)
      const file = await open(path, 'r+')
      const segment: Segment = { number, path, file, end: (await file.stat()).size }
      segments.push(segment)
      const from = number < head.segment ? segment.end : number > head.segment ? 0 : head.offset
      await lookThrough(segment, from, number === numbers.at(-1), finder)
      if (from >= segment.end) {
        segments.pop()
        await removeSegment(segment)
      }
    }
    return segments
  } catch (error) {
    for (const { file } of segments) await file.close()
    throw error
  }
}
