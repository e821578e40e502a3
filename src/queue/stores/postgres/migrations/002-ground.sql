-- What all functions of the queue share: ids, gates, totals, counting.
-- The functions of the hot paths are planned once, with index scans and nested loops alone (their SET clauses):
-- tables that were small when a connection first used them must not be read from end to end later.

-- A UUIDv7 (RFC 9562): 48 bits of milliseconds, 12 bits of microseconds, 62 bits of chance.
CREATE FUNCTION hivegate.uuid_at(us bigint) RETURNS text LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT substr(lpad(to_hex(us / 1000), 12, '0'), 1, 8) || '-' || substr(lpad(to_hex(us / 1000), 12, '0'), 9)
    || '-7' || lpad(to_hex(us % 1000), 3, '0') || substr(gen_random_uuid()::text, 19)
$$;

-- The moment that `uuid_at` has put into an id.
CREATE FUNCTION hivegate.us_of(id text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ('x' || substr(id, 1, 8) || substr(id, 10, 4))::bit(48)::bigint * 1000
    + ('x' || substr(id, 16, 3))::bit(12)::integer
$$;

-- The same with the bits of chance given, as 16 hexadecimal digits: making them here costs more than all the rest.
CREATE FUNCTION hivegate.uuid_of(us bigint, chance text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex((us / 1000) << 16 | 28672 | us % 1000), 16, '0') || chance)::uuid::text
$$;

-- Gates: advisory locks of the transaction, one of 64 for each queue name, taken before any row lock and in
-- order. Pushes and pops go through together; who changes what they rely on (a group's first contact, options,
-- deletion) has the gate for himself and so meets nobody half-way.
CREATE FUNCTION hivegate.enter_gates(shared text[], alone text[] DEFAULT '{}') RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  gate record;
BEGIN
  IF cardinality(shared) = 1 AND cardinality(alone) = 0 THEN
    PERFORM pg_advisory_xact_lock_shared(6632002, hashtext(shared[1]) & 63);
    RETURN;
  END IF;
  FOR gate IN
    SELECT hashtext(n.name) & 63 AS key, bool_or(n.alone) AS alone
    FROM (SELECT unnest(shared), false UNION ALL SELECT unnest(enter_gates.alone), true) n(name, alone)
    GROUP BY 1 ORDER BY 1
  LOOP
    IF gate.alone THEN
      PERFORM pg_advisory_xact_lock(6632002, gate.key);
    ELSE
      PERFORM pg_advisory_xact_lock_shared(6632002, gate.key);
    END IF;
  END LOOP;
END $$;

-- The gate of push maintenance comes before those of the queues. Pushes share it; who sets the switch or drains
-- the buffer has it for himself, so that no push is diverted into a buffer that is believed to be empty.
CREATE FUNCTION hivegate.enter_buffer_gate(alone boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF alone THEN
    PERFORM pg_advisory_xact_lock(6632003, 0);
  ELSE
    PERFORM pg_advisory_xact_lock_shared(6632003, 0);
  END IF;
END $$;

-- Which row of a running total this backend adds to.
CREATE FUNCTION hivegate.total_slot() RETURNS smallint LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT (pg_backend_pid() % 16)::smallint
$$;

CREATE FUNCTION hivegate.add_queue_total(
  queue_id bigint, partitions bigint, pushed bigint, stored bigint, dead bigint
) RETURNS void LANGUAGE sql AS $$
  INSERT INTO hivegate.queue_total AS t (queue_id, slot, partitions, pushed, stored, dead)
  VALUES ($1, hivegate.total_slot(), $2, $3, $4, $5)
  ON CONFLICT ON CONSTRAINT queue_total_pkey DO UPDATE SET partitions = t.partitions + excluded.partitions,
    pushed = t.pushed + excluded.pushed, stored = t.stored + excluded.stored, dead = t.dead + excluded.dead
$$;

CREATE FUNCTION hivegate.add_subscription_total(
  subscription_id bigint, passed bigint, members bigint, consumed bigint, failed bigint
) RETURNS void LANGUAGE sql AS $$
  INSERT INTO hivegate.subscription_total AS t (subscription_id, slot, passed, members, consumed, failed)
  VALUES ($1, hivegate.total_slot(), $2, $3, $4, $5)
  ON CONFLICT ON CONSTRAINT subscription_total_pkey DO UPDATE SET passed = t.passed + excluded.passed,
    members = t.members + excluded.members, consumed = t.consumed + excluded.consumed,
    failed = t.failed + excluded.failed
$$;

-- Stored messages of a partition above `after`, up to and with `up_to`: arithmetic unless some were removed.
CREATE FUNCTION hivegate.stored_between(part hivegate.partition, after bigint, up_to bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  low bigint := greatest(after, part.head - 1);
  high bigint := least(up_to, part.next - 1);
BEGIN
  IF high <= low THEN
    RETURN 0;
  END IF;
  IF part.holes = 0 THEN
    RETURN high - low;
  END IF;
  RETURN (SELECT count(*) FROM hivegate.message m
    WHERE m.partition_id = part.id AND m.position > low AND m.position <= high);
END $$;

-- The same with a sign: what a cursor that moves from one position to another adds to `passed`.
CREATE FUNCTION hivegate.passed_by(part hivegate.partition, low bigint, high bigint) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN low <= high THEN hivegate.stored_between(part, low, high)
    ELSE -hivegate.stored_between(part, high, low) END
$$;

-- Position of the first message made at or after a moment, or `next` when there is none. Times rise inside a
-- partition, so that halving the range finds it without an index on time.
CREATE FUNCTION hivegate.first_made_from(part hivegate.partition, us bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  low bigint := part.head;
  high bigint := part.next;
  middle bigint;
  found_at bigint;
  made_at bigint;
BEGIN
  IF part.stamp < us THEN
    RETURN part.next;
  END IF;
  WHILE low < high LOOP
    middle := (low + high) / 2;
    SELECT m.position, m.created_at INTO found_at, made_at FROM hivegate.message m
      WHERE m.partition_id = part.id AND m.position >= middle ORDER BY m.position LIMIT 1;
    IF found_at IS NULL OR made_at >= us THEN
      high := middle;
    ELSE
      low := found_at + 1;
    END IF;
  END LOOP;
  RETURN low;
END $$;
