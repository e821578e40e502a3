import { expect } from 'vitest'
import type { Subscription } from '../../../src/queue/model.ts'
import type {
  AckItem,
  Claim,
  PopScope,
  PushItem,
  PushResult,
  QueueStore,
  TransactionOp,
  WriteKind,
  WriteOp,
  Writes,
} from '../../../src/queue/store.ts'
import { Model } from './model.ts'
import type { AckPick, LeaseChoice, Step } from './steps.ts'

/** One delivered message, as a consumer remembers it. */
interface Delivery {
  readonly tx: string
  readonly partitionId: string
  readonly leaseId: string
  readonly group: string
}

export const MS = 1000
export const SECOND = 1_000_000
/** Far enough from every other run that nothing reaches over. */
const RUN_US = 1_000_000 * SECOND
let runs = 0

/** Plays what producers and consumers do against a store and the model, and compares both. */
export class Consumers {
  protected readonly store: QueueStore
  /** Makes the names of this run its own: the runs share one store. */
  protected readonly suffix: string
  protected model = new Model()
  protected deliveries: Delivery[] = []
  protected claims: { group: string; leaseId: string; claims: readonly Claim[] }[] = []
  protected dlqIds: string[] = []
  protected moments: number[] = []
  #payloads = 0

  constructor(store: QueueStore) {
    runs += 1
    this.store = store
    this.suffix = `~${runs}`
    this.model.nowUs = 1_800_000_000 * SECOND + runs * RUN_US
  }

  protected own(name: string): string {
    return `${name}${this.suffix}`
  }

  protected async write<K extends WriteKind>(
    kind: K,
    args: Writes[K]['args'],
  ): Promise<Writes[K]['result']> {
    const [outcome] = await this.store.commit([{ kind, args } as WriteOp])
    if (outcome === undefined || !outcome.ok) throw outcome?.error ?? new Error('no outcome')
    return outcome.value as Writes[K]['result']
  }

  #item(queue: string, partition: string, tx: string | null): PushItem {
    this.#payloads += 1
    const payload = JSON.stringify({ n: this.#payloads })
    return {
      queue: this.own(queue),
      partition,
      payload,
      transactionId: tx,
      traceId: null,
      namespace: queue.split('.')[0] + this.suffix,
      task: null,
    }
  }

  /** Plays pushes on the model; the results must say the same. */
  #pushed(model: Model, items: readonly PushItem[], results: Writes['push']['result']): void {
    items.forEach((item, i) => {
      const result = results[i]!
      if (result.status === 'buffered') throw new Error('push maintenance is off')
      const queue = item.queue.split('~')[0]!
      const { partition, message, duplicate } = model.push(
        queue,
        item.partition,
        item.transactionId,
        item.payload,
      )
      expect(result.status).toBe(duplicate ? 'duplicate' : 'queued')
      partition.id ||= result.partitionId
      expect(result.partitionId).toBe(partition.id)
      if (duplicate) {
        expect(result.messageId).toBe(message.id)
        return
      }
      const before = partition.messages.at(-2)
      if (before !== undefined) expect(result.messageId > before.id).toBe(true)
      message.id = result.messageId
      Object.assign(message, { tx: result.transactionId })
    })
  }

  protected async push({ items }: Extract<Step, { do: 'push' }>): Promise<void> {
    const sent = items.map(({ queue, partition, tx }) => this.#item(queue, partition, tx))
    const { nowUs } = this.model
    this.#pushed(
      this.model,
      sent,
      await this.write('push', { items: sent, producerSub: null, nowUs }),
    )
  }

  protected async pop(step: Extract<Step, { do: 'pop' }>): Promise<void> {
    const model = this.model
    const { group, batch, leaseSeconds, autoAck } = step
    const single = 'queue' in step.scope && step.scope.partition !== null
    const subscription: Subscription =
      'pick' in step.subscription
        ? { mode: 'timestamp', fromUs: this.moment(step.subscription.pick) }
        : step.subscription
    const asked = step.scope
    const names =
      'queue' in asked
        ? [asked.queue]
        : [...model.queues.keys()].filter((name) => name.split('.')[0] === asked.namespace)
    const scope: PopScope =
      'queue' in step.scope
        ? { queue: this.own(step.scope.queue), partition: step.scope.partition }
        : { namespace: this.own(step.scope.namespace), task: null }
    const partitions = single ? 1 : step.partitions
    const { nowUs } = model
    const args = { scope, group, batch, partitions, leaseSeconds, autoAck, subscription, nowUs }
    const result = await this.write('pop', args)
    expect(result.unfinished).toBe(false)
    for (const name of names) model.register(name, group, subscription)
    let left = batch
    for (const claim of result.claims)
      left -= this.#claimed(step, names, claim, left, result.leaseId)
    const full = left === 0 || (partitions > 0 && result.claims.length === partitions)
    if (!full) expect(this.#open(step, names)).toEqual([])
    if (result.claims.length > 0) {
      expect(result.leaseId === '').toBe(autoAck)
      this.claims.push({ group, leaseId: result.leaseId, claims: result.claims })
    }
  }

  /** Partitions that the pop could still take from. */
  #open(step: Extract<Step, { do: 'pop' }>, names: readonly string[]): readonly string[] {
    const only = 'queue' in step.scope ? step.scope.partition : null
    return names.flatMap((name) => {
      const queue = this.model.queues.get(name)
      if (queue === undefined) return []
      return [...queue.partitions.values()]
        .filter((partition) => only === null || partition.name === only)
        .filter((one) => this.model.deliverable(queue, one, step.group, 1).length > 0)
        .map((partition) => `${name}/${partition.name}`)
    })
  }

  #claimed(
    step: Extract<Step, { do: 'pop' }>,
    names: readonly string[],
    claim: Claim,
    limit: number,
    leaseId: string,
  ): number {
    const name = claim.queue.split('~')[0]!
    expect(names).toContain(name)
    const { queue, partition } = this.model.byId(claim.partitionId)!
    const ranks = this.#open(step, names).map((path) => {
      return this.model.queues.get(path.split('/')[0]!)!.options.priority
    })
    if (!('queue' in step.scope)) expect(queue.options.priority).toBe(Math.max(...ranks))
    const messages = this.model.deliverable(queue, partition, step.group, limit)
    expect(claim.messages.map(({ id, payload }) => ({ id, payload }))).toEqual(
      messages.map(({ id, payload }) => ({ id, payload })),
    )
    expect(messages.length).toBeGreaterThan(0)
    expect(claim.retryCount).toBe(this.model.cursor(queue, partition, step.group).retry)
    const { leaseSeconds } = step
    this.model.claim(queue, partition, step.group, { messages, leaseId, leaseSeconds })
    for (const { tx } of messages) {
      this.deliveries.push({ tx, partitionId: partition.id, leaseId, group: step.group })
    }
    return messages.length
  }

  protected moment(pick: number): number {
    return this.moments[pick % this.moments.length]!
  }

  #leaseId(delivery: Delivery, choice: LeaseChoice): string | null {
    if (choice === 'wrong') return 'wrong'
    return choice === 'none' || delivery.leaseId === '' ? null : delivery.leaseId
  }

  #picked(picks: readonly AckPick[], lease: LeaseChoice) {
    return picks.map(({ pick, status, error }) => {
      const delivery = this.deliveries.at(-1 - (pick % Math.min(this.deliveries.length, 8)))!
      const { tx: transactionId, partitionId } = delivery
      const leaseId = this.#leaseId(delivery, lease)
      const item: AckItem = { transactionId, partitionId, status, error, leaseId }
      return { group: delivery.group, item }
    })
  }

  /** Plays acks of one group on the model, step by step, and gives the results in order. */
  #acked(model: Model, group: string, items: readonly AckItem[]) {
    const results: ReturnType<Model['ack']> = []
    const steps = Map.groupBy(
      items.map((item, index) => ({ item, index })),
      ({ item }) => `${item.partitionId} ${item.leaseId}`,
    )
    for (const entries of steps.values()) {
      const { partitionId, leaseId } = entries[0]!.item
      const asked = entries.map(({ item }) => {
        return { tx: item.transactionId, status: item.status, error: item.error }
      })
      model.ack(partitionId, group, leaseId, asked).forEach((result, i) => {
        results[entries[i]!.index] = result
      })
    }
    return results
  }

  protected async ack(step: Extract<Step, { do: 'ack' }>): Promise<void> {
    if (this.deliveries.length === 0) return
    const picked = this.#picked(step.picks, step.lease)
    const group = step.group ?? picked[0]!.group
    const items = picked.map(({ item }) => item)
    const { nowUs } = this.model
    const results = await this.write('ack', { group, items, nowUs })
    const expected = this.#acked(this.model, group, items)
    expect(results.map(({ error, noop, dlq }) => ({ error: reason(error), noop, dlq }))).toEqual(
      expected,
    )
  }

  protected async transaction(step: Extract<Step, { do: 'transaction' }>): Promise<void> {
    if (this.deliveries.length === 0) return
    const picked = this.#picked(step.acks, step.lease)
    const requiredLeases = step.required.flatMap((pick) => {
      return this.deliveries[pick % this.deliveries.length]!.leaseId || []
    })
    const acks = picked.map(({ group, item }): TransactionOp => ({ type: 'ack', group, item }))
    const sent = step.items.map(({ queue, partition, tx }) => this.#item(queue, partition, tx))
    const pushes = sent.map((item): TransactionOp => ({ type: 'push', item }))
    const operations = [...acks, ...pushes]
    if (operations.length === 0) return
    const { nowUs } = this.model
    const args = { operations, requiredLeases, producerSub: null, nowUs }
    const outcome = await this.write('transaction', args)
    const after = this.model.copy()
    const refused = this.#refuses(after, picked, requiredLeases, sent)
    expect(outcome.success ? null : 'refused').toBe(refused ? 'refused' : null)
    if (!outcome.success) return
    const results = outcome.results.flatMap((result): PushResult[] => {
      if (result.type === 'ack') return []
      return [{ ...result, status: result.duplicate ? 'duplicate' : 'queued' }]
    })
    this.#pushed(after, sent, results)
    this.model = after
  }

  /** Plays the acks on `model`; true when the transaction must leave no trace. */
  #refuses(
    model: Model,
    picked: readonly { group: string; item: AckItem }[],
    required: readonly string[],
    sent: readonly PushItem[],
  ): boolean {
    const lives = (leaseId: string) => this.holders(model, leaseId).length > 0
    if (!required.every(lives)) return true
    const distinct = [...new Set(required)]
    const resolved = picked.map(({ group, item }) => {
      if (item.leaseId !== null || distinct.length === 0) return { group, item }
      if (distinct.length === 1) return { group, item: { ...item, leaseId: distinct[0]! } }
      const cursor = model.byId(item.partitionId)?.partition.cursors.get(group)
      const own = cursor !== undefined && model.live(cursor) ? (cursor.lease?.id ?? '') : ''
      return { group, item: { ...item, leaseId: distinct.includes(own) ? own : 'none' } }
    })
    for (const [group, entries] of Map.groupBy(resolved, (entry) => entry.group)) {
      const items = entries.map(({ item }) => item)
      if (this.#acked(model, group, items).some(({ error }) => error !== null)) return true
    }
    return sent.some(({ queue: path, partition: name, transactionId: tx }) => {
      const queue = model.queues.get(path.split('~')[0]!)
      const partition = queue?.partitions.get(name)
      if (queue === undefined || partition === undefined || tx === null) return false
      return model.original(queue, partition, tx) !== undefined
    })
  }

  protected holders(model: Model, leaseId: string) {
    return [...model.queues.values()].flatMap((queue) =>
      [...queue.partitions.values()].flatMap((partition) =>
        [...partition.cursors.values()].filter((cursor) => {
          return model.live(cursor) && cursor.lease?.id === leaseId
        }),
      ),
    )
  }
}

function reason(error: string | null): 'not found' | 'lease' | 'committed' | null {
  if (error === null) return null
  if (error.startsWith('already committed')) return 'committed'
  return error.includes('lease') ? 'lease' : 'not found'
}
