import { SpillLog } from '../../storage/index.ts'
import { payloadCipher } from '../cipher.ts'
import type { OpenedSpill } from './outage-spill.ts'
import { decodePush } from './record.ts'
import { Waiting } from './waiting.ts'

/** Where pushes wait while the database is away. */
export interface SpillOptions {
  readonly folder: string
  /** Most bytes of all files. */
  readonly maxBytes: number
  /** 64 hexadecimal digits, or empty: what waits is on disk in clear. */
  readonly encryptionKey: string
  /** Told of a copy of what cannot be read. */
  readonly onDamage: (path: string) => void
}

/** Opens the folder of a spill. @throws StoreLockedError when another process has it, or the system's error */
export async function openSpill(options: SpillOptions): Promise<OpenedSpill> {
  const { folder, maxBytes, encryptionKey, onDamage } = options
  const cipher = payloadCipher(encryptionKey)
  const waiting = new Waiting()
  let damaged = 0
  const log = await SpillLog.open({
    ...{ folder, maxBytes },
    onRecord(body) {
      const push = decodePush(body, cipher)
      if (push !== null) waiting.add(push)
    },
    onDamage(path) {
      damaged += 1
      onDamage(path)
    },
  })
  return { log, cipher, waiting, failed: damaged + (await log.refused()) }
}
