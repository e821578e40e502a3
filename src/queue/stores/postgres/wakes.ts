import { z } from 'zod'
import type { PgHost } from '../../../storage/index.ts'
import type { Wake } from '../../store.ts'

const CHANNEL = 'hivegate_wake'
/** Wakes of so many ms go out together: the notification costs a commit of its own. */
const GATHER_MS = 5
/** PostgreSQL takes payloads below 8,000 bytes; a name of 255 characters may have 1,020. */
const MAX_BYTES = 7500

const notice = z.object({
  origin: z.string(),
  wakes: z.array(
    z.object({
      queue: z.string(),
      namespace: z.string(),
      task: z.string(),
      atMs: z.number().nullable(),
    }),
  ),
  /** True when a flag was set. */
  flags: z.boolean(),
})

type Notice = z.infer<typeof notice>

/** The notices that carry these wakes, each small enough. */
function noticesOf(origin: string, wakes: readonly Wake[], flags: boolean): readonly string[] {
  const texts: string[] = []
  let part: Wake[] = []
  let bytes = 0
  const close = (): void => {
    const value: Notice = { origin, wakes: part, flags: flags && texts.length === 0 }
    texts.push(JSON.stringify(value))
    part = []
    bytes = 0
  }
  for (const wake of wakes) {
    const size = Buffer.byteLength(JSON.stringify(wake)) + 1
    if (bytes + size > MAX_BYTES && part.length > 0) close()
    part.push(wake)
    bytes += size
  }
  close()
  return texts
}

/**
 * Tells the other brokers on the database what has become deliverable, and hears it from them. A notice that is
 * lost does no harm: waiting pops look again by themselves.
 */
export class WakeBus {
  readonly #host: PgHost
  readonly #wakeListeners = new Set<(wake: Wake) => void>()
  readonly #flagListeners = new Set<() => void>()
  #waiting = new Map<string, Wake>()
  #flags = false
  #timer: NodeJS.Timeout | undefined
  #stop: (() => void) | undefined

  constructor(host: PgHost) {
    this.#host = host
  }

  /** Sends these wakes to the others, with what else there is in the next few ms. */
  tell(wakes: readonly Wake[]): void {
    for (const wake of wakes) {
      this.#waiting.set(`${wake.queue}\0${wake.namespace}\0${wake.task}\0${wake.atMs}`, wake)
    }
    if (this.#waiting.size > 0) this.#plan()
  }

  /** Says that a flag was set. */
  tellFlags(): void {
    this.#flags = true
    this.#plan()
  }

  onWake(listener: (wake: Wake) => void): () => void {
    this.#wakeListeners.add(listener)
    this.#listen()
    return () => this.#forget(() => this.#wakeListeners.delete(listener))
  }

  onFlags(listener: () => void): () => void {
    this.#flagListeners.add(listener)
    this.#listen()
    return () => this.#forget(() => this.#flagListeners.delete(listener))
  }

  /** Sends what is left. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#send()
  }

  #plan(): void {
    this.#timer ??= setTimeout(() => void this.#send(), GATHER_MS)
  }

  async #send(): Promise<void> {
    this.#timer = undefined
    if (this.#waiting.size === 0 && !this.#flags) return
    const texts = noticesOf(this.#host.instance, [...this.#waiting.values()], this.#flags)
    this.#waiting = new Map()
    this.#flags = false
    // The database may be away; who waits looks again.
    for (const text of texts) await this.#host.notify(CHANNEL, text).catch(() => undefined)
  }

  #listen(): void {
    this.#stop ??= this.#host.listen(CHANNEL, {
      heard: (payload) => this.#heard(payload),
      restored: () => {
        for (const listener of this.#flagListeners) listener()
      },
    })
  }

  #forget(remove: () => void): void {
    remove()
    if (this.#wakeListeners.size > 0 || this.#flagListeners.size > 0) return
    this.#stop?.()
    this.#stop = undefined
  }

  #heard(payload: string): void {
    const parsed = notice.safeParse(jsonOf(payload))
    if (!parsed.success || parsed.data.origin === this.#host.instance) return
    for (const wake of parsed.data.wakes) {
      for (const listener of this.#wakeListeners) listener(wake)
    }
    if (parsed.data.flags) for (const listener of this.#flagListeners) listener()
  }
}

/** Anybody who may connect can send on the channel. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
