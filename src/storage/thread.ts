import { Worker } from 'node:worker_threads'
import type { RawOutcome } from './connection.ts'
import { StoreClosedError, StoreFailedError, StoreLockedError, StoreSchemaError } from './errors.ts'
import { READY_ID, type ThreadReply, type ThreadSetup, type ThreadTask } from './protocol.ts'
import { siblingUrl } from './sibling.ts'

interface Waiting {
  readonly id: number
  readonly resolve: (reply: ThreadReply) => void
  readonly reject: (error: Error) => void
}

/** One store thread, seen from the main thread: numbered requests and their answers. */
export class StoreThread {
  readonly #worker: Worker
  /**
   * Requests on their way, oldest first. No Map: every table that a Map outgrows points to the next one, so that once
   * one of them is old, whatever passes through the Map survives until the whole heap is collected.
   */
  readonly #waiting: Waiting[] = []
  readonly #setup: ThreadSetup
  #lastId = READY_ID
  #ended: StoreClosedError | undefined

  private constructor(setup: ThreadSetup) {
    this.#setup = setup
    this.#worker = new Worker(new URL(siblingUrl(import.meta.url, './worker')), {
      workerData: setup,
      // node:sqlite still announces itself as experimental; the log is not the place for it.
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    this.#worker.on('message', (reply: ThreadReply) => this.#settle(reply))
    this.#worker.on('error', (cause) => this.#end(new StoreClosedError({ cause })))
    this.#worker.on('exit', () => this.#end(new StoreClosedError()))
  }

  /** Starts a thread and waits until its connection is open. @throws what kept it from opening */
  static async start(setup: ThreadSetup): Promise<StoreThread> {
    const thread = new StoreThread(setup)
    await new Promise<ThreadReply>((resolve, reject) => {
      thread.#waiting.push({ id: READY_ID, resolve, reject })
    })
    return thread
  }

  /** Sends one request. @throws StoreClosedError when the thread is gone */
  ask(task: ThreadTask): Promise<ThreadReply> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    this.#lastId += 1
    const id = this.#lastId
    const reply = new Promise<ThreadReply>((resolve, reject) => {
      this.#waiting.push({ id, resolve, reject })
    })
    this.#worker.postMessage({ id, ...task })
    return reply
  }

  /** Lets the thread finish what it was sent, then ends it. */
  async close(): Promise<void> {
    if (this.#ended !== undefined) return
    const gone = new Promise((resolve) => this.#worker.once('exit', resolve))
    await this.ask({ do: 'close' })
    await gone
  }

  #settle(reply: ThreadReply): void {
    const at = this.#waiting.findIndex(({ id }) => id === reply.id)
    if (at === -1) return
    const [waiting] = this.#waiting.splice(at, 1)
    if ('failed' in reply) waiting?.reject(this.#errorOf(reply))
    else waiting?.resolve(reply)
  }

  #errorOf(reply: Extract<ThreadReply, { failed: string }>): Error {
    if (reply.code === 'store_locked') return new StoreLockedError(this.#setup.dataDir)
    if (reply.code === 'store_schema') return new StoreSchemaError(reply.failed)
    if (reply.code === 'store_closed') return new StoreClosedError()
    return new StoreFailedError(reply.failed)
  }

  #end(error: StoreClosedError): void {
    this.#ended ??= error
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#ended)
  }
}

/** The outcomes of a commit reply, or nothing when the reply is of another kind. */
export function outcomesOf(reply: ThreadReply): readonly RawOutcome[] {
  return 'outcomes' in reply ? reply.outcomes : []
}
