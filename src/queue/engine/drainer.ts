import type { OpsWrites } from '../store-ops.ts'

/** Buffered pushes moved by one write: about as many as one batched push, so that traffic goes on between. */
const STEP = 500
/** After a failed step that no single push is to blame for. */
const RETRY_MS = 1000

type DrainKind = 'drainBuffer' | 'skipBuffered'

/** The writes that a drainer makes. */
export type DrainWrite = <K extends DrainKind>(
  kind: K,
  args: Omit<OpsWrites[K]['args'], 'nowUs'>,
) => Promise<OpsWrites[K]['result']>

/**
 * Replays the buffer of push maintenance in arrival order once maintenance is off. A push that can never be
 * replayed is set aside after failing alone, so that it does not hold the others back for ever.
 */
export class BufferDrainer {
  readonly #write: DrainWrite
  readonly #onError: (error: unknown) => void
  #running: Promise<void> | undefined
  #again = false
  #stopped = false
  #retry: NodeJS.Timeout | undefined

  /** `onError` hears of every failed step. */
  constructor(write: DrainWrite, onError: (error: unknown) => void) {
    this.#write = write
    this.#onError = onError
  }

  /** Starts, or makes a running replay look once more; returns at once. */
  kick(): void {
    if (this.#stopped) return
    this.#again = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Ends after the step in flight. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#retry)
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false
      try {
        await this.#toTheEnd()
      } catch (error) {
        this.#onError(error)
        this.#retry = setTimeout(() => this.kick(), RETRY_MS)
        this.#retry.unref()
      }
    }
  }

  async #toTheEnd(): Promise<void> {
    let left = 1
    while (left > 0 && !this.#stopped) left = await this.#step()
  }

  async #step(): Promise<number> {
    try {
      return (await this.#write('drainBuffer', { limit: STEP })).left
    } catch (error) {
      if (!isOneOperationsFault(error)) throw error
      this.#onError(error)
      return this.#stepAlone()
    }
  }

  async #stepAlone(): Promise<number> {
    try {
      return (await this.#write('drainBuffer', { limit: 1 })).left
    } catch (error) {
      if (!isOneOperationsFault(error)) throw error
      this.#onError(error)
      const { skipped } = await this.#write('skipBuffered', {})
      return skipped ? 1 : 0
    }
  }
}

/** True when the store works and refused just this: waiting would not help. */
function isOneOperationsFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'store_failed'
}
