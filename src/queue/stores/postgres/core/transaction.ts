import type { Tx } from '../../../../storage/index.ts'
import type {
  AckItem,
  PushResult,
  StoreNote,
  TransactionOp,
  TransactionOutcome,
  TransactionResult,
  Wake,
  Writes,
} from '../../../store.ts'
import { PushedResults } from '../../transaction-results.ts'
import { ackIn } from '../ack.ts'
import { BAD_LEASE, NOT_FOUND } from '../ack-batch.ts'
import { append } from '../append.ts'
import { quiet, RolledBack, type StoreContext, type WriteHandler } from '../handler.ts'

type Args = Writes['transaction']['args']
type AckOp = Extract<TransactionOp, { type: 'ack' }>

/** One operation with its place in the request. */
interface At<T> {
  readonly index: number
  readonly op: T
}

/** A transaction on its way. */
interface Work {
  readonly tx: Tx
  readonly args: Args
  readonly results: TransactionResult[]
  readonly wakes: Wake[]
  readonly notes: StoreNote[]
}

/** Takes everything back; the text goes to the client. */
function refused(error: string): RolledBack {
  const outcome: TransactionOutcome = { success: false, error }
  return new RolledBack(quiet(outcome))
}

const LOCK = 'SELECT hivegate.lock_targets($1, $2)'

// Leases that some live cursor of a live group holds. ($1 leases, $2 now)
const HELD = `
  SELECT DISTINCT c.lease_id AS lease FROM hivegate.cursor c
    JOIN hivegate.partition p ON p.id = c.partition_id
    JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted
    JOIN hivegate.subscription s ON s.id = c.subscription_id
  WHERE c.lease_id = ANY ($1) AND c.lease_until > $2`

// The live lease of each (partition, group), if any. ($1 partitions, $2 groups, $3 now)
const LEASES = `
  SELECT g.n, p.id IS NOT NULL AND q.id IS NOT NULL AS known, c.lease_id AS lease
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY g(uuid, grp, n)
    LEFT JOIN hivegate.partition p ON p.uuid = g.uuid
    LEFT JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted
    LEFT JOIN hivegate.subscription s ON s.queue_id = q.id AND s.group_name = g.grp
    LEFT JOIN hivegate.cursor c ON c.partition_id = p.id AND c.subscription_id = s.id
      AND c.lease_until > $3
  ORDER BY g.n`

interface LeaseRow {
  readonly known: boolean
  readonly lease: string | null
}

/**
 * The lease each ack is checked against: its own id; else the one required lease; else, with several, the live
 * lease of its (partition, group), which must be among them; else none. Queue API 6.4.
 */
async function leasesOf({ tx, args }: Work, acks: readonly At<AckOp>[]) {
  const { requiredLeases, nowUs } = args
  const required = new Set(requiredLeases)
  const [only = null] = requiredLeases
  if (required.size <= 1) return acks.map(({ op }) => op.item.leaseId ?? only)
  const rows = await tx.rows<LeaseRow>('transaction_leases', LEASES, [
    acks.map(({ op }) => op.item.partitionId),
    acks.map(({ op }) => op.group),
    nowUs,
  ])
  return acks.map(({ op }, i) => {
    if (op.item.leaseId !== null) return op.item.leaseId
    const row = rows[i]
    if (row === undefined || !row.known) throw refused(NOT_FOUND)
    if (row.lease === null || !required.has(row.lease)) throw refused(BAD_LEASE)
    return row.lease
  })
}

async function checkRequired({ tx, args }: Work): Promise<void> {
  const required = new Set(args.requiredLeases)
  if (required.size === 0) return
  const held = await tx.rows('transaction_held', HELD, [[...required], args.nowUs])
  if (held.length < required.size) throw refused(BAD_LEASE)
}

async function ackAll(work: Work, acks: readonly At<AckOp>[]): Promise<void> {
  const leases = await leasesOf(work, acks)
  const groups = Map.groupBy(
    acks.map(({ index, op }, i) => ({ index, op, leaseId: leases[i] ?? null })),
    ({ op }) => op.group,
  )
  for (const [group, entries] of groups) {
    const items = entries.map(({ op, leaseId }): AckItem => ({ ...op.item, leaseId }))
    const answer = await ackIn(work.tx, { group, items, nowUs: work.args.nowUs })
    work.wakes.push(...answer.wakes)
    entries.forEach(({ index, op }, i) => {
      const result = answer.value[i]
      if (result === undefined || !result.success) throw refused(result?.error ?? NOT_FOUND)
      const { transactionId } = op.item
      work.results[index] = { type: 'ack', transactionId, dlq: result.dlq }
    })
  }
}

type PushOp = Extract<TransactionOp, { type: 'push' }>

async function pushAll(work: Work, pushes: readonly At<PushOp>[], context: StoreContext) {
  const { tx, args, results } = work
  const { producerSub, nowUs } = args
  const items = pushes.map(({ op }) => op.item)
  const answer = await append(tx, { items, producerSub, nowUs }, context)
  work.wakes.push(...answer.wakes)
  work.notes.push(...answer.notes)
  const own = new PushedResults()
  const fill = ({ index, op }: At<PushOp>, result: PushResult): void => {
    const answer = own.next(op.item.queue, result)
    if (typeof answer === 'string') throw refused(answer)
    results[index] = answer
  }
  pushes.forEach((push, i) => {
    const result = answer.value[i]
    if (result !== undefined) fill(push, result)
  })
}

/** Push and ack together, all or nothing. Queue API 6.4. */
export const transaction: WriteHandler<'transaction'> = async (tx, args, context) => {
  const work: Work = { tx, args, results: [], wakes: [], notes: [] }
  const acks: At<AckOp>[] = []
  const pushes: At<PushOp>[] = []
  args.operations.forEach((op, index) => {
    if (op.type === 'ack') acks.push({ index, op })
    else pushes.push({ index, op })
  })
  if (pushes.length > 0) {
    // The locks of partitions come before those of cursors, which the acks take.
    const queues = pushes.map(({ op }) => op.item.queue)
    const partitions = pushes.map(({ op }) => op.item.partition)
    await tx.rows('transaction_lock', LOCK, [queues, partitions])
  }
  await checkRequired(work)
  if (acks.length > 0) await ackAll(work, acks)
  if (pushes.length > 0) await pushAll(work, pushes, context)
  const wakes = new Map(work.wakes.map((wake) => [`${wake.queue}\0${wake.atMs}`, wake]))
  const value: TransactionOutcome = { success: true, results: work.results }
  return { value, wakes: [...wakes.values()], notes: work.notes }
}
