import type { PushItem, WriteOp, Writes } from '../../store.ts'

/**
 * How writes cross the thread. Pushes, of which a busy broker has thousands a second, go as one row of plain values
 * each: a structured clone spells out the name of every member of every object. All others go as they are.
 */
export type WireOp = WriteOp | PushRow
/** `nowUs`, `producerSub`, then seven values for each item. */
export type PushRow = readonly (string | number | null)[]
/** Four values for each item. */
export type PushAnswerRow = readonly (string | null)[]

type PushArgs = Writes['push']['args']
type PushResults = Writes['push']['result']

const HEAD_CELLS = 2
const ITEM_CELLS = 7
const ANSWER_CELLS = 4

function pushRow({ items, producerSub, nowUs }: PushArgs): PushRow {
  const row: (string | number | null)[] = [nowUs, producerSub]
  for (const item of items) {
    const { queue, partition, payload, transactionId, traceId, namespace, task } = item
    row.push(queue, partition, payload, transactionId, traceId, namespace, task)
  }
  return row
}

function pushArgs(row: PushRow): PushArgs {
  const items: PushItem[] = []
  for (let at = HEAD_CELLS; at < row.length; at += ITEM_CELLS) {
    // The cells stand as `pushRow` wrote them.
    items.push({
      queue: row[at] as string,
      partition: row[at + 1] as string,
      payload: row[at + 2] as string,
      transactionId: row[at + 3] as string | null,
      traceId: row[at + 4] as string | null,
      namespace: row[at + 5] as string | null,
      task: row[at + 6] as string | null,
    })
  }
  return { items, producerSub: row[1] as string | null, nowUs: row[0] as number }
}

/** A write as it is sent to the thread. */
export function toWire(op: WriteOp): WireOp {
  return op.kind === 'push' ? pushRow(op.args) : op
}

/** The write that was sent. */
export function fromWire(wire: WireOp): WriteOp {
  return 'kind' in wire ? wire : { kind: 'push', args: pushArgs(wire) }
}

/** The answer of a push as it is sent back. */
export function pushAnswerRow(results: PushResults): PushAnswerRow {
  const row: (string | null)[] = []
  for (const { status, transactionId, messageId, partitionId } of results) {
    row.push(status, transactionId, messageId, partitionId)
  }
  return row
}

/** The answer of a push that was sent back. */
export function pushResults(row: PushAnswerRow): PushResults {
  const results: PushResults[number][] = []
  for (let at = 0; at < row.length; at += ANSWER_CELLS) {
    // The cells stand as `pushAnswerRow` wrote them.
    results.push({
      status: row[at],
      transactionId: row[at + 1],
      messageId: row[at + 2],
      partitionId: row[at + 3],
    } as PushResults[number])
  }
  return results
}
