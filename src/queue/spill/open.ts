import { SpillLog } from '../../storage/index.ts'
import { payloadCipher } from '../cipher.ts'
import type { OpenedSpill } from './outage-spill.ts'
import { decodePush } from './record.ts'
import type { SetAside } from './replayer.ts'
import { Waiting } from './waiting.ts'

/** Where pushes wait while the database is away. */
export interface SpillOptions {
  readonly folder: string
  /** Most bytes of all files. */
  readonly maxBytes: number
  /** 64 hexadecimal digits, or empty: what waits is on disk in clear. */
  readonly encryptionKey: string
  /** Told of what cannot be read or stored and was set aside. */
  readonly onSetAside: (what: SetAside) => void
  /** Told of a file whose end a crash had cut short, and how many bytes of an unfinished record went. */
  readonly onTorn: (path: string, bytes: number) => void
}

/** Opens the folder of a spill. @throws StoreLockedError when another process has it, or the system's error */
export async function openSpill(options: SpillOptions): Promise<OpenedSpill> {
  const { folder, maxBytes, encryptionKey, onSetAside, onTorn } = options
  const cipher = payloadCipher(encryptionKey)
  const waiting = new Waiting()
  const log = await SpillLog.open({
    ...{ folder, maxBytes, onTorn },
    onRecord(body, segment) {
      const push = decodePush(body, cipher)
      if (push === null) return
      waiting.add(push)
      waiting.enter(push, segment)
    },
    onGone: (segment) => waiting.drop(segment),
  })
  return { log, cipher, waiting, failed: await log.refused(), onSetAside }
}
