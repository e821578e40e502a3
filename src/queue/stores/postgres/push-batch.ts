import { randomBytes } from 'node:crypto'
import type { Statements } from '../../../storage/index.ts'
import { DEFAULT_OPTIONS, labelsOf } from '../../model.ts'
import type { BufferedPush, PushItem, PushResult, StoreNote, Wake } from '../../store.ts'
import type { Answer, StoreContext } from './handler.ts'

/** One message on its way; `kept` is set when it was diverted before and keeps id and payload as they are. */
export interface Outgoing {
  readonly item: PushItem
  readonly producerSub: string | null
  readonly kept?: { readonly id: string; readonly encrypted: boolean }
}

/** The row that `hivegate.push_batch` answers. */
interface PushRow {
  /** One letter per item: q(ueued), d(uplicate), f (duplicate of an earlier item), b(uffered). */
  readonly states: string | null
  readonly ids: string | null
  readonly partitions: string | null
  readonly wakes: readonly WakeRow[] | null
  readonly made: readonly MadeRow[] | null
}

interface WakeRow {
  readonly queue: string
  readonly namespace: string
  readonly task: string
  /** µs since 1970; null = now. */
  readonly at: number | null
}

/** A queue that a write has made, or given new partitions. */
export interface MadeRow extends Omit<WakeRow, 'at'> {
  readonly fresh: boolean
  readonly partitions: number
}

/** A row of wakes as the engine knows it. */
export function wakeOf({ queue, namespace, task, at }: WakeRow): Wake {
  return { queue, namespace, task, atMs: at === null ? null : Math.ceil(at / 1000) }
}

/** What figures count of it. */
export function notesOf(made: readonly MadeRow[]): readonly StoreNote[] {
  return made
    .filter(({ partitions }) => partitions > 0)
    .map(({ queue, partitions: value }) => ({ queue, column: 'partitionsCreated', value }))
}

/** Distinct (queue, partition) pairs, and which of them each item goes to; indexes begin at 1 as in SQL. */
class Targets {
  readonly queues: string[] = []
  readonly partitions: string[] = []
  readonly namespaces: string[] = []
  readonly tasks: string[] = []
  readonly #known = new Map<string, number>()

  indexOf({ queue, partition, namespace, task }: PushItem): number {
    // No name holds a NUL.
    const key = `${queue}\0${partition}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const labels = labelsOf(queue)
    this.queues.push(queue)
    this.partitions.push(partition)
    this.namespaces.push(namespace ?? labels.namespace)
    this.tasks.push(task ?? labels.task)
    this.#known.set(key, this.queues.length)
    return this.queues.length
  }
}

/** Index of the first item with the same target and transaction id, for each item. */
function firstsOf(batch: readonly Outgoing[], targets: readonly number[]): readonly number[] {
  const seen = new Map<string, number>()
  return batch.map(({ item: { transactionId } }, i) => {
    if (transactionId === null) return i + 1
    const key = `${targets[i]}\0${transactionId}`
    const first = seen.get(key) ?? i + 1
    if (first === i + 1) seen.set(key, first)
    return first
  })
}

const TAIL_BYTES = 8

/** The last 64 bits of as many UUIDs, in hexadecimal: the variant of RFC 9562, then chance. */
function tailsOf(count: number): readonly string[] {
  const bytes = randomBytes(count * TAIL_BYTES)
  for (let at = 0; at < bytes.length; at += TAIL_BYTES) bytes[at] = ((bytes[at] ?? 0) & 0x3f) | 0x80
  const text = bytes.toString('hex')
  return Array.from({ length: count }, (_, i) => {
    return text.slice(i * 2 * TAIL_BYTES, (i + 1) * 2 * TAIL_BYTES)
  })
}

const NOTHING: readonly unknown[] = []

/** A batch of pushes with what its statement is given and what its answer is read with. */
export interface PushPlan {
  readonly batch: readonly Outgoing[]
  /** Target of each item, and its first item with the same transaction id; from 1. */
  readonly targets: readonly number[]
  readonly firsts: readonly number[]
  /** The arguments of `hivegate.push_batch`. */
  readonly values: readonly unknown[]
}

/** Prepares a batch. */
export function planPush(
  batch: readonly Outgoing[],
  nowUs: number,
  { cipher }: StoreContext,
): PushPlan {
  const targets = new Targets()
  const indexes = batch.map(({ item }) => targets.indexOf(item))
  const firsts = firstsOf(batch, indexes)
  const kept = batch.some((one) => one.kept !== undefined)
  const sealed = (one: Outgoing) => (one.kept === undefined ? cipher.seal(one.item.payload) : null)
  const values = [
    nowUs,
    targets.queues,
    targets.partitions,
    targets.namespaces,
    targets.tasks,
    JSON.stringify(DEFAULT_OPTIONS),
    indexes,
    firsts,
    batch.map(({ item }) => item.transactionId),
    batch.map(({ item }) => item.traceId),
    batch.map(({ producerSub }) => producerSub),
    tailsOf(batch.length),
    batch.map(({ item }) => item.payload),
    cipher.enabled ? batch.map(sealed) : NOTHING,
    kept ? batch.map((one) => one.kept?.id ?? null) : NOTHING,
    kept ? batch.map((one) => one.kept?.encrypted ?? null) : NOTHING,
  ]
  return { batch, targets: indexes, firsts, values }
}

/** What became of the items of one batch. */
export type PushAnswer = Answer<readonly (PushResult | BufferedPush)[]>

function resultsOf({ batch, targets, firsts }: PushPlan, row: PushRow) {
  const ids = (row.ids ?? '').split(',')
  const partitions = (row.partitions ?? '').split(',')
  const states = row.states ?? ''
  return batch.map(({ item }, i): PushResult | BufferedPush => {
    const messageId = ids[i] || ids[(firsts[i] ?? 1) - 1] || ''
    const transactionId = item.transactionId ?? messageId
    if (states[i] === 'b') {
      return { status: 'buffered', transactionId, messageId, partitionId: null }
    }
    const status = states[i] === 'q' ? 'queued' : 'duplicate'
    const partitionId = partitions[(targets[i] ?? 1) - 1] ?? ''
    return { status, transactionId, messageId, partitionId }
  })
}

function answerOf(plan: PushPlan, row: PushRow): PushAnswer {
  const made = row.made ?? []
  const born = made.filter(({ fresh }) => fresh)
  const wakes = [
    ...born.map((queue) => wakeOf({ ...queue, at: null })),
    ...(row.wakes ?? []).map(wakeOf),
  ]
  const distinct = new Map(wakes.map((wake) => [`${wake.queue}\0${wake.atMs}`, wake]))
  return { value: resultsOf(plan, row), wakes: [...distinct.values()], notes: notesOf(made) }
}

const ARGUMENTS = '($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)'

/** Runs a batch in one statement; with `divert` push maintenance is obeyed. */
export async function sendPush(
  db: Statements,
  plan: PushPlan,
  divert: boolean,
): Promise<PushAnswer> {
  if (plan.batch.length === 0) return { value: [], wakes: [], notes: [] }
  const call = divert ? 'divert_or_push' : 'push_batch'
  const sql = `SELECT * FROM hivegate.${call}${ARGUMENTS}`
  const [row] = await db.rows<PushRow>(call, sql, plan.values)
  if (row === undefined) throw new Error('the push has no answer')
  return answerOf(plan, row)
}
