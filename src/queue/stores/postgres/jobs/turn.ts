import type { Tx } from '../../../../storage/index.ts'
import type { JobArgs } from './step.ts'

/** Any constant of our own: the first half of the key of a job's lock. */
const LOCK_CLASS = 6_632_006

/** A round that has shown no sign of life for so long is dead, and so is its process. */
const DEAD_AFTER_US = 60_000_000
/** Signs of life are given no more often than this: one row version less for each step. */
const SIGN_EVERY_US = 5_000_000

/** True when no other process is at a step of the same job; holds until the transaction ends. */
async function isAlone(tx: Tx, { job }: JobArgs): Promise<boolean> {
  const [row] = await tx.rows<{ mine: boolean }>(
    'job_lock',
    `SELECT pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext($1)) AS mine`,
    [job],
  )
  return row?.mine === true
}

/**
 * Begins a round, if none is at work and the last one began long enough ago. A tenth of the interval is granted:
 * timers are not exact, and a round that comes a moment too early would be lost. A start in the future is that
 * of a clock that is no longer right.
 */
const BEGIN = `
  INSERT INTO hivegate.job_run AS r (job, started_at, seen_at, running) VALUES ($1, $2, $2, true)
  ON CONFLICT (job) DO UPDATE SET started_at = $2, seen_at = $2, running = true
  WHERE (NOT r.running OR abs(r.seen_at - $2) > ${DEAD_AFTER_US})
    AND (r.started_at <= $2 - $3::bigint / 10 * 9 OR r.started_at > $2 + $3::bigint)
  RETURNING 1`

/**
 * Whether this step may be done: rounds that name an interval run once per interval over all processes, and
 * never two steps of one job at a time. A refused step ends the round.
 */
export async function isOurTurn(tx: Tx, args: JobArgs): Promise<boolean> {
  if (!(await isAlone(tx, args))) return false
  const { job, after, everyUs = null, nowUs } = args
  if (everyUs === null) return true
  if (after === null) return (await tx.rows('job_begin', BEGIN, [job, nowUs, everyUs])).length > 0
  await tx.rows(
    'job_sign',
    `UPDATE hivegate.job_run SET seen_at = $2
     WHERE job = $1 AND abs(seen_at - $2) > ${SIGN_EVERY_US}`,
    [job, nowUs],
  )
  return true
}

/** Notes the end of a round, so that the next one need not wait for its process to be dead. */
export async function endRound(tx: Tx, { job, everyUs = null }: JobArgs): Promise<void> {
  if (everyUs === null) return
  await tx.rows('job_end', 'UPDATE hivegate.job_run SET running = false WHERE job = $1', [job])
}
