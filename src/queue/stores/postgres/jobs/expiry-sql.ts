import type { QueueColumn } from '../../../metrics/columns.ts'

/** Partitions whose oldest message one step looks at: a few ms. */
export const PAGE = 1000

/** One of the rules of queue API 16 by which messages go; the texts are SQL. */
export interface Rule {
  /** Age in seconds at which messages of queue `q` go; 0 = the queue does not use the rule. */
  readonly age: string
  /** The positions of partition `p` that it is about: above `after`, up to and with `upto`. */
  readonly span: string
  readonly counts: QueueColumn
}

export type ExpiryJob = 'retention' | 'completedRetention' | 'eviction'

const TO_THE_END = '9007199254740991'

/** How far the groups of partition `p` have come at the moment `$1`. */
const LIVE_CURSORS = `
  SELECT min(c.position) FILTER (WHERE c.started) AS lowest,
    max(c.lease_end) FILTER (WHERE c.lease_id IS NOT NULL AND c.lease_until > $1) AS leased
  FROM hivegate.cursor c
  WHERE c.partition_id = p.id
    AND EXISTS (SELECT FROM hivegate.subscription s WHERE s.id = c.subscription_id)`

const number = (option: string) => `coalesce((q.options ->> '${option}')::bigint, 0)`
const enabled = (age: string) =>
  `CASE WHEN (q.options ->> 'retentionEnabled')::boolean THEN ${age} ELSE 0 END`

export const RULES: Readonly<Record<ExpiryJob, Rule>> = {
  retention: {
    age: enabled(number('retentionSeconds')),
    span: `SELECT p.head - 1 AS after, ${TO_THE_END} AS upto`,
    counts: 'retentionMsgs',
  },
  completedRetention: {
    age: enabled(number('completedRetentionSeconds')),
    // What every group has consumed; nothing where there is no group.
    span: `SELECT p.head - 1 AS after, coalesce(c.lowest, 0) AS upto FROM (${LIVE_CURSORS}) c`,
    counts: 'completedRetentionMsgs',
  },
  eviction: {
    age: number('maxWaitTimeSeconds'),
    // What a consumer is working on does not wait any more.
    span: `SELECT greatest(p.head - 1, c.lowest, c.leased) AS after, ${TO_THE_END} AS upto
      FROM (${LIVE_CURSORS}) c`,
    counts: 'evictionMsgs',
  },
}

/**
 * Which rows a step removes: the next partitions that use the rule, those among them whose first message in
 * the rule's span is too old, and of each an equal share of the limit. Times rise inside a partition, so that
 * the first young message ends it. `unfinished`: the first partition that may have more.
 * ($1 now, $2 after, $3 limit, $4 page)
 */
export const candidatesOf = (rule: Rule) => `
  WITH rule AS MATERIALIZED (
    SELECT id, $1::bigint - age * 1000000 AS cutoff
    FROM (SELECT q.id, ${rule.age} AS age FROM hivegate.queue q WHERE NOT q.deleted) q WHERE age > 0),
  page AS MATERIALIZED (
    SELECT p.* FROM rule r CROSS JOIN LATERAL (
      SELECT p.id, p.head, r.cutoff FROM hivegate.partition p
      WHERE p.queue_id = r.id AND p.id > $2 AND p.head < p.next ORDER BY p.id LIMIT $4) p
    ORDER BY p.id LIMIT $4),
  ripe AS MATERIALIZED (
    SELECT p.id, p.cutoff, span.after, span.upto FROM page p
    CROSS JOIN LATERAL (
      SELECT m.created_at FROM hivegate.message m
      WHERE m.partition_id = p.id AND m.position >= p.head ORDER BY m.position LIMIT 1) oldest
    CROSS JOIN LATERAL (${rule.span}) span
    CROSS JOIN LATERAL (
      SELECT m.created_at FROM hivegate.message m
      WHERE m.partition_id = p.id AND m.position > span.after AND m.position <= span.upto
      ORDER BY m.position LIMIT 1) first
    WHERE oldest.created_at < p.cutoff AND first.created_at < p.cutoff
    ORDER BY p.id LIMIT $3),
  share AS (SELECT greatest(1, $3::bigint / greatest(count(*), 1)) AS rows FROM ripe),
  cut AS (
    SELECT ripe.id, old.upto, old.n >= share.rows AS unfinished
    FROM ripe CROSS JOIN share CROSS JOIN LATERAL (
      SELECT max(m.position) AS upto, count(*) AS n FROM (
        SELECT m.position, m.created_at FROM hivegate.message m
        WHERE m.partition_id = ripe.id AND m.position > ripe.after AND m.position <= ripe.upto
        ORDER BY m.position LIMIT share.rows) m
      WHERE m.created_at < ripe.cutoff) old)
  SELECT coalesce(array_agg(id ORDER BY id), '{}') AS ids,
    coalesce(array_agg(upto ORDER BY id), '{}') AS upto,
    min(id) FILTER (WHERE unfinished) AS unfinished,
    (SELECT count(*) FROM page) AS looked_at, (SELECT max(id) FROM page) AS last
  FROM cut`

/**
 * Removes the rows under the locks, keeps their transaction ids for what is left of the duplicate window
 * (queue API 3.5), and moves heads, holes and figures along. Everything before the next stored message is
 * gone, holes included. ($1 now, $2 partitions, $3 last position of each)
 */
export const removalOf = (rule: Rule) => `
  WITH span AS MATERIALIZED (
    SELECT p.id, p.queue_id, p.head, p.holes, p.next, span.after, least(span.upto, t.upto) AS upto,
      q.dedup_us AS dedup
    FROM unnest($2::bigint[], $3::bigint[]) t (id, upto)
    JOIN hivegate.partition p ON p.id = t.id
    JOIN hivegate.queue q ON q.id = p.queue_id
    CROSS JOIN LATERAL (${rule.span}) span),
  gone AS (
    DELETE FROM hivegate.message m USING span s
    WHERE m.partition_id = s.id AND m.position > s.after AND m.position <= s.upto
    RETURNING s.id AS partition_id, m.position, m.id, m.transaction_id, m.created_at, s.dedup),
  ghosts AS (
    INSERT INTO hivegate.ghost (partition_id, transaction_id, message_id, created_at, expires_at)
    SELECT DISTINCT ON (partition_id, transaction_id)
      partition_id, transaction_id, id, created_at, created_at + dedup
    FROM gone WHERE created_at + dedup > $1 ORDER BY partition_id, transaction_id, position DESC
    ON CONFLICT (partition_id, transaction_id) DO UPDATE SET message_id = excluded.message_id,
      created_at = excluded.created_at, expires_at = excluded.expires_at),
  cut AS MATERIALIZED (
    SELECT partition_id AS id, min(position) AS first, max(position) AS last, count(*) AS n
    FROM gone GROUP BY partition_id),
  moved AS (
    UPDATE hivegate.partition p
    SET head = CASE WHEN c.front THEN c.rest ELSE p.head END,
      holes = p.holes + CASE WHEN c.front THEN c.n - (c.rest - p.head) ELSE c.n END
    FROM (
      SELECT cut.id, cut.n,
        NOT EXISTS (SELECT FROM hivegate.message m WHERE m.partition_id = s.id
          AND m.position >= s.head AND m.position < cut.first) AS front,
        coalesce((SELECT min(m.position) FROM hivegate.message m
          WHERE m.partition_id = s.id AND m.position > cut.last), s.next) AS rest
      FROM cut JOIN span s USING (id)) c
    WHERE p.id = c.id
    RETURNING p.queue_id, c.n),
  passed AS (
    SELECT c.subscription_id, sum(CASE WHEN c.position >= cut.last THEN cut.n ELSE (
      SELECT count(*) FROM gone g WHERE g.partition_id = c.partition_id AND g.position <= c.position)
      END) AS n
    FROM hivegate.cursor c JOIN cut ON cut.id = c.partition_id AND c.position >= cut.first
    WHERE EXISTS (SELECT FROM hivegate.subscription s WHERE s.id = c.subscription_id)
    GROUP BY c.subscription_id)
  SELECT 'queue' AS kind, q.id, q.name, sum(m.n) AS n, count(*) AS parts
  FROM moved m JOIN hivegate.queue q ON q.id = m.queue_id GROUP BY q.id, q.name
  UNION ALL SELECT 'subscription', subscription_id, '', n, 0 FROM passed`

/** A lease over messages that are gone ends when nothing of its span is left. ($1 now, $2 partitions) */
export const SHRINK_LEASES = `
  UPDATE hivegate.cursor c
  SET lease_left = l.n,
    lease_id = CASE WHEN l.n > 0 THEN c.lease_id END,
    lease_until = CASE WHEN l.n > 0 THEN c.lease_until END,
    lease_end = CASE WHEN l.n > 0 THEN c.lease_end END,
    ready_at = CASE WHEN l.n > 0 THEN c.ready_at WHEN c.position < l.next - 1 THEN $1::bigint END
  FROM (
    SELECT c.partition_id, c.subscription_id, p.next, q.id, q.name, q.namespace, q.task,
      hivegate.stored_between(p, c.position, c.lease_end) AS n
    FROM hivegate.cursor c JOIN hivegate.partition p ON p.id = c.partition_id
      JOIN hivegate.queue q ON q.id = p.queue_id
    WHERE c.partition_id = ANY ($2::bigint[]) AND c.lease_id IS NOT NULL AND c.lease_end IS NOT NULL) l
  WHERE c.partition_id = l.partition_id AND c.subscription_id = l.subscription_id
    AND c.lease_left <> l.n
  RETURNING l.id, l.name, l.namespace, l.task,
    c.lease_id IS NULL AND c.ready_at IS NOT NULL AS ready`

/**
 * Pushes must look for the kept transaction ids before the first one is kept; a minute more than needed, so that
 * the row is not written at every step. ($1 now, $2 partitions)
 */
export const raiseGhostsOf = (rule: Rule) => `
  UPDATE hivegate.queue q SET ghosts_until = $1 + q.dedup_us + 60000000
  FROM (
    SELECT q.id FROM hivegate.queue q
    WHERE q.id IN (SELECT queue_id FROM hivegate.partition WHERE id = ANY ($2::bigint[]))
      AND q.dedup_us > ${rule.age} * 1000000 AND q.ghosts_until < $1 + q.dedup_us
    ORDER BY q.id FOR NO KEY UPDATE) late
  WHERE q.id = late.id`
