-- Pushes on their way into the store or, during push maintenance, into the buffer. Queue API 13.1.

-- Stores what belongs into the buffer there; `diverted` says which targets do. Ids rise in the order of arrival,
-- over all brokers: the one row of buffer_stamp is locked until the commit.
CREATE FUNCTION hivegate.buffer_items(
  now_us bigint, target_queues text[], target_partitions text[], target_namespaces text[], target_tasks text[],
  diverted boolean[], item_targets integer[], item_txs text[], item_traces text[], item_subs text[],
  item_tails text[], item_payloads text[], item_sealed text[], OUT numbers bigint[], OUT ids text[]
) LANGUAGE plpgsql AS $$
DECLARE
  base bigint;
BEGIN
  SELECT greatest(now_us, b.stamp + 1) INTO base FROM hivegate.buffer_stamp b FOR NO KEY UPDATE;
  -- Ids rise above those that the partitions hold already, too.
  SELECT greatest(base, max(p.stamp) + 1) INTO base
  FROM unnest(target_queues, target_partitions, diverted) t(queue, partition, diverted)
    JOIN hivegate.queue q ON q.name = t.queue AND NOT q.deleted
    JOIN hivegate.partition p ON p.queue_id = q.id AND p.name = t.partition
  WHERE t.diverted AND p.stamp < now_us + 1000000;
  UPDATE hivegate.buffer_stamp SET stamp = base + cardinality(item_targets);
  WITH entry AS MATERIALIZED (
    SELECT i.*, hivegate.uuid_of(base + i.n - 1, item_tails[i.n]) AS id, coalesce(q.encrypted, false) AS encrypts
    FROM unnest(item_targets, item_txs, item_traces, item_subs, item_payloads, item_sealed)
      WITH ORDINALITY i(target, tx, trace, sub, payload, sealed, n)
    LEFT JOIN hivegate.queue q ON q.name = target_queues[i.target] AND NOT q.deleted
    WHERE diverted[i.target]
  ), stored AS (
    INSERT INTO hivegate.buffered_push (queue, partition, namespace, task, message_id, transaction_id, trace_id,
      producer_sub, encrypted, payload, buffered_at)
    SELECT target_queues[target], target_partitions[target], target_namespaces[target], target_tasks[target],
      id, coalesce(tx, id), trace, sub, encrypts AND sealed IS NOT NULL,
      CASE WHEN encrypts AND sealed IS NOT NULL THEN sealed ELSE payload END, now_us
    FROM entry ORDER BY n
  )
  SELECT array_agg(n ORDER BY n), array_agg(id ORDER BY n) INTO numbers, ids FROM entry;
END $$;

-- As push_batch, with b(uffered) as a fourth letter. While the buffer drains only the partitions that still wait
-- in it are diverted, so that nothing overtakes.
CREATE FUNCTION hivegate.divert_or_push(
  now_us bigint,
  target_queues text[], target_partitions text[], target_namespaces text[], target_tasks text[],
  default_options text, item_targets integer[], item_firsts integer[],
  item_txs text[], item_traces text[], item_subs text[], item_tails text[], item_payloads text[],
  item_sealed text[], kept_ids text[], kept_encrypted boolean[],
  OUT states text, OUT ids text, OUT partitions text, OUT wakes jsonb, OUT made jsonb
) LANGUAGE plpgsql AS $$
DECLARE
  diverting boolean;
  waiting boolean;
  diverted boolean[];
  buffered record;
  direct record;
  pushed record;
BEGIN
  PERFORM hivegate.enter_buffer_gate(false);
  SELECT EXISTS (SELECT FROM hivegate.flag f WHERE f.name = 'pushMaintenance' AND f.value),
    EXISTS (SELECT FROM hivegate.buffered_push b WHERE NOT b.failed) INTO diverting, waiting;
  IF NOT diverting AND NOT waiting THEN
    SELECT p.* INTO states, ids, partitions, wakes, made FROM hivegate.push_batch(now_us, target_queues,
      target_partitions, target_namespaces, target_tasks, default_options, item_targets, item_firsts,
      item_txs, item_traces, item_subs, item_tails, item_payloads, item_sealed, kept_ids, kept_encrypted) p;
    RETURN;
  END IF;
  SELECT array_agg(diverting OR EXISTS (SELECT FROM hivegate.buffered_push b
      WHERE b.queue = t.queue AND b.partition = t.partition AND NOT b.failed) ORDER BY t.n)
    INTO diverted FROM unnest(target_queues, target_partitions) WITH ORDINALITY t(queue, partition, n);
  SELECT * INTO buffered FROM hivegate.buffer_items(now_us, target_queues, target_partitions,
    target_namespaces, target_tasks, diverted, item_targets, item_txs, item_traces, item_subs, item_tails,
    item_payloads, item_sealed);
  IF false = ANY (diverted) THEN
    WITH target AS (
      SELECT n, row_number() OVER (ORDER BY n) AS at FROM generate_subscripts(diverted, 1) n
      WHERE NOT diverted[n]
    ), item AS (
      SELECT i.*, row_number() OVER (ORDER BY i.n) AS at
      FROM unnest(item_targets, item_firsts, item_txs, item_traces, item_subs, item_payloads, item_sealed)
        WITH ORDINALITY i(target, first, tx, trace, sub, payload, sealed, n)
      WHERE NOT diverted[i.target]
    )
    SELECT t.*, i.* INTO direct FROM
      (SELECT array_agg(target_queues[n] ORDER BY n) AS queues, array_agg(target_partitions[n] ORDER BY n) AS names,
        array_agg(target_namespaces[n] ORDER BY n) AS namespaces, array_agg(target_tasks[n] ORDER BY n) AS tasks
        FROM target) t,
      (SELECT array_agg(target.at::integer ORDER BY i.n) AS targets, array_agg(f.at::integer ORDER BY i.n) AS firsts,
        array_agg(i.tx ORDER BY i.n) AS txs, array_agg(i.trace ORDER BY i.n) AS traces,
        array_agg(i.sub ORDER BY i.n) AS subs, array_agg(item_tails[i.n] ORDER BY i.n) AS tails,
        array_agg(i.payload ORDER BY i.n) AS payloads,
        array_agg(i.sealed ORDER BY i.n) AS sealed
        FROM item i JOIN target ON target.n = i.target JOIN item f ON f.n = i.first) i;
    SELECT p.* INTO pushed FROM hivegate.push_batch(now_us, direct.queues, direct.names, direct.namespaces,
      direct.tasks, default_options, direct.targets, direct.firsts, direct.txs, direct.traces, direct.subs,
      direct.tails, direct.payloads, direct.sealed, '{}', '{}') p;
    wakes := pushed.wakes;
    made := pushed.made;
    SELECT string_agg(CASE WHEN diverted[n] THEN '' ELSE u.uuid END, ',' ORDER BY n) INTO partitions
    FROM generate_subscripts(diverted, 1) n
      LEFT JOIN (SELECT n, row_number() OVER (ORDER BY n) AS at FROM generate_subscripts(diverted, 1) n
        WHERE NOT diverted[n]) d USING (n)
      LEFT JOIN string_to_table(pushed.partitions, ',') WITH ORDINALITY u(uuid, at) ON u.at = d.at;
    SELECT string_agg(coalesce(s.state, 'b'), '' ORDER BY i.n), string_agg(coalesce(b.id, s.id), ',' ORDER BY i.n)
    INTO states, ids
    FROM unnest(item_targets) WITH ORDINALITY i(target, n)
      LEFT JOIN unnest(buffered.numbers, buffered.ids) b(n, id) ON b.n = i.n
      LEFT JOIN (SELECT i.n, row_number() OVER (ORDER BY i.n) AS at
        FROM unnest(item_targets) WITH ORDINALITY i(target, n) WHERE NOT diverted[i.target]) d ON d.n = i.n
      LEFT JOIN ROWS FROM (string_to_table(pushed.states, NULL), string_to_table(pushed.ids, ','))
        WITH ORDINALITY s(state, id, at) ON s.at = d.at;
  ELSE
    states := repeat('b', cardinality(item_targets));
    ids := array_to_string(buffered.ids, ',');
  END IF;
END $$;
