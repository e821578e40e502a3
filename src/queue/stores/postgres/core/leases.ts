import type { Wake } from '../../../store.ts'
import type { WriteHandler } from '../handler.ts'
import { wakeOf } from '../push-batch.ts'

const SECOND_US = 1_000_000

interface Place {
  readonly queue: string
  readonly namespace: string
  readonly task: string
}

function distinct(places: readonly Place[], at: (place: Place) => number | null): readonly Wake[] {
  const wakes = places.map((place) => wakeOf({ ...place, at: at(place) }))
  return [...new Map(wakes.map((wake) => [`${wake.queue}\0${wake.atMs}`, wake])).values()]
}

// Cursors that the lease holds now; those of deleted groups and queues do not count. ($1 lease, $2 now, $3 until)
const EXTEND = `
  WITH held AS (
    SELECT c.partition_id, c.subscription_id, q.name AS queue, q.namespace, q.task
    FROM hivegate.cursor c
      JOIN hivegate.partition p ON p.id = c.partition_id
      JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted
      JOIN hivegate.subscription s ON s.id = c.subscription_id
    WHERE c.lease_id = $1 AND c.lease_until > $2
    ORDER BY c.partition_id, c.subscription_id FOR NO KEY UPDATE OF c
  )
  UPDATE hivegate.cursor c
  SET lease_until = greatest(c.lease_until, $3), ready_at = greatest(c.lease_until, $3)
  FROM held WHERE c.partition_id = held.partition_id AND c.subscription_id = held.subscription_id
    AND c.lease_id = $1
  RETURNING c.lease_until AS until, held.queue, held.namespace, held.task`

/** Never shortens a lease. Queue API 6.3. */
export const extend: WriteHandler<'extend'> = async (tx, { leaseId, seconds, nowUs }) => {
  const values = [leaseId, nowUs, nowUs + seconds * SECOND_US]
  const rows = await tx.rows<Place & { until: number }>('extend', EXTEND, values)
  const untils = rows.map(({ until }) => until)
  return {
    value: { renewed: rows.length, expiresAtUs: rows.length === 0 ? null : Math.min(...untils) },
    wakes: rows.flatMap((row) => distinct([row], () => row.until)),
    notes: [],
  }
}

/**
 * Claims given back. Under a lease the cursor becomes free; an autoAck pop has moved it, so it goes back if it
 * still stands there, free. ($1 group, $2 lease or '', $3 partitions, $4 and $5 spans, $6 now)
 */
const RELEASE = `
  WITH given AS MATERIALIZED (
    SELECT c.partition_id, c.subscription_id, k.after, q.name AS queue, q.namespace, q.task,
      CASE WHEN $2 = '' THEN hivegate.stored_between(p, k.after, k.up_to) ELSE 0 END AS undone
    FROM unnest($3::text[], $4::bigint[], $5::bigint[]) k(uuid, after, up_to)
      JOIN hivegate.partition p ON p.uuid = k.uuid
      JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted
      JOIN hivegate.subscription s ON s.queue_id = q.id AND s.group_name = $1
      JOIN hivegate.cursor c ON c.partition_id = p.id AND c.subscription_id = s.id
    WHERE CASE WHEN $2 = '' THEN c.lease_id IS NULL AND c.position = k.up_to ELSE c.lease_id = $2 END
    ORDER BY c.partition_id, c.subscription_id FOR NO KEY UPDATE OF c
  ), freed AS (
    UPDATE hivegate.cursor c SET lease_id = NULL, lease_until = NULL, lease_end = NULL, lease_left = 0,
      ready_at = $6::bigint, position = CASE WHEN $2 = '' THEN given.after ELSE c.position END,
      consumed = c.consumed - given.undone, batches = c.batches - ($2 = '')::int
    FROM given
    WHERE c.partition_id = given.partition_id AND c.subscription_id = given.subscription_id
  ), totals AS (
    INSERT INTO hivegate.subscription_total AS t (subscription_id, slot, passed, consumed)
    SELECT subscription_id, hivegate.total_slot(), -sum(undone), -sum(undone) FROM given
    GROUP BY subscription_id HAVING sum(undone) <> 0 ORDER BY subscription_id
    ON CONFLICT (subscription_id, slot)
    DO UPDATE SET passed = t.passed + excluded.passed, consumed = t.consumed + excluded.consumed
  )
  SELECT queue, namespace, task FROM given`

/** Undoes the claims of a pop whose client has gone. */
export const release: WriteHandler<'release'> = async (tx, { group, leaseId, claims, nowUs }) => {
  const rows = await tx.rows<Place>('release', RELEASE, [
    group,
    leaseId,
    claims.map(({ partitionId }) => partitionId),
    claims.map(({ after }) => after),
    claims.map(({ upTo }) => upTo),
    nowUs,
  ])
  return { value: { released: rows.length }, wakes: distinct(rows, () => null), notes: [] }
}
