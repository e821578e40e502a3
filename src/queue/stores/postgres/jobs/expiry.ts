import type { Tx } from '../../../../storage/index.ts'
import { Effects } from '../admin/effects.ts'
import { lockCursors, lockPartitions, type QueueLabel } from '../admin/locks.ts'
import { addQueueTotals, addSubscriptionTotals } from '../admin/totals.ts'
import {
  candidatesOf,
  type ExpiryJob,
  PAGE,
  RULES,
  raiseGhostsOf,
  removalOf,
  SHRINK_LEASES,
} from './expiry-sql.ts'
import type { JobStep } from './step.ts'

interface Candidates {
  readonly ids: readonly number[]
  readonly upto: readonly number[]
  readonly unfinished: number | null
  readonly looked_at: number
  readonly last: number | null
}

interface Removed {
  readonly kind: 'queue' | 'subscription'
  readonly id: number
  readonly name: string
  readonly n: number
  readonly parts: number
}

/** A queue on which a lease was cut short. */
interface Freed extends QueueLabel {
  readonly ready: boolean
}

const NOTHING: Candidates = { ids: [], upto: [], unfinished: null, looked_at: 0, last: null }

/** Removes what the rule says from these partitions, and keeps everything that counts messages in step. */
async function remove(tx: Tx, job: ExpiryJob, { ids, upto }: Candidates, nowUs: number) {
  const rule = RULES[job]
  await tx.rows(`${job}_ghosts`, raiseGhostsOf(rule), [nowUs, ids])
  await lockPartitions(tx, ids)
  await lockCursors(tx, ids)
  const removed = await tx.rows<Removed>(`${job}_remove`, removalOf(rule), [nowUs, ids, upto])
  const freed = await tx.rows<Freed>('shrink_leases', SHRINK_LEASES, [nowUs, ids])
  const ofQueues = removed.filter(({ kind }) => kind === 'queue')
  const ofGroups = removed.filter(({ kind }) => kind === 'subscription')
  await addQueueTotals(
    tx,
    ofQueues.map(({ id, n }) => ({ id, stored: -n })),
  )
  await addSubscriptionTotals(
    tx,
    ofGroups.map(({ id, n }) => ({ id, passed: -n })),
  )
  return { ofQueues, freed }
}

/** One step of retention, completed retention or eviction. Queue API 16. */
export function expire(job: ExpiryJob): JobStep {
  const sql = candidatesOf(RULES[job])
  return async (tx, { after, limit, nowUs }) => {
    const values = [nowUs, after ?? 0, limit, PAGE]
    const [found = NOTHING] = await tx.rows<Candidates>(`${job}_candidates`, sql, values)
    const effects = new Effects()
    let deleted = 0
    if (found.ids.length > 0) {
      const { ofQueues, freed } = await remove(tx, job, found, nowUs)
      for (const { name, n, parts } of ofQueues) {
        effects.note(name, RULES[job].counts, n)
        effects.note(name, 'retentionEvents', parts)
        deleted += n
      }
      for (const queue of freed) if (queue.ready) effects.wake(queue)
    }
    // A partition may have more than its share: the next step begins with it.
    const end = found.looked_at < PAGE ? null : found.last
    const next = found.unfinished === null ? end : found.unfinished - 1
    return effects.with({ deleted, next })
  }
}
