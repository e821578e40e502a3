import { afterEach, beforeEach, expect } from 'vitest'
import { type AckStatus, type GivenOptions, QUEUE_MODE } from '../../../src/queue/model.ts'
import type {
  AckItem,
  Claim,
  PopArgs,
  PopResult,
  PushItem,
  PushResult,
  QueueStore,
  ReadKind,
  Reads,
  Wake,
  WriteKind,
  WriteOp,
  Writes,
} from '../../../src/queue/store.ts'
import { item, TEN_OF_Q } from '../../support/queue-args.ts'

export { item }

/** An empty store that the contract may close and open again. */
export interface StoreHolder {
  readonly store: QueueStore
  /** Opens the same data again, with another encryption key if one is given. */
  reopen(encryptionKey?: string): Promise<QueueStore>
  close(): Promise<void>
}

/** Makes an empty store; `encryptionKey` is empty or 64 hexadecimal digits. */
export type StoreFactory = (encryptionKey: string) => Promise<StoreHolder>

export const SECOND_US = 1_000_000
export const KEY = '5a'.repeat(32)

/** One store for each test, with a clock that only the test moves. */
export class Bench {
  nowUs = 1_800_000_000 * SECOND_US
  /** Wakes of the last write. */
  wakes: readonly Wake[] = []
  #holder: StoreHolder | undefined
  #store: QueueStore | undefined

  constructor(open: StoreFactory, encryptionKey = '') {
    beforeEach(async () => {
      this.nowUs = 1_800_000_000 * SECOND_US
      this.#holder = await open(encryptionKey)
      this.#store = this.#holder.store
    })
    afterEach(() => this.#holder?.close())
  }

  get store(): QueueStore {
    if (this.#store === undefined) throw new Error('only inside a test')
    return this.#store
  }

  async reopen(encryptionKey?: string): Promise<void> {
    this.#store = await this.#holder?.reopen(encryptionKey)
  }

  pass(seconds: number): void {
    this.nowUs += seconds * SECOND_US
  }

  async write<K extends WriteKind>(
    kind: K,
    args: Omit<Writes[K]['args'], 'nowUs'>,
  ): Promise<Writes[K]['result']> {
    const op = { kind, args: { ...args, nowUs: this.nowUs } } as unknown as WriteOp
    const [outcome] = await this.store.commit([op])
    if (outcome === undefined || !outcome.ok) throw outcome?.error ?? new Error('no outcome')
    this.wakes = outcome.wakes
    return outcome.value as Writes[K]['result']
  }

  read<K extends ReadKind>(
    kind: K,
    args: Omit<Reads[K]['args'], 'nowUs'>,
  ): Promise<Reads[K]['result']> {
    return this.store.read(kind, { ...args, nowUs: this.nowUs } as unknown as Reads[K]['args'])
  }

  /** Pushes that must be stored or found, not diverted. */
  async push(...items: PushItem[]): Promise<readonly PushResult[]> {
    const results = await this.write('push', { items, producerSub: null })
    return results.map((result) => {
      if (result.status === 'buffered') throw new Error('push maintenance is off')
      return result
    })
  }

  pop(args: Partial<PopArgs> = {}): Promise<PopResult> {
    return this.write('pop', {
      ...TEN_OF_Q,
      subscription: { mode: 'all' },
      ...args,
    })
  }

  /** The one claim of a pop that must bring exactly one. */
  async claim(args: Partial<PopArgs> = {}): Promise<Claim & { readonly leaseId: string }> {
    const { claims, leaseId } = await this.pop(args)
    expect(claims).toHaveLength(1)
    return { ...claims[0]!, leaseId }
  }

  /** Payloads of everything a pop brings. */
  async payloads(args: Partial<PopArgs> = {}): Promise<readonly unknown[]> {
    const { claims } = await this.pop(args)
    return claims.flatMap(({ messages }) => messages.map(({ payload }) => JSON.parse(payload)))
  }

  /** Acks the message at `index` of a claim. */
  ackOf(
    claim: Claim & { readonly leaseId: string },
    index: number,
    status: AckStatus = 'completed',
    error: string | null = null,
  ): AckItem {
    const { transactionId } = claim.messages[index]!
    return { transactionId, partitionId: claim.partitionId, status, error, leaseId: claim.leaseId }
  }

  ack(items: readonly AckItem[], group = QUEUE_MODE): Promise<Writes['ack']['result']> {
    return this.write('ack', { group, items })
  }

  configure(options: GivenOptions, queue = 'q'): Promise<Writes['configure']['result']> {
    const labels = { namespace: null, task: null }
    return this.write('configure', { queue, ...labels, options, mode: 'merge' })
  }

  /** Runs a job to its end. */
  async job(job: Writes['jobStep']['args']['job'], idleSeconds = 0, limit = 1000): Promise<number> {
    let after: number | null = null
    let deleted = 0
    do {
      const args = { job, after, limit, idleUs: idleSeconds * SECOND_US }
      const step: Writes['jobStep']['result'] = await this.write('jobStep', args)
      deleted += step.deleted
      after = step.next
    } while (after !== null)
    return deleted
  }

  /** The rows of a queue's dead-letter list. */
  async dead(queue = 'q') {
    const all = { group: null, partition: null, fromUs: null, toUs: null, limit: 100, offset: 0 }
    return (await this.store.read('dlq', { queue, ...all })).rows
  }
}
