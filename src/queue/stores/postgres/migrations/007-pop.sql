-- One batch of pops: one statement. Queue API 5.4 and 7.1.

-- Finds the queues of each scope and registers their groups. Scopes: a queue with or without a partition, or
-- (queue NULL) a namespace, a task or both. Answers one row per (scope, queue), in the order of trying: higher
-- priority first, then what has waited longest.
CREATE FUNCTION hivegate.pop_sources(
  now_us bigint, scope_queues text[], scope_namespaces text[], scope_tasks text[], scope_groups text[],
  scope_modes text[], scope_starts bigint[]
) RETURNS TABLE (scope integer, queue_id bigint, subscription_id bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  names text[];
  strange text[];
BEGIN
  WITH wanted AS (
    SELECT s.n, coalesce(s.queue, q.name) AS name, s.grp
    FROM unnest(scope_queues, scope_namespaces, scope_tasks, scope_groups)
      WITH ORDINALITY s(queue, namespace, task, grp, n)
    LEFT JOIN LATERAL (
      SELECT l.name FROM hivegate.queue l WHERE s.queue IS NULL AND s.namespace IS NOT NULL AND NOT l.deleted
        AND l.namespace = s.namespace AND (s.task IS NULL OR l.task = s.task)
      UNION ALL
      SELECT l.name FROM hivegate.queue l WHERE s.queue IS NULL AND s.namespace IS NULL AND NOT l.deleted
        AND l.task = s.task
    ) q ON true
  )
  SELECT array_agg(w.name), array_agg(w.name) FILTER (WHERE u.mode IS NULL) INTO names, strange
  FROM wanted w LEFT JOIN hivegate.subscription u ON u.queue_name = w.name AND u.group_name = w.grp
  WHERE w.name IS NOT NULL;
  IF names IS NULL THEN
    RETURN;
  END IF;
  PERFORM hivegate.enter_gates(names, coalesce(strange, '{}'));
  IF strange IS NOT NULL THEN
    PERFORM hivegate.contact(x.name, s.grp, s.mode, s.start, now_us)
    FROM unnest(scope_queues, scope_namespaces, scope_tasks, scope_groups, scope_modes, scope_starts)
      WITH ORDINALITY s(queue, namespace, task, grp, mode, start, n)
    CROSS JOIN LATERAL (
      SELECT s.queue AS name WHERE s.queue = ANY (strange)
      UNION ALL
      SELECT l.name FROM hivegate.queue l WHERE s.queue IS NULL AND l.name = ANY (strange) AND NOT l.deleted
        AND (s.namespace IS NULL OR l.namespace = s.namespace) AND (s.task IS NULL OR l.task = s.task)
    ) x ORDER BY s.n;
  END IF;
  RETURN QUERY
  SELECT s.n::integer, q.id, u.id
  FROM unnest(scope_queues, scope_namespaces, scope_tasks, scope_groups)
    WITH ORDINALITY s(queue, namespace, task, grp, n)
  CROSS JOIN LATERAL (
    SELECT l.id, l.priority FROM hivegate.queue l WHERE l.name = s.queue AND NOT l.deleted
    UNION ALL
    SELECT l.id, l.priority FROM hivegate.queue l WHERE s.queue IS NULL AND s.namespace IS NOT NULL
      AND NOT l.deleted AND l.namespace = s.namespace AND (s.task IS NULL OR l.task = s.task)
    UNION ALL
    SELECT l.id, l.priority FROM hivegate.queue l WHERE s.queue IS NULL AND s.namespace IS NULL
      AND NOT l.deleted AND l.task = s.task
  ) q
  JOIN hivegate.subscription u ON u.queue_id = q.id AND u.group_name = s.grp AND u.mode IS NOT NULL
  ORDER BY s.n, q.priority DESC, (SELECT min(c.ready_at) FROM hivegate.cursor c
    WHERE s.queue IS NULL AND c.subscription_id = u.id AND c.ready_at IS NOT NULL) NULLS LAST, q.id;
END $$;

-- Claims what the candidate partitions hold for the requests that they were given to. `lefts`: how many messages
-- each request still wants; `held`: partitions whose lock we have. Answers the claims, and the candidates that
-- gave nothing.
CREATE FUNCTION hivegate.claim_candidates(
  now_us bigint, q hivegate.queue, sub_id bigint, part_ids bigint[], part_requests integer[], lefts integer[],
  lease_ids text[], lease_lengths bigint[], held bigint[],
  OUT ids bigint[], OUT requests integer[], OUT afters bigint[], OUT lasts bigint[], OUT sizes integer[],
  OUT retries integer[], OUT wakes bigint[], OUT lost bigint[]
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  WITH candidate AS (
    SELECT k.n, k.request, k.id, p.id IS NOT NULL AND (c.lease_id IS NULL OR c.lease_until <= now_us)
        AND (q.window_us = 0 OR p.stamp + q.window_us <= now_us) AS open,
      p.next, p.holes, c.retry_count, c.started, c.position, greatest(c.position, p.head - 1) AS start
    FROM unnest(part_ids, part_requests) WITH ORDINALITY k(id, request, n)
      JOIN hivegate.cursor c ON c.partition_id = k.id AND c.subscription_id = sub_id
      LEFT JOIN hivegate.partition p ON p.id = k.id
  ), stock AS MATERIALIZED (
    -- Without holes and delay the positions are known without a look. Later messages wait behind the first that is
    -- not old enough: times rise, so the condition cuts off the tail.
    SELECT d.*, CASE WHEN NOT d.open THEN 0
      WHEN d.holes = 0 AND q.delay_us = 0 THEN least(d.next - 1 - d.start, lefts[d.request])
      ELSE (SELECT count(*) FROM (SELECT m.created_at FROM hivegate.message m
        WHERE m.partition_id = d.id AND m.position > d.start ORDER BY m.position LIMIT lefts[d.request]) r
        WHERE q.delay_us = 0 OR r.created_at <= now_us - q.delay_us) END AS amount
    FROM candidate d
  ), share AS (
    -- Earlier candidates come first; what they give is not wanted of later ones.
    SELECT s.*, least(s.amount, lefts[s.request] - coalesce(sum(s.amount) OVER
      (PARTITION BY s.request ORDER BY s.n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)) AS size
    FROM stock s WHERE s.amount > 0
  ), claimed AS MATERIALIZED (
    SELECT s.*, lease_ids[s.request] = '' AS acked, now_us + coalesce(lease_lengths[s.request], q.lease_us) AS until,
      CASE WHEN s.holes = 0 AND q.delay_us = 0 THEN s.start + s.size
        ELSE (SELECT m.position FROM hivegate.message m WHERE m.partition_id = s.id AND m.position > s.start
          ORDER BY m.position OFFSET s.size - 1 LIMIT 1) END AS last
    FROM share s WHERE s.size > 0
  ), moved AS (
    UPDATE hivegate.cursor c SET started = true,
      lease_id = CASE WHEN NOT d.acked THEN lease_ids[d.request] END,
      lease_until = CASE WHEN NOT d.acked THEN d.until END,
      lease_end = CASE WHEN NOT d.acked THEN d.last END,
      lease_left = CASE WHEN d.acked THEN 0 ELSE d.size END,
      ready_at = CASE WHEN NOT d.acked THEN d.until
        WHEN d.last >= d.next - 1 AND d.id = ANY (held) THEN NULL ELSE now_us END,
      position = CASE WHEN d.acked THEN d.last ELSE c.position END,
      retry_count = CASE WHEN d.acked THEN 0 ELSE c.retry_count END,
      consumed = c.consumed + CASE WHEN d.acked THEN d.size ELSE 0 END,
      batches = c.batches + d.acked::int,
      consumed_at = CASE WHEN d.acked THEN now_us ELSE c.consumed_at END
    FROM claimed d WHERE c.partition_id = d.id AND c.subscription_id = sub_id
  ), totals AS (
    INSERT INTO hivegate.subscription_total AS t (subscription_id, slot, passed, members, consumed)
    SELECT sub_id, hivegate.total_slot(), s.passed, s.members, s.passed FROM (
      SELECT coalesce(sum(d.size) FILTER (WHERE d.acked), 0) AS passed,
        count(*) FILTER (WHERE NOT d.started) AS members FROM claimed d) s
    WHERE s.passed > 0 OR s.members > 0
    ON CONFLICT (subscription_id, slot) DO UPDATE SET passed = t.passed + excluded.passed,
      members = t.members + excluded.members, consumed = t.consumed + excluded.consumed
  )
  SELECT array_agg(d.id ORDER BY d.n), array_agg(d.request ORDER BY d.n), array_agg(d.position ORDER BY d.n),
    array_agg(d.last ORDER BY d.n), array_agg(d.size::integer ORDER BY d.n),
    array_agg(d.retry_count ORDER BY d.n),
    array_agg(CASE WHEN NOT d.acked THEN d.until WHEN d.last < d.next - 1 OR d.id <> ALL (held) THEN 0 END
      ORDER BY d.n),
    (SELECT array_agg(s.id) FROM stock s WHERE s.amount <= 0)
  INTO ids, requests, afters, lasts, sizes, retries, wakes, lost
  FROM claimed d;
END $$;

-- Candidates that gave nothing leave the front of the ready-list: until a delay, a window or a lease ends, or for
-- good when nothing is behind the cursor, which only the holder of the partition's lock may say.
CREATE FUNCTION hivegate.put_off(now_us bigint, q hivegate.queue, sub_id bigint, lost bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  held bigint[];
BEGIN
  SELECT coalesce(array_agg(h.id), '{}') INTO held FROM (SELECT p.id FROM hivegate.partition p
    WHERE p.id = ANY (lost) FOR NO KEY UPDATE SKIP LOCKED) h;
  UPDATE hivegate.cursor c SET ready_at = CASE
      WHEN c.lease_id IS NOT NULL AND c.lease_until > now_us THEN c.lease_until
      WHEN m.created_at IS NOT NULL THEN greatest(
        CASE WHEN q.delay_us > 0 THEN m.created_at + q.delay_us ELSE 0 END,
        CASE WHEN q.window_us > 0 THEN p.stamp + q.window_us ELSE 0 END)
      WHEN p.id = ANY (held) THEN NULL
      -- Somebody is at work on it: in 5 ms we know more.
      ELSE now_us + 5000 END
  FROM hivegate.partition p LEFT JOIN LATERAL (SELECT m.created_at FROM hivegate.message m, hivegate.cursor k
    WHERE k.partition_id = p.id AND k.subscription_id = sub_id AND m.partition_id = p.id
      AND m.position > greatest(k.position, p.head - 1) ORDER BY m.position LIMIT 1) m ON true
  WHERE p.id = ANY (lost) AND c.partition_id = p.id AND c.subscription_id = sub_id;
  DELETE FROM hivegate.cursor c WHERE c.subscription_id = sub_id AND c.partition_id = ANY (lost)
    AND NOT EXISTS (SELECT FROM hivegate.partition p WHERE p.id = c.partition_id);
END $$;

-- Cursors of a group that starts at a moment still to come follow it until something is delivered.
CREATE FUNCTION hivegate.follow_start(sub hivegate.subscription, part_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  passed bigint;
BEGIN
  WITH placed AS MATERIALIZED (
    SELECT p.id, hivegate.start_position(sub, p) AS at,
      hivegate.passed_by(p, c.position, hivegate.start_position(sub, p)) AS behind
    FROM hivegate.cursor c JOIN hivegate.partition p ON p.id = c.partition_id
    WHERE c.partition_id = ANY (part_ids) AND c.subscription_id = sub.id AND NOT c.started
  ), moved AS (
    UPDATE hivegate.cursor c SET position = placed.at FROM placed
    WHERE c.partition_id = placed.id AND c.subscription_id = sub.id AND c.position <> placed.at
  )
  SELECT sum(behind) INTO passed FROM placed;
  IF passed <> 0 THEN
    PERFORM hivegate.add_subscription_total(sub.id, passed, 0, 0, 0);
  END IF;
END $$;
