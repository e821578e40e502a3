import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Call, Caller, Reply } from '../support/broker.ts'
import { type ChildBroker, startChildBroker } from '../support/child-broker.ts'
import { type Life, setOf } from './kill-workers.ts'

/** Thrown to a worker that asks for more after the end was announced. */
export class LoadOver extends Error {}

/** Between two tries of a call that a fault has hit. */
const RETRY_MS = 20

/** Broker processes on one database, and a client that goes round them. */
export class Brokers {
  readonly #env: Readonly<Record<string, string>>
  readonly #running: ChildBroker[] = []
  readonly #waiting: { readonly at: number; readonly go: () => void }[] = []
  #turn = 0
  #answers = 0
  #over = false
  #killed = false

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env
  }

  /** Starts one more process. */
  async start(): Promise<ChildBroker> {
    const broker = await startChildBroker(this.#env)
    this.#running.push(broker)
    return broker
  }

  /** Ends one process as `kill -9` does; the client goes on with the others. */
  async kill(): Promise<void> {
    const [broker] = this.#running
    if (broker === undefined) throw new Error('no broker runs')
    broker.signal('SIGKILL')
    await broker.exited
    this.#running.shift()
  }

  /** Asks every process for its health. */
  health(): Promise<readonly Reply[]> {
    return Promise.all(this.#running.map(({ call }) => call('GET /health')))
  }

  /** What each process answers to one call. */
  each(route: string, options?: Call): Promise<readonly Reply[]> {
    return Promise.all(this.#running.map(({ call }) => call(route, options)))
  }

  /**
   * One call of the round-robin client: what a fault may do to it, a lost connection or a 503, is tried again with
   * the next broker until there is an answer.
   * @throws LoadOver once the end was announced, before anything is sent
   */
  readonly call: Caller = async (route, options) => {
    if (this.#over) throw new LoadOver()
    while (!this.#killed) {
      const reply = await this.#try(route, options)
      if (reply !== undefined) return this.#answered(reply)
      await pause(RETRY_MS)
    }
    throw new LoadOver()
  }

  /** Resolves after so many more answers of the client. */
  answers(count: number): Promise<void> {
    return new Promise((go) => this.#waiting.push({ at: this.#answers + count, go }))
  }

  /** Lets the calls in flight come to their answers and refuses others. */
  endLoad(): void {
    this.#over = true
  }

  /** After `endLoad`: takes calls again. */
  reopen(): void {
    this.#over = false
  }

  /** Ends every process in order. @throws when one had ended before or fails to end well */
  async stop(): Promise<void> {
    for (const broker of this.#running) broker.signal('SIGTERM')
    for (const { exited } of this.#running) expect(await exited).toMatchObject({ code: 0 })
  }

  /** Ends every process, in whatever state it is, and the calls with them; for the end of a test that failed. */
  killAll(): void {
    this.#killed = true
    for (const broker of this.#running) broker.signal('SIGKILL')
  }

  async #try(route: string, options: Call | undefined): Promise<Reply | undefined> {
    this.#turn += 1
    const broker = this.#running[this.#turn % this.#running.length]
    const reply = await broker?.call(route, options).catch(() => undefined)
    return reply?.status === 503 ? undefined : reply
  }

  #answered(reply: Reply): Reply {
    if (reply.status >= 500) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`)
    this.#answers += 1
    for (const { at, go } of this.#waiting) if (at <= this.#answers) go()
    return reply
  }
}

/** Partitions and messages of each in one push of the wide pusher. */
const WIDE_PARTITIONS = ['w0', 'w1', 'w2']
const WIDE_RUN = 2

/** Pushes runs of numbers into several partitions by one request each. */
export function widePusher(queue: string): (life: Life) => Promise<never> {
  let n = 0
  return async ({ call, ledger }) => {
    for (;;) {
      const run = Array.from({ length: WIDE_RUN }, (_, at) => n + at)
      const items = run.flatMap((number) =>
        WIDE_PARTITIONS.map((partition) => ({
          queue,
          partition,
          payload: { n: number },
          transactionId: `${partition}-${number}`,
        })),
      )
      const reply = await call('POST /api/v1/push', { json: { items } })
      expect(reply.status).toBe(201)
      for (const { transactionId } of items) setOf(ledger.pushed, queue).add(transactionId)
      n += WIDE_RUN
    }
  }
}
