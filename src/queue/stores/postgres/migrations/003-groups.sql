-- Groups on queues: first contact, start positions, and the cursors made ahead of delivery.

-- The position just before the first message that a group is to see. Queue API 7.1.
CREATE FUNCTION hivegate.start_position(sub hivegate.subscription, part hivegate.partition) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF sub.mode IS NULL OR sub.mode = 'all' OR sub.start_at IS NULL
    OR (sub.mode = 'new' AND part.id > sub.born_after) THEN
    RETURN part.head - 1;
  END IF;
  RETURN hivegate.first_made_from(part, sub.start_at) - 1;
END $$;

-- Makes the cursors that a group lacks on its queue, at their start. The caller has the queue's gate for himself.
CREATE FUNCTION hivegate.make_cursors(sub_id bigint, now_us bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  passed bigint;
BEGIN
  WITH placed AS MATERIALIZED (
    SELECT p.id, p.next, hivegate.start_position(s, p) AS at,
      hivegate.stored_between(p, p.head - 1, hivegate.start_position(s, p)) AS behind
    FROM hivegate.subscription s JOIN hivegate.partition p ON p.queue_id = s.queue_id
    WHERE s.id = sub_id AND NOT EXISTS (SELECT FROM hivegate.cursor c
      WHERE c.partition_id = p.id AND c.subscription_id = s.id)
  ), made AS (
    INSERT INTO hivegate.cursor (partition_id, subscription_id, position, ready_at)
    SELECT id, sub_id, at, CASE WHEN at < next - 1 THEN now_us END FROM placed ORDER BY id
  )
  SELECT sum(behind) INTO passed FROM placed;
  IF passed > 0 THEN
    PERFORM hivegate.add_subscription_total(sub_id, passed, 0, 0, 0);
  END IF;
END $$;

-- Puts the cursors of a group that have delivered nothing yet to their start. The caller has the queue's gate
-- for himself.
CREATE FUNCTION hivegate.place_cursors(sub_id bigint, now_us bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  passed bigint;
BEGIN
  WITH placed AS MATERIALIZED (
    SELECT p.id, p.next, hivegate.start_position(s, p) AS at,
      hivegate.passed_by(p, c.position, hivegate.start_position(s, p)) AS behind
    FROM hivegate.subscription s JOIN hivegate.partition p ON p.queue_id = s.queue_id
      JOIN hivegate.cursor c ON c.partition_id = p.id AND c.subscription_id = s.id
    WHERE s.id = sub_id AND s.mode <> 'all' AND NOT c.started
    ORDER BY p.id FOR NO KEY UPDATE OF c
  ), moved AS (
    UPDATE hivegate.cursor c
    SET position = at, ready_at = CASE WHEN at < next - 1 THEN now_us END
    FROM placed WHERE c.partition_id = placed.id AND c.subscription_id = sub_id AND c.position <> at
  )
  SELECT sum(behind) INTO passed FROM placed;
  IF passed <> 0 THEN
    PERFORM hivegate.add_subscription_total(sub_id, passed, 0, 0, 0);
  END IF;
END $$;

-- A pop's first contact: registers the group on a queue, which may not exist yet. Does nothing for a group that
-- is registered. The caller has the queue's gate for himself. Queue API 7.1.
CREATE FUNCTION hivegate.contact(
  wanted_queue text, wanted_group text, wanted_mode text, from_us bigint, now_us bigint
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  sub hivegate.subscription;
  q hivegate.queue;
  start_us bigint := CASE wanted_mode WHEN 'timestamp' THEN from_us WHEN 'new' THEN now_us END;
  newest bigint;
  newest_stamp bigint;
BEGIN
  SELECT * INTO sub FROM hivegate.subscription
    WHERE queue_name = wanted_queue AND group_name = wanted_group;
  IF sub.mode IS NOT NULL THEN
    RETURN;
  END IF;
  SELECT * INTO q FROM hivegate.queue WHERE name = wanted_queue AND NOT deleted FOR NO KEY UPDATE;
  SELECT max(id), max(stamp) INTO newest, newest_stamp FROM hivegate.partition WHERE queue_id = q.id;
  IF wanted_mode = 'new' AND q.id IS NOT NULL THEN
    -- What is stored was stamped before the start, what comes is stamped at or after it.
    start_us := greatest(start_us, newest_stamp + 1, q.stamp_floor);
    UPDATE hivegate.queue SET stamp_floor = start_us WHERE id = q.id;
  END IF;
  INSERT INTO hivegate.subscription AS s
    (queue_name, queue_id, group_name, mode, start_at, registered_at, born_after)
  VALUES (wanted_queue, q.id, wanted_group, wanted_mode, start_us, now_us, coalesce(newest, 0))
  ON CONFLICT (queue_name, group_name) DO UPDATE SET mode = excluded.mode, start_at = excluded.start_at,
    registered_at = excluded.registered_at, born_after = excluded.born_after
  RETURNING * INTO sub;
  IF q.id IS NOT NULL THEN
    PERFORM hivegate.place_cursors(sub.id, now_us);
    PERFORM hivegate.make_cursors(sub.id, now_us);
  END IF;
END $$;

-- The cursor of a group on one partition, made without a registration if there is none: for an ack without a
-- lease, a seek, a manual dead letter. Locks it. Says which subscription it belongs to.
CREATE FUNCTION hivegate.ensure_cursor(part_id bigint, wanted_group text, now_us bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  sub_id bigint;
BEGIN
  INSERT INTO hivegate.subscription (queue_name, queue_id, group_name)
  SELECT q.name, q.id, wanted_group
  FROM hivegate.partition p JOIN hivegate.queue q ON q.id = p.queue_id WHERE p.id = part_id
  ON CONFLICT (queue_name, group_name) DO NOTHING;
  SELECT s.id INTO sub_id FROM hivegate.partition p
    JOIN hivegate.subscription s ON s.queue_id = p.queue_id AND s.group_name = wanted_group
    WHERE p.id = part_id;
  -- Ready without need at worst: a push at this moment does not see the new row.
  INSERT INTO hivegate.cursor (partition_id, subscription_id, position, ready_at)
  SELECT p.id, s.id, hivegate.start_position(s, p), now_us
  FROM hivegate.partition p, hivegate.subscription s WHERE p.id = part_id AND s.id = sub_id
  ON CONFLICT DO NOTHING;
  PERFORM FROM hivegate.cursor WHERE partition_id = part_id AND subscription_id = sub_id
    FOR NO KEY UPDATE;
  RETURN sub_id;
END $$;
