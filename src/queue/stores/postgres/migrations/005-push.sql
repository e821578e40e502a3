-- One batch of pushes: one statement. Targets are the distinct (queue, partition) pairs, items point at them.

CREATE FUNCTION hivegate.push_batch(
  now_us bigint,
  target_queues text[], target_partitions text[], target_namespaces text[], target_tasks text[],
  default_options text,
  -- Of each item: the index of its target, and of the first item of the batch with its target and transaction id.
  item_targets integer[], item_firsts integer[],
  item_txs text[], item_traces text[], item_subs text[],
  -- The bits of chance of their ids, as 16 hexadecimal digits.
  item_tails text[],
  -- In clear, and sealed where there is a key; the queue's option chooses.
  item_payloads text[], item_sealed text[],
  -- Of messages that were diverted before: they keep their id and the form of their payload.
  kept_ids text[], kept_encrypted boolean[],
  -- One letter for each item: q(ueued), d(uplicate of the message named), f (duplicate of `item_firsts`).
  OUT states text, OUT ids text, OUT partitions text, OUT wakes jsonb, OUT made jsonb
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  wanted integer := cardinality(target_queues);
  tries integer := 0;
  part_ids bigint[];
  queue_ids bigint[];
  heads bigint[];
  nexts bigint[];
  least_stamps bigint[];
  dedups bigint[];
  ghostly boolean[];
  encrypts boolean[];
  delays bigint[];
  windows bigint[];
  base bigint;
BEGIN
  PERFORM hivegate.enter_gates(target_queues);
  -- What is missing is made before any partition is locked: the locks of queue rows come first.
  IF wanted > 1 AND wanted > (SELECT count(*) FROM unnest(target_queues, target_partitions) t(queue, partition)
    JOIN hivegate.queue q ON q.name = t.queue AND NOT q.deleted
    JOIN hivegate.partition p ON p.queue_id = q.id AND p.name = t.partition) THEN
    made := hivegate.make_targets(now_us, target_queues, target_partitions, target_namespaces, target_tasks,
      default_options);
  END IF;
  LOOP
    SELECT array_agg(s.id ORDER BY s.n), array_agg(s.queue_id ORDER BY s.n), array_agg(s.head ORDER BY s.n),
      array_agg(s.next ORDER BY s.n), array_agg(s.least_stamp ORDER BY s.n),
      array_agg(s.dedup_us ORDER BY s.n), array_agg(s.ghostly ORDER BY s.n),
      array_agg(s.encrypted ORDER BY s.n), array_agg(s.delay_us ORDER BY s.n),
      array_agg(s.window_us ORDER BY s.n), string_agg(s.uuid, ',' ORDER BY s.n),
      greatest(now_us, max(s.least_stamp) FILTER (WHERE s.least_stamp < now_us + 1000000))
    INTO part_ids, queue_ids, heads, nexts, least_stamps, dedups, ghostly, encrypts, delays, windows,
      partitions, base
    FROM (
      SELECT t.n, p.id, p.uuid, p.queue_id, p.head, p.next, q.dedup_us, q.ghosts_until > now_us AS ghostly,
        q.encrypted, q.delay_us, q.window_us, greatest(p.stamp + 1, q.stamp_floor) AS least_stamp
      FROM unnest(target_queues, target_partitions) WITH ORDINALITY t(queue, partition, n)
        JOIN hivegate.queue q ON q.name = t.queue AND NOT q.deleted
        JOIN hivegate.partition p ON p.queue_id = q.id AND p.name = t.partition
      ORDER BY p.id FOR NO KEY UPDATE OF p
    ) s;
    EXIT WHEN cardinality(part_ids) = wanted;
    tries := tries + 1;
    IF tries > 5 THEN
      -- Somebody removes the partitions as fast as they are made.
      RAISE EXCEPTION 'the partitions of a push do not stay' USING ERRCODE = 'serialization_failure';
    END IF;
    made := coalesce(made, '[]') || coalesce(hivegate.make_targets(
      now_us, target_queues, target_partitions, target_namespaces, target_tasks, default_options), '[]');
  END LOOP;

  IF cardinality(kept_ids) > 0 THEN
    -- Later ids rise above those that were made in this very moment, unless a clock was set back since.
    SELECT greatest(base, max(k.us) + 1) INTO base
    FROM (SELECT hivegate.us_of(id) AS us FROM unnest(kept_ids) id) k WHERE k.us < now_us + 1000000;
  END IF;

  -- A new snapshot: it shows everything that the partitions' last holders have committed.
  -- Payloads are picked from their array at the end, so that no step in between carries them along.
  WITH item AS (
    SELECT i.target, i.n, known.id AS known_id,
      dedups[i.target] > 0 AND i.tx IS NOT NULL AND item_firsts[i.n] <> i.n AS again
    FROM unnest(item_targets, item_txs) WITH ORDINALITY i(target, tx, n)
    LEFT JOIN LATERAL (
      SELECT f.id FROM (
        (SELECT m.id, m.created_at FROM hivegate.message m
         WHERE i.tx IS NOT NULL AND dedups[i.target] > 0 AND m.partition_id = part_ids[i.target]
           AND m.transaction_id = i.tx AND m.position >= heads[i.target]
         ORDER BY m.position DESC LIMIT 1)
        UNION ALL
        (SELECT g.message_id, g.created_at FROM hivegate.ghost g
         WHERE i.tx IS NOT NULL AND dedups[i.target] > 0 AND ghostly[i.target]
           AND g.partition_id = part_ids[i.target] AND g.transaction_id = i.tx AND g.expires_at > now_us)
        LIMIT 1
      ) f WHERE f.created_at > now_us - dedups[i.target]
    ) known ON true
  ), ranked AS (
    SELECT target, n, nexts[target] - 1 + row_number() OVER (PARTITION BY target ORDER BY n) AS position,
      n - 1 + greatest(base, least_stamps[target]) AS made_at
    FROM item WHERE known_id IS NULL AND NOT again
  ), fresh AS MATERIALIZED (
    -- Ids are made of the stamps, so that they rise in a partition, and in the order of the items.
    SELECT r.*, coalesce(kept_ids[n], hivegate.uuid_of(made_at, item_tails[n])) AS id FROM ranked r
  ), stored AS (
    INSERT INTO hivegate.message (partition_id, position, id, transaction_id, trace_id, producer_sub,
      created_at, encrypted, payload)
    SELECT part_ids[target], position, id, coalesce(item_txs[n], id), item_traces[n], item_subs[n], made_at,
      coalesce(kept_encrypted[n], encrypts[target] AND item_sealed[n] IS NOT NULL),
      CASE WHEN kept_ids[n] IS NULL AND encrypts[target] THEN coalesce(item_sealed[n], item_payloads[n])
        ELSE item_payloads[n] END
    FROM fresh
  ), grown AS MATERIALIZED (
    SELECT target, part_ids[target] AS part_id, count(*) AS more, min(made_at) AS first_at,
      max(made_at) AS last_at
    FROM fresh GROUP BY target
  ), moved AS (
    UPDATE hivegate.partition p SET next = p.next + grown.more, stamp = grown.last_at
    FROM grown WHERE p.id = grown.part_id
  ), ready AS (
    -- Groups that had nothing to deliver; nobody else can take them off the ready-list before we commit.
    UPDATE hivegate.cursor c SET ready_at = greatest(now_us,
      CASE WHEN delays[grown.target] > 0 THEN grown.first_at + delays[grown.target] END,
      CASE WHEN windows[grown.target] > 0 THEN grown.last_at + windows[grown.target] END)
    FROM grown WHERE c.partition_id = grown.part_id AND c.ready_at IS NULL
    RETURNING grown.target, c.ready_at
  ), totals AS (
    INSERT INTO hivegate.queue_total AS t (queue_id, slot, pushed, stored)
    SELECT queue_ids[target], hivegate.total_slot(), sum(more), sum(more)
    FROM grown GROUP BY 1, 2 ORDER BY 1
    ON CONFLICT (queue_id, slot)
    DO UPDATE SET pushed = t.pushed + excluded.pushed, stored = t.stored + excluded.stored
  ), woken AS (
    SELECT DISTINCT target_queues[target] AS queue, queue_ids[target] AS queue_id, ready_at FROM ready
  )
  SELECT
    (SELECT string_agg(CASE WHEN known_id IS NOT NULL THEN 'd' WHEN again THEN 'f' ELSE 'q' END, ''
      ORDER BY n) FROM item),
    (SELECT string_agg(u.id, ',' ORDER BY u.n) FROM (SELECT n, id FROM fresh
      UNION ALL SELECT n, coalesce(known_id, '') FROM item WHERE known_id IS NOT NULL OR again) u),
    (SELECT jsonb_agg(jsonb_build_object('queue', w.queue, 'namespace', q.namespace, 'task', q.task,
        'at', CASE WHEN w.ready_at > now_us THEN w.ready_at END))
      FROM woken w JOIN hivegate.queue q ON q.id = w.queue_id)
  INTO states, ids, wakes;
END $$;
