import { expect } from 'vitest'
import type { Caller, Reply } from '../support/broker.ts'

/** A message as a pop delivers it; `data.n` numbers the messages of a partition from 0. */
export interface Delivered {
  readonly id: string
  readonly transactionId: string
  readonly partitionId: string
  readonly partition: string
  readonly leaseId: string
  readonly data: { readonly n: number }
}

/** What the test knows for certain, over all lives of the broker. */
export class Ledger {
  /** Transaction ids whose push was answered 201, by queue. */
  readonly pushed = new Map<string, Set<string>>()
  /** Transaction ids that were delivered at least once, by queue. */
  readonly delivered = new Map<string, Set<string>>()
  /** `queue/transaction id` of every completed acknowledgement that was answered. */
  readonly completed = new Set<string>()
  /** `transaction id` of every message whose move to the dead letters was answered. */
  readonly buried = new Set<string>()
  /** The next number that no delivery of a partition has shown yet. */
  readonly #next = new Map<string, number>()
  /** Answers so far; the killer waits for these. */
  answers = 0

  /** Notes a delivery and checks order and finality. */
  deliver(queue: string, message: Delivered): void {
    const key = `${queue}/${message.transactionId}`
    expect(this.completed.has(key), `${key} came again after its ack`).toBe(false)
    const partition = `${queue}/${message.partition}`
    const next = this.#next.get(partition) ?? 0
    expect(message.data.n, `${partition} skipped ahead`).toBeLessThanOrEqual(next)
    this.#next.set(partition, Math.max(next, message.data.n + 1))
    setOf(this.delivered, queue).add(message.transactionId)
  }
}

/** The set of a key, made at first use. */
export function setOf(map: Map<string, Set<string>>, key: string): Set<string> {
  const known = map.get(key) ?? new Set()
  map.set(key, known)
  return known
}

/** One life of the broker: `call` throws once it is dead. */
export interface Life {
  readonly call: Caller
  readonly ledger: Ledger
  /** Messages of one pop. */
  readonly batch?: number
}

const LEASE_S = 4

async function popped(
  { call, ledger, batch = 5 }: Life,
  queue: string,
): Promise<readonly Delivered[]> {
  const reply = await call(
    `GET /api/v1/pop/queue/${queue}?batch=${batch}&leaseSeconds=${LEASE_S}&wait=true&timeout=200`,
  )
  ledger.answers += 1
  const messages: readonly Delivered[] = reply.status === 204 ? [] : messagesOf(reply)
  for (const message of messages) ledger.deliver(queue, message)
  return messages
}

function messagesOf(reply: Reply): readonly Delivered[] {
  expect(reply.status).toBe(200)
  return reply.body.messages
}

/** Pushes the numbers of one partition in turn; a push that was not answered is sent again in the next life. */
export function pusher(queue: string, partition: string): (life: Life) => Promise<never> {
  let n = 0
  return async ({ call, ledger }) => {
    for (;;) {
      const transactionId = `${partition}-${n}`
      const items = [{ queue, partition, payload: { n }, transactionId }]
      const reply = await call('POST /api/v1/push', { json: { items } })
      expect(reply.status).toBe(201)
      setOf(ledger.pushed, queue).add(transactionId)
      ledger.answers += 1
      n += 1
    }
  }
}

/** Pops and completes; some batches are only partly acknowledged. */
export async function consumer(life: Life, queue: string, once = false): Promise<void> {
  for (;;) {
    const messages = await popped(life, queue)
    const json = { acknowledgments: messages }
    const { body } = await life.call('POST /api/v1/ack/batch', { json })
    noteCompleted(life.ledger, queue, messages, body)
    if (once && messages.length === 0) return
  }
}

interface AckEntry {
  readonly success: boolean
}

function noteCompleted(
  ledger: Ledger,
  queue: string,
  messages: readonly Delivered[],
  results: readonly AckEntry[],
): void {
  for (const [at, result] of results.entries()) {
    const message = messages[at]
    if (message && result.success) ledger.completed.add(`${queue}/${message.transactionId}`)
  }
  ledger.answers += 1
}

/** Moves messages from one queue to another, each in one transaction with its acknowledgement. */
export async function mover(life: Life, from: string, to: string, once = false): Promise<void> {
  for (;;) {
    const messages = await popped(life, from)
    if (messages.length > 0) await moveAll(life, from, to, messages)
    else if (once) return
  }
}

async function moveAll(
  { call, ledger }: Life,
  from: string,
  to: string,
  messages: readonly Delivered[],
): Promise<void> {
  const operations = [
    { type: 'push', items: messages.map((one) => copyOf(one, to)) },
    ...messages.map((one) => ({
      type: 'ack',
      transactionId: one.transactionId,
      partitionId: one.partitionId,
    })),
  ]
  const requiredLeases = [messages[0]?.leaseId]
  const { body } = await call('POST /api/v1/transaction', { json: { operations, requiredLeases } })
  ledger.answers += 1
  if (!body.success) return
  for (const one of messages) {
    ledger.completed.add(`${from}/${one.transactionId}`)
    setOf(ledger.pushed, to).add(one.transactionId)
  }
}

function copyOf({ partition, data, transactionId }: Delivered, queue: string) {
  return { queue, partition, payload: data, transactionId }
}

/** Sends every message of a queue to its dead letters, one at a time. */
export async function burier(life: Life, queue: string, once = false): Promise<void> {
  for (;;) {
    const messages = await popped(life, queue)
    for (const message of messages) {
      const json = { ...message, status: 'dlq', error: 'poison' }
      const { body } = await life.call('POST /api/v1/ack', { json })
      life.ledger.answers += 1
      if (!body[0].success) break
      life.ledger.completed.add(`${queue}/${message.transactionId}`)
      life.ledger.buried.add(message.transactionId)
      // A move to the dead letters ends the lease: the rest comes again.
      break
    }
    if (once && messages.length === 0) return
  }
}
