import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'

/** How far a log has been read: everything before is done with. */
export interface Place {
  readonly segment: number
  readonly offset: number
}

const FILE = 'progress'
const START: Place = { segment: 0, offset: 0 }

/** The place that was noted last; the beginning when there is none or it cannot be read. */
export async function readPlace(folder: string): Promise<Place> {
  const text = await readFile(join(folder, FILE), 'utf8').catch(() => '')
  const [segment, offset, sum] = text.split(' ').map(Number)
  if (segment === undefined || offset === undefined) return START
  return sum === crc32(`${segment} ${offset}`) ? { segment, offset } : START
}

/** Notes a place. It is not synced: what is read twice after a crash is recognised by who reads. */
export async function notePlace(folder: string, { segment, offset }: Place): Promise<void> {
  const text = `${segment} ${offset}`
  const path = join(folder, FILE)
  await writeFile(`${path}.new`, `${text} ${crc32(text)}`, { mode: 0o600 })
  await rename(`${path}.new`, path)
}
