import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreUnavailableError } from '../errors.ts'
import { GroupCommit } from '../group-commit.ts'
import { type FolderLock, takeFolder } from '../lock-thread.ts'
import { frame, frameBytes, readFrame } from './frame.ts'
import { notePlace, type Place, readPlace } from './place.ts'
import { type Finder, makeSegment, openSegments, removeSegment, type Segment } from './segment.ts'

/** A file of this size is followed by another one, so that what was read can go. */
const SEGMENT_BYTES = 16_777_216
/** What was refused stays here, one line of JSON each. */
const REFUSED_FILE = 'refused.jsonl'

/** Settings of a log. */
export interface SpillLogOptions {
  readonly folder: string
  /** Most bytes in all files together; what does not fit is refused. */
  readonly maxBytes: number
  readonly segmentBytes?: number
  /** Told of every record that is still to be read, oldest first. */
  readonly onRecord: (body: Buffer) => void
  /** Told of the copy of a file that cannot be read to its end. */
  readonly onDamage: (path: string) => void
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
  readonly #group: GroupCommit<Buffer, true>
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
    this.#group = new GroupCommit<Buffer, true>({
      sizeOf: (record) => record.length,
      commit: (records) => this.#alone(() => this.#write(records)),
    })
  }

  /** Opens a folder, making it if need be. @throws as `takeFolder`, or the system's error */
  static async open(options: SpillLogOptions): Promise<SpillLog> {
    const { folder, onRecord, onDamage } = options
    const lock = await takeFolder(folder)
    try {
      const head = await readPlace(folder)
      const finder: Finder = {
        record(body, segment, at) {
          const done = segment < head.segment || (segment === head.segment && at < head.offset)
          if (!done) onRecord(body)
        },
        damage: onDamage,
      }
      return new SpillLog(options, lock, await openSegments(folder, finder), head)
    } catch (error) {
      await lock.close()
      throw error
    }
  }

  /** Resolves when the record is on disk. @throws StoreUnavailableError when there is no room or the disk fails */
  async append(body: Buffer): Promise<void> {
    const record = frame(body)
    if (this.#broken || this.#bytes + record.length > this.#options.maxBytes) {
      throw new StoreUnavailableError({ cause: new Error('the spill takes no more') })
    }
    this.#bytes += record.length
    try {
      await this.#group.submit(record)
    } catch (cause) {
      this.#bytes -= record.length
      throw new StoreUnavailableError({ cause })
    }
  }

  /** The oldest records that are not released, up to a number of them and about a number of bytes. */
  peek(most: number, mostBytes: number): Promise<readonly Buffer[]> {
    return this.#alone(async () => {
      const bodies: Buffer[] = []
      let bytes = 0
      for (const segment of this.#segments) {
        let at = segment.number === this.#head.segment ? this.#head.offset : 0
        while (at < segment.end && bodies.length < most && bytes < mostBytes) {
          const body = await readFrame(segment.file, at, segment.end)
          if (typeof body === 'string') throw new Error(`${segment.path}: a record is ${body}`)
          bodies.push(body)
          at += frameBytes(body)
          bytes += body.length
        }
      }
      return bodies
    })
  }

  /** Releases the oldest records, which `peek` gave; files that hold nothing else go. */
  release(bodies: readonly Buffer[]): Promise<void> {
    return this.#alone(async () => {
      for (const body of bodies) this.#pass(frameBytes(body))
      await notePlace(this.#options.folder, this.#head)
      for (let first = this.#segments[0]; first !== undefined; first = this.#segments[0]) {
        const { segment, offset } = this.#head
        if (first.number > segment || (first.number === segment && first.end > offset)) break
        this.#segments.shift()
        if (first === this.#writing) this.#writing = undefined
        this.#bytes -= first.end
        await removeSegment(first)
      }
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

  #pass(bytes: number): void {
    const { segment, offset } = this.#head
    const first = this.#segments.find(
      ({ number, end }) => number > segment || (number === segment && end > offset),
    )
    if (first === undefined) throw new Error('more is released than there is')
    const at = first.number === segment ? offset : 0
    this.#head = { segment: first.number, offset: at + bytes }
  }

  /** One after the other: a file is never removed while it is written. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => undefined)
    return done
  }

  async #write(records: readonly Buffer[]): Promise<readonly true[]> {
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
    return records.map(() => true)
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
