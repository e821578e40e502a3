-- Accepted updates, oldest first: seq is the place in the hub-wide order. The newest row is never
-- deleted, so seq grows without gaps and is never used twice.
CREATE TABLE hub_update (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  private INTEGER NOT NULL,
  topics TEXT NOT NULL, -- JSON array, canonical topic first
  data BLOB NOT NULL, -- UTF-8; as TEXT, reading would stop at a NUL
  type TEXT,
  retry TEXT -- digits; up to 2^64-1
) STRICT;

-- Finds the place of a cursor; ids may repeat, the first one counts.
CREATE INDEX hub_update_by_id ON hub_update (id, seq);
