import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

/**
 * What every record begins with, so that the next one is found behind bytes that are damaged. Text holds no such
 * bytes: what a client sends cannot pass for a record.
 */
const MARKER = Buffer.from([0x1e, 0x48, 0x47, 0x01])
/** The marker, the length of the body, and a checksum over length and body, each 4 bytes, little-endian. */
const HEADER_BYTES = 12
const LENGTH_AT = 4
const SUM_AT = 8

function checksum(header: Buffer, body: Buffer): number {
  return crc32(body, crc32(header.subarray(LENGTH_AT, SUM_AT)))
}

/** A body with its header. */
export function frame(body: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  MARKER.copy(header)
  header.writeUInt32LE(body.length, LENGTH_AT)
  header.writeUInt32LE(checksum(header, body), SUM_AT)
  return Buffer.concat([header, body])
}

/** What is there of so many bytes. */
async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes)
  let read = 0
  while (read < bytes) {
    const { bytesRead } = await file.read(buffer, read, bytes - read, at + read)
    if (bytesRead === 0) break
    read += bytesRead
  }
  return buffer.subarray(0, read)
}

/** What stands at a place of a file: a record, or bytes that are none. */
export interface Frame {
  /** `whole`: the record is as it was written. `damaged`: it is not. `torn`: nothing but a record cut short. */
  readonly state: 'whole' | 'damaged' | 'torn'
  /** The body of a whole record, else all bytes up to the next one. */
  readonly body: Buffer
  /** Where the next record begins. */
  readonly end: number
}

/** The record at a place; its beginning when the rest is missing, null when none begins there. */
async function recordAt(file: FileHandle, at: number, end: number): Promise<Frame | 'cut' | null> {
  const header = await readAt(file, at, Math.min(HEADER_BYTES, end - at))
  const marker = header.subarray(0, MARKER.length)
  if (!marker.equals(MARKER.subarray(0, marker.length))) return null
  if (header.length < HEADER_BYTES) return 'cut'
  const length = header.readUInt32LE(LENGTH_AT)
  const next = at + HEADER_BYTES + length
  if (next > end) return 'cut'
  const body = await readAt(file, at + HEADER_BYTES, length)
  const whole = body.length === length && header.readUInt32LE(SUM_AT) === checksum(header, body)
  return whole ? { state: 'whole', body, end: next } : null
}

/** What stands at a place of a file whose records end at `end`. */
export async function readFrame(file: FileHandle, at: number, end: number): Promise<Frame> {
  const first = await recordAt(file, at, end)
  if (first !== null && first !== 'cut') return first
  const rest = await readAt(file, at, end - at)
  for (let from = rest.indexOf(MARKER, 1); from >= 0; from = rest.indexOf(MARKER, from + 1)) {
    const next = await recordAt(file, at + from, end)
    if (next === null || next === 'cut') continue
    return { state: 'damaged', body: rest.subarray(0, from), end: at + from }
  }
  return { state: first === 'cut' ? 'torn' : 'damaged', body: rest, end }
}
