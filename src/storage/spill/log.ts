import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreUnavailableError } from '../errors.ts'
import { GroupCommit } from '../group-commit.ts'
import { type FolderLock, takeFolder } from '../lock-thread.ts'
import { frame } from './frame.ts'
import { notePlace, type Place, readPlace } from './place.ts'
import {
  entryAt,
  type Finder,
  makeSegment,
  openSegments,
  removeSegment,
  type Segment,
  type SpillEntry,
} from './segment.ts'

/** A file of this size is followed by another one, so that what was read can go. */
const SEGMENT_BYTES = 16_777_216
/** What was refused stays here, one line of JSON each. */
const REFUSED_FILE = 'refused.jsonl'

/** Settings of a log. */
export interface SpillLogOptions extends Finder {
  readonly folder: string
  /** Most bytes in all files together; what does not fit is refused. */
  readonly maxBytes: number
  readonly segmentBytes?: number
  /** Told of every file that is done with and gone. */
  readonly onGone?: (segment: number) => void
}

/**
 * A durable line of records in a folder of its own, which one process has at a time: appended with one sync per
 * group, read in order, and released when they are done with. A kill at any moment loses no appended record; it
 * may make records that were released come again.
 */
export class SpillLog {
  readonly #options: SpillLogOptions
  readonly #lock: FolderLock
  readonly #segments: Segment[]
  readonly #group: GroupCommit<Buffer, number>
  #head: Place
  #nextNumber: number
  #bytes: number
  #writing: Segment | undefined
  #broken = false
  #turn: Promise<unknown> = Promise.resolve()

  private constructor(
    options: SpillLogOptions,
    lock: FolderLock,
    segments: Segment[],
    head: Place,
  ) {
    this.#options = options
    this.#lock = lock
    this.#segments = segments
    this.#head = head
    this.#nextNumber = Math.max(head.segment, segments.at(-1)?.number ?? 0) + 1
    this.#bytes = segments.reduce((sum, { end }) => sum + end, 0)
    this.#group = new GroupCommit<Buffer, number>({
      sizeOf: (record) => record.length,
      commit: (records) => this.#alone(() => this.#write(records)),
    })
  }

  /** Opens a folder, making it if need be. @throws as `takeFolder`, or the system's error */
  static async open(options: SpillLogOptions): Promise<SpillLog> {
    const { folder } = options
    const lock = await takeFolder(folder)
    try {
      const head = await readPlace(folder)
      return new SpillLog(options, lock, await openSegments(folder, head, options), head)
    } catch (error) {
      await lock.close()
      throw error
    }
  }

  /** True when the disk has failed in a way after which nothing more is taken before the next start. */
  get broken(): boolean {
    return this.#broken
  }

  /**
   * Resolves, with the number of the file, when the record is on disk.
   * @throws StoreUnavailableError when there is no room or the disk fails
   */
  async append(body: Buffer): Promise<number> {
    const record = frame(body)
    if (this.#broken || this.#bytes + record.length > this.#options.maxBytes) {
      throw new StoreUnavailableError({ cause: new Error('the spill takes no more') })
    }
    this.#bytes += record.length
    try {
      return await this.#group.submit(record)
    } catch (cause) {
      this.#bytes -= record.length
      throw new StoreUnavailableError({ cause })
    }
  }

  /**
   * The oldest entries that are not released, up to a number of them and about a number of bytes, and none behind a
   * damaged one: to find the next takes reading the rest of the file.
   */
  peek(most: number, mostBytes: number): Promise<readonly SpillEntry[]> {
    return this.#alone(async () => {
      const entries: SpillEntry[] = []
      let bytes = 0
      for (const segment of this.#segments) {
        let at = segment.number === this.#head.segment ? this.#head.offset : 0
        while (at < segment.end && entries.length < most && bytes < mostBytes) {
          const entry = await entryAt(segment, at)
          entries.push(entry)
          if (entry.damaged) return entries
          at = entry.end
          bytes += entry.body.length
        }
      }
      return entries
    })
  }

  /** Releases everything up to an entry that `peek` gave, and that too; files that hold nothing else go. */
  release({ segment: number, end }: SpillEntry): Promise<void> {
    return this.#alone(async () => {
      this.#head = { segment: number, offset: end }
      for (let first = this.#segments[0]; first !== undefined; first = this.#segments[0]) {
        const { segment, offset } = this.#head
        if (first.number > segment || (first.number === segment && first.end > offset)) break
        this.#segments.shift()
        if (first === this.#writing) this.#writing = undefined
        this.#bytes -= first.end
        await removeSegment(first)
        this.#options.onGone?.(first.number)
      }
      // Without the note what comes after it is read once more after a crash, and is recognised. A full disk must
      // not keep files from going.
      await notePlace(this.#options.folder, this.#head).catch(() => undefined)
    })
  }

  /** Writes down, durably, what its reader had to refuse. */
  async refuse(line: string): Promise<void> {
    const path = join(this.#options.folder, REFUSED_FILE)
    await appendFile(path, `${line}\n`, { mode: 0o600, flush: true })
  }

  /** How much was refused, over all time. */
  async refused(): Promise<number> {
    const text = await readFile(join(this.#options.folder, REFUSED_FILE), 'utf8').catch(() => '')
    return text.split('\n').length - 1
  }

  /** Writes what was taken in, and gives the folder back. */
  async close(): Promise<void> {
    await this.#group.close()
    await this.#turn
    for (const { file } of this.#segments) await file.close()
    await this.#lock.close()
  }

  /** One after the other: a file is never removed while it is written. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => undefined)
    return done
  }

  async #write(records: readonly Buffer[]): Promise<readonly number[]> {
    const segment = await this.#current()
    const bytes = Buffer.concat(records)
    try {
      let written = 0
      while (written < bytes.length) {
        const at = segment.end + written
        written += (await segment.file.write(bytes, written, bytes.length - written, at))
          .bytesWritten
      }
      await segment.file.datasync()
    } catch (error) {
      // What is half there must not stand before the next record; after a failed sync nothing is certain.
      this.#broken = await segment.file.truncate(segment.end).then(
        () => false,
        () => true,
      )
      throw error
    }
    segment.end += bytes.length
    return records.map(() => segment.number)
  }

  /** The file that is written to. After a start that is a new one. */
  async #current(): Promise<Segment> {
    const { folder, segmentBytes = SEGMENT_BYTES } = this.#options
    if (this.#writing !== undefined && this.#writing.end < segmentBytes) return this.#writing
    const segment = await makeSegment(folder, this.#nextNumber)
    this.#nextNumber += 1
    this.#segments.push(segment)
    this.#writing = segment
    return segment
  }
}
