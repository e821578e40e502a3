import { expect } from 'vitest'
import { QUEUE_MODE } from '../../../src/queue/model.ts'
import type { Writes } from '../../../src/queue/store.ts'
import { checkRest } from './check.ts'
import { Consumers, MS, SECOND } from './consumers.ts'
import type { ModelPartition, ModelQueue } from './model.ts'
import type { Step } from './steps.ts'

/** Plays every kind of step: what consumers do, and what operators do between. */
export class Driver extends Consumers {
  /** The model's clock. */
  get nowUs(): number {
    return this.model.nowUs
  }

  /** Plays the steps and leaves everything as it is then. */
  async play(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      this.model.step += 1
      // Never a whole second, so that no delay or window ends exactly now.
      this.model.nowUs += MS
      this.moments.push(this.model.nowUs)
      await this.#play(this.#ownGroup(step))
    }
  }

  async run(steps: readonly Step[]): Promise<void> {
    try {
      await this.play(steps)
      await checkRest(this.store, this.model, (name) => this.own(name))
    } finally {
      // The jobs of later runs reach over all queues; what is left is work for their purge steps.
      for (const queue of ['a.x', 'a.y', 'b']) {
        await this.write('deleteQueue', { queue: this.own(queue), nowUs: this.model.nowUs })
      }
    }
  }

  /** Groups of other runs must not be touched by what reaches over queues. */
  #ownGroup(step: Step): Step {
    const named = 'group' in step && step.group !== null && step.group !== QUEUE_MODE
    return named ? { ...step, group: this.own(step.group ?? '') } : step
  }

  async #play(step: Step): Promise<void> {
    switch (step.do) {
      case 'push':
        return this.push(step)
      case 'pop':
        return this.pop(step)
      case 'ack':
        return this.ack(step)
      case 'wait':
        this.model.nowUs += step.seconds * SECOND
        return
      case 'extend':
        return this.#extend(step)
      case 'release':
        return this.#release(step)
      case 'configure':
        return this.#configure(step)
      case 'seek':
        return this.#seek(step)
      case 'transaction':
        return this.transaction(step)
      case 'moveToDlq':
        return this.#moveToDlq(step)
      case 'replay':
        return this.#replay(this.dlqIds, step.pick)
      case 'job':
        return this.#job(step)
      case 'retryMessage':
        return this.#retryMessage(step)
      default:
        return this.#remove(step)
    }
  }

  async #extend({ pick, seconds }: Extract<Step, { do: 'extend' }>): Promise<void> {
    const leaseId = this.deliveries[pick % Math.max(1, this.deliveries.length)]?.leaseId || 'none'
    const { nowUs } = this.model
    const held = this.holders(this.model, leaseId)
    const expiries = held.map(({ lease }) => {
      lease!.untilUs = Math.max(lease!.untilUs, nowUs + seconds * SECOND)
      return lease!.untilUs
    })
    expect(await this.write('extend', { leaseId, seconds, nowUs })).toEqual({
      renewed: held.length,
      expiresAtUs: expiries.length === 0 ? null : Math.min(...expiries),
    })
  }

  async #release({ pick }: Extract<Step, { do: 'release' }>): Promise<void> {
    const made = this.claims[pick % Math.max(1, this.claims.length)]
    if (made === undefined) return
    const { group, leaseId, claims } = made
    const { nowUs } = this.model
    const { released } = await this.write('release', { group, leaseId, claims, nowUs })
    let expected = 0
    for (const { partitionId, after, upTo } of claims) {
      const cursor = this.model.byId(partitionId)?.partition.cursors.get(group)
      if (cursor === undefined) continue
      const untouched = leaseId === '' && cursor.lease === null && cursor.position === upTo
      if (untouched) cursor.position = after
      else if (leaseId === '' || cursor.lease?.id !== leaseId) continue
      cursor.lease = null
      expected += 1
    }
    expect(released).toBe(expected)
  }

  async #configure({ queue: name, options }: Extract<Step, { do: 'configure' }>): Promise<void> {
    const model = this.model
    const labels = { namespace: name.split('.')[0] + this.suffix, task: null }
    const result = await this.write('configure', {
      queue: this.own(name),
      ...labels,
      options,
      mode: 'merge',
      nowUs: model.nowUs,
    })
    const queue = model.queue(name)
    model.partition(queue, 'Default').id = result.partitionId
    const { deadLetterQueue, dlqAfterMaxRetries } = result.options
    const own = queue.options as unknown as Record<string, unknown>
    for (const [key, value] of Object.entries(result.options)) if (key in own) own[key] = value
    queue.options.deadLetter = deadLetterQueue || dlqAfterMaxRetries
    expect(result.options).toMatchObject(options)
  }

  async #seek(step: Extract<Step, { do: 'seek' }>): Promise<void> {
    const model = this.model
    const { group, partition: only } = step
    const atUs = step.pick === null ? null : this.moment(step.pick)
    const target = atUs === null ? { to: 'end' as const } : { to: 'time' as const, atUs }
    const place = { queue: this.own(step.queue), partition: only, after: null, limit: 100 }
    const result = await this.write('seek', { group, target, ...place, nowUs: model.nowUs })
    const queue = model.queues.get(step.queue)
    const moved = [...(queue?.partitions.values() ?? [])].filter((partition) => {
      return only === null || partition.name === only
    })
    expect(result.found).toBe(queue !== undefined && (only === null || moved.length > 0))
    if (queue === undefined) return
    for (const partition of moved) {
      model.group(queue.name, group)
      const first = partition.messages.find((one) => atUs !== null && one.atUs >= atUs)
      const position = (first?.position ?? partition.next) - 1
      partition.cursors.set(group, { position, started: true, lease: null, retry: 0 })
    }
    expect(result.updated).toBe(moved.length)
  }

  async #remove(step: Extract<Step, { do: 'deleteQueue' | 'clear' | 'deleteGroup' | 'restart' }>) {
    const model = this.model
    const { nowUs } = model
    if (step.do === 'deleteQueue') {
      const result = await this.write('deleteQueue', { queue: this.own(step.queue), nowUs })
      expect(result.existed).toBe(model.queues.delete(step.queue))
      for (const key of [...model.groups.keys()]) {
        if (key.startsWith(`${step.queue} `)) model.groups.delete(key)
      }
    } else if (step.do === 'clear') {
      await this.#clear(step)
    } else if (step.do === 'deleteGroup') {
      const queue = step.queue === null ? null : this.own(step.queue)
      const { group, metadata: deleteMetadata } = step
      await this.write('deleteGroup', { group, queue, deleteMetadata, nowUs })
      const names = step.queue === null ? ['a.x', 'a.y', 'b'] : [step.queue]
      for (const name of names) this.#forgetGroup(name, group, deleteMetadata)
    } else {
      const startAtUs = this.moment(step.pick)
      await this.write('updateSubscription', { group: step.group, startAtUs, nowUs })
      for (const [key, row] of model.groups) {
        const match = key.endsWith(` ${step.group}`) && row.mode !== null
        if (match) Object.assign(row, { mode: 'timestamp', fromUs: startAtUs })
      }
    }
  }

  #forgetGroup(queueName: string, group: string, metadata: boolean): void {
    const key = `${queueName} ${group}`
    const row = this.model.groups.get(key)
    if (metadata || row?.mode === null) this.model.groups.delete(key)
    const queue = this.model.queues.get(queueName)
    for (const partition of queue?.partitions.values() ?? []) partition.cursors.delete(group)
  }

  async #clear({ queue: name, partition: only }: Extract<Step, { do: 'clear' }>): Promise<void> {
    const model = this.model
    const queue = model.queues.get(name)
    const cleared: ModelPartition[] = [...(queue?.partitions.values() ?? [])].filter(
      (partition) => {
        return only === null || partition.name === only
      },
    )
    const place = { queue: this.own(name), partition: only, after: null, limit: 100 }
    const result = await this.write('clearQueue', { ...place, nowUs: model.nowUs })
    expect(result.found).toBe(queue !== undefined && (only === null || cleared.length > 0))
    expect(result.deleted).toBe(cleared.reduce((sum, { messages }) => sum + messages.length, 0))
    for (const partition of cleared) {
      partition.messages = []
      for (const cursor of partition.cursors.values()) {
        Object.assign(cursor, { position: partition.next - 1, lease: null, retry: 0 })
      }
    }
  }

  async #moveToDlq({ pick, group }: Extract<Step, { do: 'moveToDlq' }>): Promise<void> {
    const delivery = this.deliveries[pick % Math.max(1, this.deliveries.length)]
    if (delivery === undefined) return
    const model = this.model
    const { tx: transactionId, partitionId } = delivery
    const args = { partitionId, transactionId, group, error: 'by hand', nowUs: model.nowUs }
    const outcome = await this.write('moveToDlq', args)
    const found = model.byId(partitionId)
    const stored = found?.partition.messages.filter(({ tx }) => tx === transactionId) ?? []
    if (found === undefined || stored.length === 0) return expect(outcome.result).toBe('unknown')
    const { queue, partition } = found
    model.group(queue.name, group)
    const cursor = model.cursor(queue, partition, group)
    const next = partition.messages.find(({ position }) => position > cursor.position)
    if (next?.tx !== transactionId) return expect(outcome.result).toBe('not_next')
    if (outcome.result !== 'moved') throw new Error('the next message can be moved')
    this.dlqIds.push(outcome.dlqId)
    const { tx, payload } = next
    queue.dead.push({ partition: partition.name, group, tx, payload, error: 'by hand' })
    Object.assign(cursor, { position: next.position, started: true, retry: 0 })
    if (cursor.lease !== null && cursor.lease.end <= next.position) cursor.lease = null
  }

  async #replay(ids: readonly string[], pick: number): Promise<void> {
    const dlqId = ids[pick % Math.max(1, ids.length)]
    if (dlqId !== undefined) await this.#replayed({ dlqId })
  }

  async #retryMessage({ pick }: Extract<Step, { do: 'retryMessage' }>): Promise<void> {
    const delivery = this.deliveries[pick % Math.max(1, this.deliveries.length)]
    if (delivery === undefined) return
    const { partitionId, tx: transactionId } = delivery
    await this.#replayed({ partitionId, transactionId })
  }

  async #replayed(by: Writes['replayDlq']['args']['by']): Promise<void> {
    const model = this.model
    const outcome = await this.write('replayDlq', {
      by,
      queue: null,
      partition: null,
      nowUs: model.nowUs,
    })
    if (outcome.result === 'gone') return
    const queue: ModelQueue = model.queues.get(outcome.queue.split('~')[0]!)!
    const at = queue.dead.findLastIndex((row) => {
      const same = row.tx === outcome.originalTransactionId && row.group === outcome.consumerGroup
      return same && row.partition === outcome.partition
    })
    expect(at).not.toBe(-1)
    const [row] = queue.dead.splice(at, 1)
    const pushed = model.push(queue.name, row!.partition, outcome.transactionId, row!.payload)
    expect(outcome.result).toBe(pushed.duplicate ? 'duplicate' : 'moved')
    pushed.message.id = outcome.messageId
  }

  async #job({ job }: Extract<Step, { do: 'job' }>): Promise<void> {
    const { nowUs } = this.model
    let after: number | null = null
    let deleted = 0
    do {
      const args = { job, after, limit: 3, idleUs: 0, nowUs }
      const step: Writes['jobStep']['result'] = await this.write('jobStep', args)
      deleted += step.deleted
      after = step.next
    } while (after !== null)
    if (job !== 'purge') expect(deleted).toBe(this.model.expire(job))
  }
}
