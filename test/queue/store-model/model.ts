import type { AckStatus, Subscription } from '../../../src/queue/model.ts'
import { QUEUE_MODE } from '../../../src/queue/model.ts'

/** The options of a queue that change what a client sees. */
export interface ModelOptions {
  leaseTime: number
  retryLimit: number
  deadLetter: boolean
  delayedProcessing: number
  windowBuffer: number
  dedupWindowSeconds: number
  priority: number
  retentionEnabled: boolean
  retentionSeconds: number
  completedRetentionSeconds: number
  maxWaitTimeSeconds: number
}

export interface ModelMessage {
  readonly position: number
  readonly tx: string
  readonly payload: string
  readonly atUs: number
  /** Number of the operation that stored it. */
  readonly step: number
  id: string
}

export interface ModelCursor {
  position: number
  started: boolean
  lease: { id: string; untilUs: number; end: number } | null
  retry: number
}

export interface ModelPartition {
  readonly name: string
  id: string
  readonly born: number
  messages: ModelMessage[]
  /** Removed by retention; their ids still count as used for the rest of the window they had then. */
  ghosts: (ModelMessage & { readonly untilUs: number })[]
  next: number
  readonly cursors: Map<string, ModelCursor>
}

interface ModelGroup {
  mode: 'all' | 'new' | 'timestamp' | null
  fromUs: number
  since: number
}

export interface ModelQueue {
  readonly name: string
  namespace: string
  options: ModelOptions
  readonly partitions: Map<string, ModelPartition>
  dead: { partition: string; group: string; tx: string; payload: string; error: string }[]
}

const SECOND = 1_000_000

export const MODEL_OPTIONS: ModelOptions = {
  leaseTime: 300,
  retryLimit: 3,
  deadLetter: true,
  delayedProcessing: 0,
  windowBuffer: 0,
  dedupWindowSeconds: 3600,
  priority: 0,
  retentionEnabled: false,
  retentionSeconds: 0,
  completedRetentionSeconds: 0,
  maxWaitTimeSeconds: 0,
}

/** What the queue API says, kept as plain lists and looked up by walking over them. */
export class Model {
  queues = new Map<string, ModelQueue>()
  groups = new Map<string, ModelGroup>()
  step = 0
  nowUs = 0

  queue(name: string): ModelQueue {
    const known = this.queues.get(name)
    if (known !== undefined) return known
    const namespace = name.split('.')[0] ?? ''
    const made = { name, namespace, options: { ...MODEL_OPTIONS }, partitions: new Map(), dead: [] }
    this.queues.set(name, made)
    return made
  }

  partition(queue: ModelQueue, name: string): ModelPartition {
    const known = queue.partitions.get(name)
    if (known !== undefined) return known
    const made = {
      name,
      id: '',
      born: this.step,
      messages: [],
      ghosts: [],
      next: 1,
      cursors: new Map(),
    }
    queue.partitions.set(name, made)
    return made
  }

  byId(id: string): { queue: ModelQueue; partition: ModelPartition } | undefined {
    for (const queue of this.queues.values()) {
      for (const partition of queue.partitions.values()) {
        if (partition.id === id) return { queue, partition }
      }
    }
    return undefined
  }

  group(queue: string, group: string): ModelGroup {
    const key = `${queue} ${group}`
    const known = this.groups.get(key)
    if (known !== undefined) return known
    const made: ModelGroup = { mode: null, fromUs: 0, since: 0 }
    this.groups.set(key, made)
    return made
  }

  /** First contact of a group by a pop. */
  register(queue: string, group: string, wanted: Subscription): void {
    const row = this.group(queue, group)
    if (row.mode !== null) return
    row.mode = group === QUEUE_MODE ? 'all' : wanted.mode
    row.fromUs = wanted.mode === 'timestamp' ? wanted.fromUs : 0
    row.since = this.step
  }

  #start(queue: ModelQueue, partition: ModelPartition, group: string): number {
    const { mode, fromUs, since } = this.group(queue.name, group)
    const first = partition.messages.find((message) => {
      if (mode === 'timestamp') return message.atUs >= fromUs
      return mode !== 'new' || message.step > since
    })
    return first === undefined ? partition.next - 1 : first.position - 1
  }

  cursor(queue: ModelQueue, partition: ModelPartition, group: string): ModelCursor {
    const known = partition.cursors.get(group)
    if (known?.started === true) return known
    const position = this.#start(queue, partition, group)
    const cursor = { position, started: false, lease: null, retry: 0 }
    partition.cursors.set(group, cursor)
    return cursor
  }

  live(cursor: ModelCursor): boolean {
    return cursor.lease !== null && cursor.lease.untilUs > this.nowUs
  }

  /** The message that makes a push a duplicate. */
  original(queue: ModelQueue, partition: ModelPartition, tx: string): ModelMessage | undefined {
    const sinceUs = this.nowUs - queue.options.dedupWindowSeconds * SECOND
    if (queue.options.dedupWindowSeconds === 0) return undefined
    const counts = (message: ModelMessage) => message.tx === tx && message.atUs > sinceUs
    const remembered = partition.ghosts.filter(({ untilUs }) => untilUs > this.nowUs)
    return partition.messages.findLast(counts) ?? remembered.findLast(counts)
  }

  push(queueName: string, partitionName: string, tx: string | null, payload: string) {
    const queue = this.queue(queueName)
    const partition = this.partition(queue, partitionName)
    const original = tx === null ? undefined : this.original(queue, partition, tx)
    if (original !== undefined) return { partition, message: original, duplicate: true }
    const message: ModelMessage = {
      position: partition.next,
      tx: tx ?? '',
      payload,
      atUs: this.nowUs,
      step: this.step,
      id: '',
    }
    partition.messages.push(message)
    partition.next += 1
    return { partition, message, duplicate: false }
  }

  /** What a pop may take from a partition now. */
  deliverable(queue: ModelQueue, partition: ModelPartition, group: string, limit: number) {
    const cursor = this.cursor(queue, partition, group)
    const newest = partition.messages.at(-1)
    const { delayedProcessing, windowBuffer } = queue.options
    if (this.live(cursor) || newest === undefined) return []
    if (windowBuffer > 0 && newest.atUs + windowBuffer * SECOND > this.nowUs) return []
    const rest = partition.messages.filter(({ position }) => position > cursor.position)
    const young = rest.findIndex(({ atUs }) => atUs + delayedProcessing * SECOND > this.nowUs)
    return (young === -1 || delayedProcessing === 0 ? rest : rest.slice(0, young)).slice(0, limit)
  }

  /** Takes messages that `deliverable` gave. */
  claim(
    queue: ModelQueue,
    partition: ModelPartition,
    group: string,
    taken: { messages: readonly ModelMessage[]; leaseId: string; leaseSeconds: number | null },
  ): void {
    const cursor = this.cursor(queue, partition, group)
    cursor.started = true
    const end = taken.messages.at(-1)?.position ?? 0
    if (taken.leaseId === '') {
      Object.assign(cursor, { position: end, lease: null, retry: 0 })
      return
    }
    const seconds = taken.leaseSeconds ?? queue.options.leaseTime
    cursor.lease = { id: taken.leaseId, untilUs: this.nowUs + seconds * SECOND, end }
  }

  /** One (partition, group, lease id) step of an ack; results per item. */
  ack(
    partitionId: string,
    group: string,
    leaseId: string | null,
    items: readonly { tx: string; status: AckStatus; error: string | null }[],
  ): { error: 'not found' | 'lease' | 'committed' | null; noop: boolean; dlq: boolean }[] {
    const all = (error: 'not found' | 'lease') =>
      items.map(() => ({ error, noop: false, dlq: false }))
    const found = this.byId(partitionId)
    if (found === undefined) return all('not found')
    const { queue, partition } = found
    const live = partition.cursors.get(group)
    const holds = live !== undefined && this.live(live) && live.lease?.id === leaseId
    if (leaseId !== null && !holds) return all('lease')
    const stored = (tx: string) => partition.messages.filter((message) => message.tx === tx)
    if (items.every(({ tx }) => stored(tx).length === 0)) return all('not found')
    this.group(queue.name, group)
    const cursor = this.cursor(queue, partition, group)
    const end = cursor.lease?.end ?? Number.POSITIVE_INFINITY
    const places = items.map(({ tx }) => {
      const inSpan = stored(tx).find((m) => m.position > cursor.position && m.position <= end)
      const below = stored(tx).find((m) => m.position <= cursor.position)
      return inSpan?.position ?? (below === undefined ? null : -1)
    })
    const gone = this.#move(queue, partition, cursor, { group, items, places })
    return items.map(({ status }, i) => {
      const place = places[i]
      if (place === null || place === undefined) {
        return { error: 'not found', noop: false, dlq: false }
      }
      if (place === -1 && status === 'completed') return { error: null, noop: true, dlq: false }
      if (place === -1) return { error: 'committed', noop: false, dlq: false }
      return { error: null, noop: false, dlq: place === gone && status !== 'completed' }
    })
  }

  /** Walks up from the cursor; answers the position that went to the dead letters. */
  #move(
    queue: ModelQueue,
    partition: ModelPartition,
    cursor: ModelCursor,
    given: {
      group: string
      items: readonly { tx: string; status: AckStatus; error: string | null }[]
      places: readonly (number | null)[]
    },
  ): number | null {
    const { group, items, places } = given
    const from = cursor.position
    for (let at = from + 1; at < partition.next; at += 1) {
      const here = items.filter((_, i) => places[i] === at)
      const worst = (['dlq', 'failed', 'retry'] as const).find((status) =>
        here.some((item) => item.status === status),
      )
      if (worst === undefined) {
        if (here.length > 0) cursor.position = at
        continue
      }
      if (cursor.position > from) cursor.started = true
      if (cursor.lease === null) return null
      cursor.started = true
      cursor.lease = null
      if (worst === 'retry') return null
      if (worst === 'failed' && cursor.retry < queue.options.retryLimit) {
        cursor.retry += 1
        return null
      }
      cursor.retry = 0
      cursor.position = at
      const message = partition.messages.find(({ position }) => position === at)
      if ((worst === 'failed' && !queue.options.deadLetter) || message === undefined) return null
      const error = here.find(({ status }) => status !== 'completed')?.error ?? 'Retries exhausted'
      const { tx, payload } = message
      queue.dead.push({ partition: partition.name, group, tx, payload, error })
      return at
    }
    if (cursor.position > from) cursor.started = true
    if (cursor.lease !== null && this.#left(partition, cursor) === 0) {
      cursor.lease = null
      cursor.retry = 0
    }
    return null
  }

  /** Leased messages that are still stored and not consumed. */
  #left(partition: ModelPartition, { position, lease }: ModelCursor): number {
    const end = lease?.end ?? 0
    return partition.messages.filter((one) => one.position > position && one.position <= end).length
  }

  /** Runs one of the jobs by which messages go; answers how many went. */
  expire(job: 'retention' | 'completedRetention' | 'eviction'): number {
    let gone = 0
    for (const { options, partitions } of this.queues.values()) {
      const windowUs = options.dedupWindowSeconds * SECOND
      const seconds = {
        retention: options.retentionEnabled ? options.retentionSeconds : 0,
        completedRetention: options.retentionEnabled ? options.completedRetentionSeconds : 0,
        eviction: options.maxWaitTimeSeconds,
      }[job]
      if (seconds <= 0) continue
      const beforeUs = this.nowUs - seconds * SECOND
      for (const partition of partitions.values()) {
        gone += this.#expireIn(partition, { beforeUs, windowUs, job })
      }
    }
    return gone
  }

  #expireIn(
    partition: ModelPartition,
    { beforeUs, windowUs, job }: { beforeUs: number; windowUs: number; job: string },
  ): number {
    const cursors = [...partition.cursors.values()]
    const lowest = Math.min(...cursors.filter(({ started }) => started).map((c) => c.position))
    const worked = cursors.filter((c) => this.live(c)).map(({ lease }) => lease?.end ?? 0)
    const waitsFrom = Math.max(Number.isFinite(lowest) ? lowest : 0, ...worked)
    const goes = ({ atUs, position }: ModelMessage): boolean => {
      if (atUs >= beforeUs) return false
      if (job === 'completedRetention') return Number.isFinite(lowest) && position <= lowest
      return job === 'retention' || position > waitsFrom
    }
    const gone = partition.messages.filter(goes)
    const ghosts = gone.map((one) => ({ ...one, untilUs: one.atUs + windowUs }))
    const kept = ghosts.filter(({ untilUs }) => untilUs > this.nowUs)
    // The later of two with one transaction id takes the place of the earlier one.
    const replaced = new Set(kept.map(({ tx }) => tx))
    partition.ghosts = [...partition.ghosts.filter(({ tx }) => !replaced.has(tx)), ...kept]
    partition.messages = partition.messages.filter((message) => !goes(message))
    if (gone.length === 0) return 0
    for (const cursor of cursors) {
      if (cursor.lease !== null && this.#left(partition, cursor) === 0) cursor.lease = null
    }
    return gone.length
  }

  /** Stored messages a group has not passed. */
  lag(queue: ModelQueue, group: string): number {
    let lag = 0
    for (const partition of queue.partitions.values()) {
      const { position } = this.cursor(queue, partition, group)
      lag += partition.messages.filter((message) => message.position > position).length
    }
    return lag
  }

  /** The same state, free to be changed. */
  copy(): Model {
    return Object.assign(new Model(), structuredClone({ ...this }))
  }
}
