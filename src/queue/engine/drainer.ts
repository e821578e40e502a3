import { ReplayLoop, type ReplayStep, unlessRefused } from '../replay-loop.ts'
import type { OpsWrites } from '../store-ops.ts'

/** Buffered pushes moved by one write: about as many as one batched push, so that traffic goes on between. */
const STEP = 500

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
  readonly #loop: ReplayLoop

  /** `onError` hears of every failed step. */
  constructor(write: DrainWrite, onError: (error: unknown) => void) {
    this.#write = write
    this.#onError = onError
    this.#loop = new ReplayLoop(() => this.#step(), onError)
  }

  /** Starts, or makes a running replay look once more; returns at once. */
  kick(): void {
    this.#loop.kick()
  }

  /** Ends after the step in flight. */
  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #step(): Promise<ReplayStep> {
    const drain = async (limit: number) => (await this.#write('drainBuffer', { limit })).left
    const left = await unlessRefused(
      () => drain(STEP),
      (error) => {
        this.#onError(error)
        return unlessRefused(() => drain(1), this.#skip)
      },
    )
    return left > 0 ? 'more' : 'done'
  }

  readonly #skip = async (error: unknown): Promise<number> => {
    this.#onError(error)
    const { skipped } = await this.#write('skipBuffered', {})
    return skipped ? 1 : 0
  }
}
