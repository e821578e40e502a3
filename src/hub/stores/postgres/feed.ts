import type { PgHost } from '../../../storage/index.ts'
import type { Head, StoredUpdate, UpdateListener } from '../../store.ts'
import { readHead, readPage } from './reads.ts'

/** What is called with the position of an update that any broker has accepted. */
export const CHANNEL = 'hivegate_hub'
/** How often the head is looked at unasked: a lost notification costs no more than that. */
const CHECK_MS = 1000

/** Settings of a feed. */
export interface FeedOptions {
  readonly host: PgHost
  readonly listener: UpdateListener
  /** Updates were trimmed and deleted before this process had heard them. */
  readonly onGap: () => void
  readonly checkMs?: number | undefined
}

/** Tells one listener about every update of the hub, in its order, whichever broker accepted it. */
export class Feed {
  readonly #options: FeedOptions
  #heardSeq = 0
  #pulling: Promise<void> | undefined
  #again = false
  #timer: NodeJS.Timeout | undefined
  #stopListening: (() => void) | undefined
  #closed = false

  constructor(options: FeedOptions) {
    this.#options = options
  }

  /** Begins after the newest update there is, and names it. */
  async start(): Promise<Head> {
    const { host, checkMs = CHECK_MS } = this.#options
    const head = await readHead(host)
    this.#heardSeq = head.seq
    this.#timer = setInterval(() => this.#look(), checkMs)
    this.#timer.unref()
    this.#stopListening = host.listen(CHANNEL, {
      heard: (payload) => {
        if (Number(payload) > this.#heardSeq) this.#look()
      },
      restored: () => this.#look(),
    })
    return head
  }

  /** Tells about updates that this process has just appended; reads what others had appended before them. */
  async appended(updates: readonly StoredUpdate[]): Promise<void> {
    if (updates[0]?.seq === this.#heardSeq + 1) {
      for (const update of updates) this.#tell(update)
      return
    }
    const last = updates.at(-1)?.seq ?? 0
    // A pull that was under way may have read before the commit, so one more may be needed.
    if (this.#heardSeq < last) await this.#pull()
    if (this.#heardSeq < last) await this.#pull()
  }

  /** Tells nothing any more. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    this.#stopListening?.()
    await this.#pulling?.catch(() => undefined)
  }

  /** Pulls in the background; a database that is away is asked again at the next look. */
  #look(): void {
    if (this.#pulling === undefined) this.#pull().catch(() => undefined)
    else this.#again = true
  }

  /** Reads up to the head; whoever calls while that is under way shares it. */
  #pull(): Promise<void> {
    this.#pulling ??= this.#readToHead().finally(() => {
      this.#pulling = undefined
    })
    return this.#pulling
  }

  async #readToHead(): Promise<void> {
    for (let atHead = false; !atHead && !this.#closed; ) {
      this.#again = false
      const from = this.#heardSeq
      const page = await readPage(this.#options.host, from, 'all')
      // Measured against the moment of the read: what is told directly meanwhile may be newer than the page.
      if (page.newest < from) this.#goBack(page.newest)
      for (const update of page.updates) this.#tell(update)
      atHead = page.atHead && !this.#again
    }
  }

  /** The database was put back to an older state, as by a failover: positions beyond it are given out again. */
  #goBack(newest: number): void {
    this.#heardSeq = newest
    this.#options.onGap()
  }

  #tell(update: StoredUpdate): void {
    // Direct telling and a page that was read at the same time may overlap.
    if (this.#closed || update.seq <= this.#heardSeq) return
    if (update.seq > this.#heardSeq + 1) this.#options.onGap()
    this.#heardSeq = update.seq
    this.#options.listener(update)
  }
}
