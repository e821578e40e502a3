import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

/** Length of the body and checksum over length and body, each 4 bytes, little-endian. */
const HEADER_BYTES = 8

function checksum(header: Buffer, body: Buffer): number {
  // The length counts too: bytes that are all zero are then no record.
  return crc32(body, crc32(header.subarray(0, 4)))
}

/** A body with its header. */
export function frame(body: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32LE(body.length, 0)
  header.writeUInt32LE(checksum(header, body), 4)
  return Buffer.concat([header, body])
}

/** Bytes of a body with its header. */
export function frameBytes(body: Buffer): number {
  return HEADER_BYTES + body.length
}

async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer | undefined> {
  const buffer = Buffer.alloc(bytes)
  let read = 0
  while (read < bytes) {
    const { bytesRead } = await file.read(buffer, read, bytes - read, at + read)
    if (bytesRead === 0) return undefined
    read += bytesRead
  }
  return buffer
}

/**
 * The body of the record at a place. `torn`: the file ends before the record does, as after a crash in the middle
 * of a write. `damaged`: its bytes are not those that were written.
 */
export async function readFrame(
  file: FileHandle,
  at: number,
  end: number,
): Promise<Buffer | 'torn' | 'damaged'> {
  const header = at + HEADER_BYTES > end ? undefined : await readAt(file, at, HEADER_BYTES)
  if (header === undefined) return 'torn'
  const length = header.readUInt32LE(0)
  if (at + HEADER_BYTES + length > end) return 'torn'
  const body = await readAt(file, at + HEADER_BYTES, length)
  if (body === undefined) return 'torn'
  return header.readUInt32LE(4) === checksum(header, body) ? body : 'damaged'
}
