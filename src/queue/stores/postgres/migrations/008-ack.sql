-- One batch of acks: one statement. Queue API 6.2; the rules are those of src/queue/engine/ack-rules.ts.

-- Steps are the acks of one (partition, group, lease id); rounds keep the steps on one cursor apart. Items point at
-- their step and stand in its order; `item_weights`: 0 completed, 1 retry, 2 failed, 3 dlq.
-- `answers`, one letter for each item of the step: s(uccess), n(oop), d(ead letter), c(ommitted before),
-- x (not found), l(ease invalid or expired; for all items).
CREATE FUNCTION hivegate.ack_batch(
  now_us bigint,
  step_rounds integer[], step_partitions text[], step_groups text[], step_leases text[],
  item_steps integer[], item_txs text[], item_weights integer[], item_errors text[]
) RETURNS TABLE (step integer, released boolean, wakes boolean, answers text, queue text, partition text,
  namespace text, task text)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  steps integer := cardinality(step_partitions);
  last_round integer;
  part_ids bigint[];
  sub_ids bigint[];
  lost record;
  held bigint[];
  -- Facts of each step as the locks have fixed them; arrays without NULLs, which are quick to look into.
  fits boolean[];
  heads bigint[];
  nexts bigint[];
  places bigint[];
  spans bigint[];
  leased boolean[];
  tries integer[];
  limits integer[];
  files boolean[];
  -- Of each item: its position inside the span, and at or below the cursor; 0 = none.
  insides bigint[];
  belows bigint[];
  -- What each step comes to.
  firsts integer[];
  lasts integer[];
  head_at bigint[];
  goals bigint[];
  done boolean[];
  ended boolean[];
  fails boolean[];
  gone boolean[];
  errors text[];
  passed bigint[];
  moves boolean[];
  woken integer[];
BEGIN
  SELECT array_agg(coalesce(p.id, 0) ORDER BY s.n), array_agg(coalesce(u.id, 0) ORDER BY s.n), max(s.round)
  INTO part_ids, sub_ids, last_round
  FROM unnest(step_rounds, step_partitions, step_groups) WITH ORDINALITY s(round, uuid, grp, n)
    LEFT JOIN (hivegate.partition p JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted)
      ON p.uuid = s.uuid
    LEFT JOIN hivegate.subscription u ON u.queue_id = p.queue_id AND u.group_name = s.grp;

  -- Without a lease id an ack counts even if the group has no cursor yet, unless it knows no message at all.
  IF array_position(step_leases, NULL) IS NOT NULL THEN
    FOR lost IN
      SELECT DISTINCT part_ids[s.n] AS part_id, step_groups[s.n] AS grp FROM generate_series(1, steps) s(n)
      WHERE step_leases[s.n] IS NULL AND part_ids[s.n] > 0 AND NOT EXISTS (SELECT FROM hivegate.cursor c
        WHERE c.partition_id = part_ids[s.n] AND c.subscription_id = sub_ids[s.n])
        AND EXISTS (SELECT FROM unnest(item_steps, item_txs) i(step, tx)
          JOIN hivegate.message m ON m.partition_id = part_ids[s.n] AND m.transaction_id = i.tx
          JOIN hivegate.partition p ON p.id = part_ids[s.n] AND m.position >= p.head
          WHERE i.step = s.n)
      ORDER BY 1, 2
    LOOP
      sub_ids := (SELECT array_agg(CASE WHEN part_ids[s.n] = lost.part_id AND step_groups[s.n] = lost.grp
          THEN e.id ELSE sub_ids[s.n] END ORDER BY s.n)
        FROM (SELECT hivegate.ensure_cursor(lost.part_id, lost.grp, now_us) AS id) e,
          generate_series(1, steps) s(n));
    END LOOP;
  END IF;

  PERFORM FROM hivegate.cursor c
    WHERE (c.partition_id, c.subscription_id) IN (SELECT DISTINCT s.part_id, s.sub_id
      FROM unnest(part_ids, sub_ids) s(part_id, sub_id))
    ORDER BY c.partition_id, c.subscription_id FOR NO KEY UPDATE;

  FOR this_round IN 0..last_round LOOP
    -- Who reaches the end of a partition takes its cursor off the ready-list, which wants the partition's lock:
    -- tried, never waited for.
    SELECT coalesce(array_agg(h.id), '{}') INTO held FROM (
      SELECT p.id FROM hivegate.partition p WHERE p.id IN (
        SELECT c.partition_id FROM unnest(step_rounds, part_ids, sub_ids) s(round, part_id, sub_id)
          JOIN hivegate.cursor c ON c.partition_id = s.part_id AND c.subscription_id = s.sub_id
          JOIN hivegate.partition n ON n.id = c.partition_id
        WHERE s.round = this_round AND coalesce(c.lease_end, n.next) >= n.next - 1)
      FOR NO KEY UPDATE SKIP LOCKED) h;

    SELECT array_agg(c.partition_id IS NOT NULL AND s.round = this_round AND coalesce(step_leases[s.n] IS NULL
          OR (c.lease_id = step_leases[s.n] AND c.lease_until > now_us), false) ORDER BY s.n),
      array_agg(coalesce(p.head, 0) ORDER BY s.n), array_agg(coalesce(p.next, 0) ORDER BY s.n),
      array_agg(coalesce(c.position, 0) ORDER BY s.n),
      -- The last leased position that still holds a message: what was removed can never be acked.
      array_agg(CASE WHEN c.lease_end IS NULL THEN 9007199254740991
        WHEN p.holes = 0 AND c.lease_end >= p.head THEN c.lease_end
        ELSE greatest(c.position, (SELECT m.position FROM hivegate.message m WHERE m.partition_id = p.id
          AND m.position <= c.lease_end AND m.position >= p.head ORDER BY m.position DESC LIMIT 1)) END ORDER BY s.n),
      array_agg(c.lease_end IS NOT NULL ORDER BY s.n), array_agg(coalesce(c.retry_count, 0) ORDER BY s.n),
      array_agg(coalesce(q.retry_limit, 0) ORDER BY s.n), array_agg(coalesce(q.dead_letters, false) ORDER BY s.n)
    INTO fits, heads, nexts, places, spans, leased, tries, limits, files
    FROM unnest(step_rounds, part_ids, sub_ids) WITH ORDINALITY s(round, part_id, sub_id, n)
      LEFT JOIN hivegate.cursor c ON c.partition_id = s.part_id AND c.subscription_id = s.sub_id
      LEFT JOIN hivegate.partition p ON p.id = c.partition_id LEFT JOIN hivegate.queue q ON q.id = p.queue_id;

    WITH item AS MATERIALIZED (
      SELECT i.step, i.weight, i.error, i.n, m.inside, m.below,
        min(m.inside) FILTER (WHERE i.weight > 0) OVER (PARTITION BY i.step) AS head_at
      FROM unnest(item_steps, item_txs, item_weights, item_errors) WITH ORDINALITY i(step, tx, weight, error, n)
      LEFT JOIN LATERAL (
        SELECT min(m.position) FILTER (WHERE m.position > places[i.step] AND m.position <= spans[i.step]) AS inside,
          max(m.position) FILTER (WHERE m.position <= places[i.step]) AS below
        FROM hivegate.message m WHERE fits[i.step] AND m.partition_id = part_ids[i.step]
          AND m.transaction_id = i.tx AND m.position >= heads[i.step]
      ) m ON true
    ), signal AS (
      -- Rules 4 and 5: the head, its weight, the commit point below it.
      SELECT i.step, i.head_at, min(i.n)::integer AS first, max(i.n)::integer AS last,
        bool_or(coalesce(i.inside, i.below) IS NOT NULL) AS known,
        max(i.weight) FILTER (WHERE i.inside = i.head_at) AS weight,
        greatest(places[i.step], max(i.inside) FILTER (WHERE i.weight = 0
          AND (i.head_at IS NULL OR i.inside < i.head_at))) AS point,
        (array_agg(i.error ORDER BY i.n) FILTER (WHERE i.weight > 0 AND i.inside = i.head_at))[1] AS error
      FROM item i GROUP BY i.step, i.head_at
    ), decision AS (
      -- Rule 7. Without a head the lease ends when its whole span is done; a negative head needs a lease.
      SELECT g.*, g.head_at IS NULL AND leased[g.step] AND g.known AND g.point >= spans[g.step] AS done,
        g.head_at IS NOT NULL AND leased[g.step] AS ended,
        g.head_at IS NOT NULL AND leased[g.step] AND g.weight > 1 AS failed,
        g.head_at IS NOT NULL AND leased[g.step]
          AND (g.weight = 3 OR g.weight = 2 AND tries[g.step] >= limits[g.step]) AS gone
      FROM signal g
    )
    SELECT (SELECT array_agg(coalesce(i.inside, 0) ORDER BY i.n) FROM item i),
      (SELECT array_agg(coalesce(i.below, 0) ORDER BY i.n) FROM item i),
      array_agg(d.first ORDER BY d.step), array_agg(d.last ORDER BY d.step),
      array_agg(coalesce(d.head_at, 0) ORDER BY d.step),
      array_agg(CASE WHEN d.gone THEN d.head_at ELSE d.point END ORDER BY d.step),
      array_agg(d.done ORDER BY d.step), array_agg(d.ended OR d.done ORDER BY d.step),
      array_agg(d.failed ORDER BY d.step), array_agg(d.gone ORDER BY d.step),
      array_agg(coalesce(nullif(d.error, ''), 'Retries exhausted') ORDER BY d.step),
      array_agg(d.gone AND (d.weight = 3 OR files[d.step]) ORDER BY d.step),
      array_agg(d.known AND (d.done OR d.ended OR d.point > places[d.step]) ORDER BY d.step)
    INTO insides, belows, firsts, lasts, head_at, goals, done, ended, fails, gone, errors, files, moves
    FROM decision d;

    SELECT array_agg(CASE WHEN moves[s.n] THEN hivegate.stored_between(p, places[s.n], goals[s.n]) ELSE 0 END
      ORDER BY s.n) INTO passed
    FROM generate_series(1, steps) s(n) LEFT JOIN hivegate.partition p ON p.id = part_ids[s.n];

    WITH moved AS (
      UPDATE hivegate.cursor c SET started = true, position = goals[s.n],
        retry_count = CASE WHEN done[s.n] OR gone[s.n] THEN 0 WHEN fails[s.n] THEN c.retry_count + 1
          ELSE c.retry_count END,
        lease_id = CASE WHEN NOT ended[s.n] THEN c.lease_id END,
        lease_until = CASE WHEN NOT ended[s.n] THEN c.lease_until END,
        lease_end = CASE WHEN NOT ended[s.n] THEN c.lease_end END,
        lease_left = CASE WHEN ended[s.n] THEN 0 ELSE greatest(0, c.lease_left - passed[s.n]) END,
        ready_at = CASE WHEN c.lease_id IS NOT NULL AND NOT ended[s.n] THEN c.ready_at
          WHEN goals[s.n] >= nexts[s.n] - 1 AND c.partition_id = ANY (held) THEN NULL ELSE now_us END,
        consumed = c.consumed + passed[s.n] - gone[s.n]::int, batches = c.batches + done[s.n]::int,
        failed = c.failed + fails[s.n]::int,
        consumed_at = CASE WHEN passed[s.n] > gone[s.n]::int THEN now_us ELSE c.consumed_at END
      FROM generate_series(1, steps) s(n), hivegate.cursor b
      WHERE moves[s.n] AND b.partition_id = part_ids[s.n] AND b.subscription_id = sub_ids[s.n]
        AND c.partition_id = part_ids[s.n] AND c.subscription_id = sub_ids[s.n]
      RETURNING s.n, c.subscription_id, NOT b.started AS begins,
        c.lease_id IS NULL AND c.ready_at IS NOT NULL AS wakes
    ), filed AS (
      INSERT INTO hivegate.dead_letter (uuid, queue_id, partition_id, partition_uuid, partition_name, group_name,
        message_id, transaction_id, trace_id, producer_sub, encrypted, payload, created_at, failed_at, error,
        retry_count)
      SELECT hivegate.uuid_at(now_us), p.queue_id, p.id, p.uuid, p.name, step_groups[s.n], m.id,
        m.transaction_id, m.trace_id, m.producer_sub, m.encrypted, m.payload, m.created_at, now_us,
        errors[s.n], tries[s.n]
      FROM generate_series(1, steps) s(n) JOIN hivegate.partition p ON p.id = part_ids[s.n]
        JOIN hivegate.message m ON m.partition_id = p.id AND m.position = head_at[s.n]
      WHERE files[s.n]
      RETURNING queue_id
    ), queue_totals AS (
      INSERT INTO hivegate.queue_total AS t (queue_id, slot, dead)
      SELECT f.queue_id, hivegate.total_slot(), count(*) FROM filed f GROUP BY 1, 2 ORDER BY 1
      ON CONFLICT (queue_id, slot) DO UPDATE SET dead = t.dead + excluded.dead
    ), group_totals AS (
      INSERT INTO hivegate.subscription_total AS t (subscription_id, slot, passed, members, consumed, failed)
      SELECT m.subscription_id, hivegate.total_slot(), sum(passed[m.n]), count(*) FILTER (WHERE m.begins),
        sum(passed[m.n] - gone[m.n]::int), count(*) FILTER (WHERE fails[m.n])
      FROM moved m GROUP BY 1, 2 ORDER BY 1
      ON CONFLICT (subscription_id, slot) DO UPDATE SET passed = t.passed + excluded.passed,
        members = t.members + excluded.members, consumed = t.consumed + excluded.consumed,
        failed = t.failed + excluded.failed
    )
    SELECT coalesce(array_agg(m.n) FILTER (WHERE m.wakes), '{}') INTO woken FROM moved m;

    RETURN QUERY
    SELECT s.n::integer, moves[s.n] AND ended[s.n], s.n = ANY (woken),
      CASE WHEN fits[s.n] THEN (SELECT string_agg(CASE
          WHEN insides[i.n] > 0 THEN
            CASE WHEN item_weights[i.n] > 0 AND files[s.n] AND insides[i.n] = head_at[s.n] THEN 'd' ELSE 's' END
          WHEN belows[i.n] = 0 THEN 'x'
          WHEN item_weights[i.n] = 0 THEN 'n' ELSE 'c' END, '' ORDER BY i.n)
        FROM generate_series(firsts[s.n], lasts[s.n]) i(n))
        WHEN q.id IS NOT NULL AND step_leases[s.n] IS NOT NULL THEN 'l' ELSE 'x' END,
      q.name, p.name, q.namespace, q.task
    FROM generate_series(1, steps) s(n)
      LEFT JOIN hivegate.partition p ON p.id = part_ids[s.n] LEFT JOIN hivegate.queue q ON q.id = p.queue_id
    WHERE step_rounds[s.n] = this_round;
  END LOOP;
END $$;
