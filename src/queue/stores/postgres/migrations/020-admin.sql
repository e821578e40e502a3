-- What the work of operators and background jobs needs besides the tables.

-- A round of a job runs on one process at a time, and no more often than its interval. `seen_at`: the last sign
-- of life of the round at work; a process that died leaves `running` behind.
ALTER TABLE hivegate.job_run
  ADD COLUMN seen_at bigint NOT NULL DEFAULT 0,
  ADD COLUMN running boolean NOT NULL DEFAULT false;
ALTER TABLE hivegate.job_run SET (fillfactor = 50);

-- Stored messages above `after`, up to and with `up_to`: arithmetic unless some were removed in between.
CREATE FUNCTION hivegate.stored_between(
  of_partition bigint, head bigint, next bigint, holes bigint, after bigint, up_to bigint
) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN least(up_to, next - 1) <= greatest(after, head - 1) THEN 0
    WHEN holes = 0 THEN least(up_to, next - 1) - greatest(after, head - 1)
    ELSE (SELECT count(*) FROM hivegate.message m WHERE m.partition_id = of_partition
      AND m.position > greatest(after, head - 1) AND m.position <= least(up_to, next - 1))
  END
$$;

-- Position of the first message made at or after a moment, or `next` when there is none. Times rise inside a
-- partition, so that halving the range finds it without an index on time.
CREATE FUNCTION hivegate.first_made_from(
  of_partition bigint, head bigint, next bigint, stamp bigint, moment bigint
) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  low bigint := head;
  high bigint := next;
  middle bigint;
  found record;
BEGIN
  IF stamp < moment THEN
    RETURN next;
  END IF;
  WHILE low < high LOOP
    middle := (low + high) / 2;
    SELECT m.position, m.created_at INTO found FROM hivegate.message m
      WHERE m.partition_id = of_partition AND m.position >= middle ORDER BY m.position LIMIT 1;
    IF NOT FOUND OR found.created_at >= moment THEN
      high := middle;
    ELSE
      low := found.position + 1;
    END IF;
  END LOOP;
  RETURN low;
END $$;
