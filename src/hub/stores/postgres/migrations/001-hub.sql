-- Accepted updates, oldest first: seq is the place in the hub-wide order.
CREATE TABLE hivegate.hub_update (
  seq bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL,
  private boolean NOT NULL,
  topics text NOT NULL, -- JSON array, canonical topic first
  data bytea NOT NULL, -- UTF-8; text cannot hold NUL
  type text,
  retry text, -- digits; up to 2^64-1
  accepted_at timestamptz NOT NULL
);

-- Finds the place of a cursor; ids may repeat, the first one counts. The hash because an id may be longer than an
-- index entry; equal hashes are told apart by the id itself, within the newest ten thousand updates.
CREATE INDEX hub_update_by_id ON hivegate.hub_update (hashtextextended(id, 0), seq);

-- One row. Whoever appends holds its lock until the commit, so updates become visible in the order of seq and
-- without gaps, whichever broker they come from. It changes with every batch: never indexed beyond its key, and
-- with room in the page, so that changes are HOT.
CREATE TABLE hivegate.hub_head (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  seq bigint NOT NULL, -- of the newest update ever accepted
  id text, -- its id
  oldest bigint NOT NULL, -- the history begins here
  kept bigint NOT NULL -- rows below are gone; from here to oldest they wait until every broker has heard them
) WITH (fillfactor = 50);
INSERT INTO hivegate.hub_head (seq, oldest, kept) VALUES (0, 1, 1);

-- Appends a batch and answers the position before its first update. keep > 0 brings the history to that size.
-- What falls out of the history is deleted a minute after it was accepted, at most 10,000 rows at a time: until
-- then a broker that lags behind can still hear it.
CREATE FUNCTION hivegate.hub_append(
  ids text[], privates boolean[], topic_lists text[], datas bytea[], types text[], retries text[], keep bigint
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  added int := cardinality(ids);
  head hivegate.hub_head;
  gone bigint;
BEGIN
  UPDATE hivegate.hub_head SET seq = seq + added, id = ids[added] RETURNING * INTO STRICT head;
  INSERT INTO hivegate.hub_update (seq, id, private, topics, data, type, retry, accepted_at)
  SELECT head.seq - added + u.at, u.id, u.private, u.topics, u.data, u.type, u.retry, clock_timestamp()
  FROM unnest(ids, privates, topic_lists, datas, types, retries)
       WITH ORDINALITY AS u (id, private, topics, data, type, retry, at);
  IF keep > 0 AND head.seq - keep + 1 > head.oldest THEN
    head.oldest := head.seq - keep + 1;
    WITH deleted AS (
      DELETE FROM hivegate.hub_update AS old
      WHERE old.seq >= head.kept AND old.seq < least(head.oldest, head.kept + 10000)
        AND old.accepted_at < clock_timestamp() - interval '1 minute'
      RETURNING old.seq)
    SELECT max(deleted.seq) + 1 INTO gone FROM deleted;
    UPDATE hivegate.hub_head SET oldest = head.oldest, kept = coalesce(gone, head.kept);
  END IF;
  RETURN head.seq - added;
END $$;
