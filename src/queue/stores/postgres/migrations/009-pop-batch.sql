-- The statement of the pops, on top of 007.

-- Requests stand in the order of serving and point at their scope. `request_limits`: most partitions, 0 = any;
-- `lease_ids`: '' with autoAck; `lease_lengths` in us, NULL = the queue's own.
-- A row per message; what it says of its claim comes with the claim's first message (partition_uuid not NULL).
-- A request that got nothing has one row without a message.
CREATE FUNCTION hivegate.pop_batch(
  now_us bigint, scope_queues text[], scope_partitions text[], scope_namespaces text[], scope_tasks text[],
  scope_groups text[], scope_modes text[], scope_starts bigint[],
  request_scopes integer[], request_sizes integer[], request_limits integer[],
  lease_ids text[], lease_lengths bigint[]
) RETURNS TABLE (request integer, message_id text, transaction_id text, trace_id text, producer_sub text,
  created_at bigint, encrypted boolean, payload text, queue text, namespace text, task text, partition text,
  partition_uuid text, after bigint, last bigint, retry_count integer,
  -- Of a claim: when waiting pops may look again, 0 = now, NULL = never. Of an empty request: when it may.
  look_at bigint, unfinished boolean)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  -- Candidates that one call looks at in vain before it lets other writes go first.
  most_misses constant integer := 256;
  source record;
  q hivegate.queue;
  sub hivegate.subscription;
  lefts integer[] := request_sizes;
  claims integer[] := array_fill(0, ARRAY[cardinality(request_scopes)]);
  next_at bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(scope_groups)]);
  paused boolean[] := array_fill(false, ARRAY[cardinality(scope_groups)]);
  wants integer[];
  part_ids bigint[];
  held bigint[];
  taken record;
  misses integer;
  look bigint;
  at integer;
BEGIN
  FOR source IN SELECT * FROM hivegate.pop_sources(now_us, scope_queues, scope_namespaces, scope_tasks,
    scope_groups, scope_modes, scope_starts)
  LOOP
    SELECT * INTO q FROM hivegate.queue l WHERE l.id = source.queue_id;
    SELECT * INTO sub FROM hivegate.subscription u WHERE u.id = source.subscription_id;
    misses := 0;
    LOOP
      -- A candidate for each partition that the unserved requests may still take.
      SELECT array_agg(w.n ORDER BY w.n) INTO wants FROM (
        SELECT r.n::integer AS n FROM unnest(request_scopes) WITH ORDINALITY r(scope, n)
          CROSS JOIN LATERAL generate_series(1, least(lefts[r.n], 64,
            CASE WHEN request_limits[r.n] > 0 THEN request_limits[r.n] - claims[r.n] END))
        WHERE r.scope = source.scope
        ORDER BY r.n LIMIT CASE WHEN scope_partitions[source.scope] IS NULL THEN most_misses ELSE 1 END) w;
      EXIT WHEN wants IS NULL;
      IF scope_partitions[source.scope] IS NULL THEN
        SELECT array_agg(k.partition_id ORDER BY k.ready_at, k.partition_id) INTO part_ids FROM (
          SELECT c.partition_id, c.ready_at FROM hivegate.cursor c
          WHERE c.subscription_id = sub.id AND c.ready_at <= now_us
          ORDER BY c.ready_at, c.partition_id LIMIT cardinality(wants) FOR NO KEY UPDATE SKIP LOCKED) k;
      ELSE
        SELECT array_agg(k.partition_id) INTO part_ids FROM (
          SELECT c.partition_id FROM hivegate.partition p
            JOIN hivegate.cursor c ON c.partition_id = p.id AND c.subscription_id = sub.id
          WHERE p.queue_id = q.id AND p.name = scope_partitions[source.scope]
          FOR NO KEY UPDATE OF c SKIP LOCKED) k;
      END IF;
      EXIT WHEN part_ids IS NULL;
      IF sub.mode = 'timestamp' THEN
        PERFORM hivegate.follow_start(sub, part_ids);
      END IF;
      held := '{}';
      IF '' = ANY (lease_ids) THEN
        -- Who consumes to the end takes the cursor off the ready-list: see 008.
        SELECT coalesce(array_agg(h.id), '{}') INTO held FROM (SELECT p.id FROM hivegate.partition p
          JOIN hivegate.cursor c ON c.partition_id = p.id AND c.subscription_id = sub.id
          WHERE p.id = ANY (part_ids) AND p.next - 1 - c.position <= (SELECT max(s) FROM unnest(lefts) s)
          FOR NO KEY UPDATE OF p SKIP LOCKED) h;
      END IF;
      SELECT * INTO taken FROM hivegate.claim_candidates(now_us, q, sub.id, part_ids,
        wants[1:cardinality(part_ids)], lefts, lease_ids, lease_lengths, held);
      IF taken.ids IS NOT NULL THEN
        RETURN QUERY
        SELECT k.request, m.id, m.transaction_id, m.trace_id, m.producer_sub, m.created_at, m.encrypted,
          m.payload, h.queue, h.namespace, h.task, h.partition, h.uuid, h.after, k.last, h.retries, h.wake, false
        FROM unnest(taken.ids, taken.requests, taken.afters, taken.lasts, taken.retries, taken.wakes)
            WITH ORDINALITY k(id, request, after, last, retries, wake, n)
          JOIN hivegate.partition p ON p.id = k.id
          CROSS JOIN LATERAL (
            SELECT m.*, row_number() OVER (ORDER BY m.position) AS rank FROM hivegate.message m
            WHERE m.partition_id = k.id AND m.position > greatest(k.after, p.head - 1) AND m.position <= k.last
            ORDER BY m.position) m
          LEFT JOIN LATERAL (SELECT q.name AS queue, q.namespace, q.task, p.name AS partition, p.uuid, k.after,
            k.retries, k.wake WHERE m.rank = 1) h ON true
        ORDER BY k.n, m.position;
        FOR i IN 1..cardinality(taken.ids) LOOP
          at := taken.requests[i];
          lefts[at] := lefts[at] - taken.sizes[i];
          claims[at] := claims[at] + 1;
        END LOOP;
      END IF;
      IF taken.lost IS NOT NULL THEN
        PERFORM hivegate.put_off(now_us, q, sub.id, taken.lost);
        misses := misses + cardinality(taken.lost);
        paused[source.scope] := paused[source.scope] OR misses >= most_misses;
        EXIT WHEN scope_partitions[source.scope] IS NOT NULL OR paused[source.scope];
      END IF;
    END LOOP;
    IF wants IS NOT NULL THEN
      -- Nothing is left for some request; what is due all the same is in the hands of somebody else.
      IF scope_partitions[source.scope] IS NULL THEN
        SELECT c.ready_at INTO look FROM hivegate.cursor c
        WHERE c.subscription_id = sub.id AND c.ready_at IS NOT NULL ORDER BY c.ready_at LIMIT 1;
      ELSE
        SELECT c.ready_at INTO look FROM hivegate.partition p
          JOIN hivegate.cursor c ON c.partition_id = p.id AND c.subscription_id = sub.id
        WHERE p.queue_id = q.id AND p.name = scope_partitions[source.scope];
      END IF;
      next_at[source.scope] := least(next_at[source.scope],
        CASE WHEN look <= now_us THEN now_us + 10000 ELSE look END);
    END IF;
  END LOOP;
  RETURN QUERY
  SELECT r.n::integer, NULL, NULL, NULL, NULL, NULL::bigint, NULL::boolean, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL::bigint, NULL::bigint, NULL::integer, next_at[r.scope], paused[r.scope]
  FROM unnest(request_scopes) WITH ORDINALITY r(scope, n) WHERE claims[r.n] = 0;
END $$;
