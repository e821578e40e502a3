import type { Answer } from '../handler.ts'
import { quiet, type WriteHandler } from '../handler.ts'
import { wakeOf } from '../push-batch.ts'

const ENTER = "SELECT hivegate.enter_gates('{}', ARRAY[$1::text])"

interface Gone {
  readonly queue: string
  readonly namespace: string
  readonly task: string
}

const REMOVE = `
  WITH gone AS (
    UPDATE hivegate.queue SET deleted = true WHERE name = $1 AND NOT deleted
    RETURNING name AS queue, namespace, task
  ), dropped AS (
    -- Groups that came before the queue are subscriptions of that name all the same.
    DELETE FROM hivegate.subscription WHERE queue_name = $1 RETURNING id
  ), uncounted AS (
    DELETE FROM hivegate.subscription_total WHERE subscription_id IN (SELECT id FROM dropped)
  ), unbuffered AS (
    DELETE FROM hivegate.buffered_push WHERE queue = $1
  )
  SELECT * FROM gone`

/** Takes the queue out of sight at once, alone behind its gate; the purge job takes the rows away. Queue API 9. */
export const deleteQueue: WriteHandler<'deleteQueue'> = async (tx, { queue }) => {
  // A drain of the buffer that has read what is to go would bring the queue back.
  await tx.rows('buffer_gate_shared', 'SELECT hivegate.enter_buffer_gate(false)')
  await tx.rows('delete_queue_gate', ENTER, [queue])
  const [gone] = await tx.rows<Gone>('delete_queue', REMOVE, [queue])
  const answer: Answer<{ existed: boolean }> = quiet({ existed: gone !== undefined })
  // Waiting pops register anew, so that they meet a queue of the same name.
  return gone === undefined ? answer : { ...answer, wakes: [wakeOf({ ...gone, at: null })] }
}
