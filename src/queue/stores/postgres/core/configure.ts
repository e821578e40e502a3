import type { Tx } from '../../../../storage/index.ts'
import {
  DEFAULT_OPTIONS,
  DEFAULT_PARTITION,
  mergeOptions,
  type QueueOptions,
} from '../../../model.ts'
import type { Wake, Writes } from '../../../store.ts'
import type { WriteHandler } from '../handler.ts'
import { type MadeRow, notesOf, wakeOf } from '../push-batch.ts'

const ENTER = "SELECT hivegate.enter_gates('{}', ARRAY[$1::text])"

const FIND = `
  SELECT id, uuid, namespace, task, options FROM hivegate.queue
  WHERE name = $1 AND NOT deleted FOR NO KEY UPDATE`

interface QueueRow {
  readonly id: number
  readonly uuid: string
  readonly namespace: string
  readonly task: string
  readonly options: Partial<QueueOptions>
}

const SAVE = `
  UPDATE hivegate.queue SET namespace = $2, task = $3, options = $4::jsonb WHERE id = $1`

// Messages that waited for a delay or window must not wait longer than the new one asks.
const LOOK_AGAIN = `
  UPDATE hivegate.cursor c SET ready_at = $2
  FROM hivegate.subscription s
  WHERE s.queue_id = $1 AND c.subscription_id = s.id AND c.ready_at > $2 AND c.lease_id IS NULL
  RETURNING 1`

// Makes the queue if it is new, and its Default partition.
const MAKE = `
  SELECT hivegate.make_targets($1, ARRAY[$2::text], ARRAY[$3::text], ARRAY[$4::text], ARRAY[$5::text],
    $6) AS made`

const IDS = `
  SELECT q.uuid AS queue, p.uuid AS partition
  FROM hivegate.queue q JOIN hivegate.partition p ON p.queue_id = q.id AND p.name = $2
  WHERE q.name = $1 AND NOT q.deleted`

type Args = Writes['configure']['args']

/** What a known queue becomes. */
interface Change {
  readonly known: QueueRow
  readonly before: QueueOptions
  readonly options: QueueOptions
  readonly labels: { readonly namespace: string; readonly task: string }
}

/** Writes a change; answers whether messages have become ready by it. */
async function save(tx: Tx, { known, before, options, labels }: Change, nowUs: number) {
  const text = JSON.stringify(options)
  await tx.rows('configure_save', SAVE, [known.id, labels.namespace, labels.task, text])
  const sooner =
    options.delayedProcessing < before.delayedProcessing ||
    options.windowBuffer < before.windowBuffer
  if (!sooner) return false
  return (await tx.rows('configure_look_again', LOOK_AGAIN, [known.id, nowUs])).length > 0
}

/** Creates or changes a queue and its `Default` partition, alone behind the queue's gate. Queue API 5.1. */
export const configure: WriteHandler<'configure'> = async (tx, args: Args) => {
  const { queue, namespace, task, options: given, mode, nowUs } = args
  await tx.rows('configure_gate', ENTER, [queue])
  const [known] = await tx.rows<QueueRow>('configure_find', FIND, [queue])
  const before: QueueOptions = { ...DEFAULT_OPTIONS, ...known?.options }
  const options = mergeOptions(before, given, mode)
  const labels = {
    namespace: namespace ?? known?.namespace ?? '',
    task: task ?? known?.task ?? '',
  }
  const change = known && { known, before, options, labels }
  const ready = change !== undefined && (await save(tx, change, nowUs))
  const text = JSON.stringify(options)
  const target = [nowUs, queue, DEFAULT_PARTITION, labels.namespace, labels.task, text]
  const [row] = await tx.rows<{ made: readonly MadeRow[] | null }>('configure_make', MAKE, target)
  const [ids] = await tx.rows<{ queue: string; partition: string }>('configure_ids', IDS, [
    queue,
    DEFAULT_PARTITION,
  ])
  // Pops by namespace or task that wait must meet a new queue, or one that has changed its labels.
  const relabelled = known === undefined || namespace !== null || task !== null
  const wakes: readonly Wake[] = ready || relabelled ? [wakeOf({ queue, ...labels, at: null })] : []
  return {
    value: { queueId: ids?.queue ?? '', partitionId: ids?.partition ?? '', ...labels, options },
    wakes,
    notes: notesOf(row?.made ?? []),
  }
}
