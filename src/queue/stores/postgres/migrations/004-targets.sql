-- Queues and partitions that a push makes on first use.

-- Makes what is missing of the given (queue, partition) pairs; the caller shares the gates of the queues.
-- Answers the queues and partitions made: [{queue, namespace, task, fresh, partitions}], or NULL for none.
-- Locks: the right to make queues, then queue rows by id; so two makers of one partition take turns.
CREATE FUNCTION hivegate.make_targets(
  now_us bigint, queue_names text[], partition_names text[], namespaces text[], tasks text[],
  default_options text
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  fresh_ids bigint[] := '{}';
  report jsonb;
BEGIN
  IF EXISTS (SELECT FROM unnest(queue_names) n(name) WHERE NOT EXISTS
    (SELECT FROM hivegate.queue q WHERE q.name = n.name AND NOT q.deleted)) THEN
    PERFORM pg_advisory_xact_lock(6632004, 0);
    WITH wanted AS (
      SELECT DISTINCT ON (t.name) t.name, t.namespace, t.task, t.n
      FROM unnest(queue_names, namespaces, tasks) WITH ORDINALITY t(name, namespace, task, n)
      ORDER BY t.name, t.n
    ), made AS (
      INSERT INTO hivegate.queue (uuid, name, namespace, task, options, created_at)
      SELECT hivegate.uuid_at(now_us), name, namespace, task, default_options::jsonb, now_us
      FROM wanted ORDER BY n
      ON CONFLICT (name) WHERE NOT deleted DO NOTHING
      RETURNING id, name
    ), adopted AS (
      -- Groups that came before the queue are waiting by its name.
      UPDATE hivegate.subscription s SET queue_id = made.id FROM made WHERE s.queue_name = made.name
    )
    SELECT coalesce(array_agg(id), '{}') INTO fresh_ids FROM made;
  END IF;
  PERFORM FROM hivegate.queue WHERE name = ANY (queue_names) AND NOT deleted ORDER BY id FOR NO KEY UPDATE;
  WITH made AS (
    INSERT INTO hivegate.partition (uuid, queue_id, name, created_at)
    SELECT hivegate.uuid_at(now_us), q.id, t.partition, now_us
    FROM unnest(queue_names, partition_names) WITH ORDINALITY t(queue, partition, n)
      JOIN hivegate.queue q ON q.name = t.queue AND NOT q.deleted
    ORDER BY t.n
    ON CONFLICT (queue_id, name) DO NOTHING
    RETURNING id, queue_id
  ), welcomed AS (
    INSERT INTO hivegate.cursor (partition_id, subscription_id, position)
    SELECT made.id, s.id, 0
    FROM made JOIN hivegate.subscription s ON s.queue_id = made.queue_id AND s.mode IS NOT NULL
    ORDER BY made.id, s.id
  ), counted AS (
    SELECT queue_id, count(*) AS more FROM made GROUP BY queue_id
  ), totals AS (
    INSERT INTO hivegate.queue_total AS t (queue_id, slot, partitions)
    SELECT queue_id, hivegate.total_slot(), more FROM counted ORDER BY queue_id
    ON CONFLICT (queue_id, slot) DO UPDATE SET partitions = t.partitions + excluded.partitions
  )
  SELECT jsonb_agg(jsonb_build_object('queue', q.name, 'namespace', q.namespace, 'task', q.task,
    'fresh', q.id = ANY (fresh_ids), 'partitions', coalesce(counted.more, 0)))
  INTO report
  FROM hivegate.queue q LEFT JOIN counted ON counted.queue_id = q.id
  WHERE q.name = ANY (queue_names) AND NOT q.deleted AND (counted.queue_id IS NOT NULL OR q.id = ANY (fresh_ids));
  RETURN report;
END $$;

-- For a transaction that acks before it pushes: takes the locks of the pushes first, as far as their partitions
-- exist, so that the order of locks holds. Those that the push makes nobody else can hold.
CREATE FUNCTION hivegate.lock_targets(queue_names text[], partition_names text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM hivegate.enter_gates(queue_names);
  PERFORM FROM hivegate.partition p
    WHERE p.id IN (SELECT l.id FROM unnest(queue_names, partition_names) t(queue, partition)
      JOIN hivegate.queue q ON q.name = t.queue AND NOT q.deleted
      JOIN hivegate.partition l ON l.queue_id = q.id AND l.name = t.partition)
    ORDER BY p.id FOR NO KEY UPDATE;
END $$;
