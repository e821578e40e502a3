import { randomFillSync } from 'node:crypto'

/** The moment and counter inside a UUIDv7: what makes one id higher than another. */
export interface IdMark {
  /** ms since 1970, 48 bits. */
  ms: number
  /** Counts up inside one millisecond, 26 bits. */
  seq: number
}

/** RFC 9562 §6.2 method 1: 12 bits of rand_a and the first 14 of rand_b serve as a counter. */
const LOW_BITS = 14
const MAX_SEQ = 2 ** 26 - 1
/** The counter starts in its lower half, so that a millisecond has room for 33 million more ids. */
const SEED_MASK = 2 ** 25 - 1

const POOL_BYTES = 8190
const RANDOM_TAIL_BYTES = 6
const SEED_BYTES = 4
const pool = Buffer.alloc(POOL_BYTES)
let used = POOL_BYTES

/** Where the next `count` random bytes stand in the pool. */
function takeRandom(count: number): number {
  if (used + count > POOL_BYTES) {
    randomFillSync(pool)
    used = 0
  }
  const at = used
  used += count
  return at
}

/** Moves the mark to the next id: never back, whatever the clock says. */
export function advance(mark: IdMark, nowMs: number): void {
  if (nowMs <= mark.ms && mark.seq < MAX_SEQ) {
    mark.seq += 1
    return
  }
  mark.ms = Math.max(nowMs, mark.ms + 1)
  mark.seq = pool.readUInt32LE(takeRandom(SEED_BYTES)) & SEED_MASK
}

let timeMs = -1
let timeText = ''

/** The first 48 bits as text; many ids are made within one millisecond. */
function timeOf(ms: number): string {
  if (ms !== timeMs) {
    const hex = ms.toString(16).padStart(12, '0')
    timeText = `${hex.slice(0, 8)}-${hex.slice(8)}`
    timeMs = ms
  }
  return timeText
}

/** Writes the id of a mark. RFC 9562 §5.7: version 7, variant 10, and 48 bits of chance at the end. */
export function formatId(mark: IdMark): string {
  const high = (0x7000 | (mark.seq >>> LOW_BITS)).toString(16)
  const low = (0x8000 | (mark.seq & (2 ** LOW_BITS - 1))).toString(16)
  const at = takeRandom(RANDOM_TAIL_BYTES)
  const tail = pool.toString('hex', at, at + RANDOM_TAIL_BYTES)
  return `${timeOf(mark.ms)}-${high}-${low}-${tail}`
}

/** Reads the mark back out of an id that `formatId` wrote. */
export function markOf(id: string): IdMark {
  const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  const high = Number.parseInt(id.slice(15, 18), 16)
  const low = Number.parseInt(id.slice(19, 23), 16) & (2 ** LOW_BITS - 1)
  return { ms, seq: high * 2 ** LOW_BITS + low }
}

/** A UUIDv7 that stands for a moment in µs: 48 bits of ms, 12 of the µs in it, the rest chance. RFC 9562 §6.2 method 3. */
export function idAtMicros(us: number): string {
  const ms = Math.floor(us / 1000)
  const seq = (us - ms * 1000) * 2 ** LOW_BITS + (pool.readUInt16LE(takeRandom(2)) % 2 ** LOW_BITS)
  return formatId({ ms, seq })
}

const freshMark: IdMark = { ms: 0, seq: 0 }

/** A new UUIDv7 for queues, partitions, leases and dead letters; rising within this process. */
export function freshId(nowMs: number): string {
  advance(freshMark, nowMs)
  return formatId(freshMark)
}

/** Text not above any UUIDv7 of that millisecond or a later one: ids stand in the order of time. */
export function firstIdAt(ms: number): string {
  const time = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}
