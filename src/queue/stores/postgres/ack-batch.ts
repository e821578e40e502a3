import type { Statements } from '../../../storage/index.ts'
import type { AckStatus } from '../../model.ts'
import type { AckItem, AckResult, Wake, Writes } from '../../store.ts'
import type { Answer } from './handler.ts'
import { wakeOf } from './push-batch.ts'

type AckArgs = Writes['ack']['args']

/** Error texts of queue API 6.1. */
export const NOT_FOUND = 'Message not found'
export const BAD_LEASE = 'invalid or expired lease'
const COMMITTED = 'already committed: the message is behind the cursor'

/** A row of `hivegate.ack_batch`: one step. */
interface StepRow {
  readonly step: number
  readonly released: boolean
  readonly wakes: boolean
  /** One letter per item, see the function; shorter when all items share the first one. */
  readonly answers: string
  readonly queue: string | null
  readonly partition: string | null
  readonly namespace: string
  readonly task: string
}

/** Acks of one request on one (partition, group, lease id): one atomic step. Queue API 6.2. */
interface Step {
  readonly op: number
  readonly partitionId: string
  readonly group: string
  readonly leaseId: string | null
  /** Steps on one cursor take turns. */
  readonly round: number
  readonly items: { readonly item: AckItem; readonly index: number }[]
}

const WEIGHTS: Readonly<Record<AckStatus, number>> = { completed: 0, retry: 1, failed: 2, dlq: 3 }

/** What a letter says of an item: the error text, and whether it is a no-op or a dead letter. */
const VERDICTS: ReadonlyMap<string, Pick<AckResult, 'error' | 'noop' | 'dlq'>> = new Map([
  ['s', { error: null, noop: false, dlq: false }],
  ['n', { error: null, noop: true, dlq: false }],
  ['d', { error: null, noop: false, dlq: true }],
  ['c', { error: COMMITTED, noop: false, dlq: false }],
  ['x', { error: NOT_FOUND, noop: false, dlq: false }],
  ['l', { error: BAD_LEASE, noop: false, dlq: false }],
])

function stepsOf(batch: readonly AckArgs[]): readonly Step[] {
  const steps: Step[] = []
  const rounds = new Map<string, number>()
  batch.forEach(({ group, items }, op) => {
    const own = new Map<string, Step>()
    items.forEach((item, index) => {
      const { partitionId, leaseId } = item
      const key = JSON.stringify([partitionId, leaseId])
      const known = own.get(key)
      if (known !== undefined) {
        known.items.push({ item, index })
        return
      }
      const cursor = JSON.stringify([partitionId, group])
      const round = rounds.get(cursor) ?? 0
      rounds.set(cursor, round + 1)
      const step = { op, partitionId, group, leaseId, round, items: [{ item, index }] }
      own.set(key, step)
      steps.push(step)
    })
  })
  return steps
}

function ackValues(steps: readonly Step[], nowUs: number): readonly unknown[] {
  const items = steps.flatMap((step, i) => step.items.map(({ item }) => ({ item, at: i + 1 })))
  return [
    nowUs,
    steps.map(({ round }) => round),
    steps.map(({ partitionId }) => partitionId),
    steps.map(({ group }) => group),
    steps.map(({ leaseId }) => leaseId),
    items.map(({ at }) => at),
    items.map(({ item }) => item.transactionId),
    items.map(({ item }) => WEIGHTS[item.status]),
    items.map(({ item }) => item.error),
  ]
}

function resultOf(row: StepRow, i: number): AckResult {
  const letter = row.answers[i] ?? row.answers[0] ?? 'x'
  const verdict = VERDICTS.get(letter) ?? { error: NOT_FOUND, noop: false, dlq: false }
  return {
    success: verdict.error === null,
    ...verdict,
    leaseReleased: row.released,
    queueName: row.queue,
    partitionName: row.partition,
  }
}

const SQL = 'SELECT * FROM hivegate.ack_batch($1, $2, $3, $4, $5, $6, $7, $8, $9)'

/** Applies a batch of acks in one statement; answers in their order. Queue API 6.2. */
export async function sendAcks(
  db: Statements,
  batch: readonly AckArgs[],
): Promise<readonly Answer<readonly AckResult[]>[]> {
  const steps = stepsOf(batch)
  const values = ackValues(steps, Math.max(...batch.map(({ nowUs }) => nowUs)))
  const rows = steps.length === 0 ? [] : await db.rows<StepRow>('ack_batch', SQL, values)
  const drafts = batch.map(() => ({ value: [] as AckResult[], wakes: new Map<string, Wake>() }))
  for (const row of rows) {
    const step = steps[row.step - 1]
    const draft = step && drafts[step.op]
    if (step === undefined || draft === undefined) continue
    step.items.forEach(({ index }, i) => {
      draft.value[index] = resultOf(row, i)
    })
    if (row.wakes && row.queue !== null) {
      draft.wakes.set(row.queue, wakeOf({ ...row, queue: row.queue, at: null }))
    }
  }
  return drafts.map(({ value, wakes }) => ({ value, wakes: [...wakes.values()], notes: [] }))
}
