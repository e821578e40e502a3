-- A table by row number: in one that is ordered by its key, the payloads stand in the inner pages too, so that a search
-- reads a page for every few messages, and the messages of many partitions written together touch a page each.
CREATE TABLE message_by_row (
  partition_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  transaction_id TEXT NOT NULL,
  trace_id TEXT,
  producer_sub TEXT,
  created_at INTEGER NOT NULL,
  encrypted INTEGER NOT NULL,
  payload TEXT NOT NULL
) STRICT;
INSERT INTO message_by_row SELECT partition_id, position, id, transaction_id, trace_id, producer_sub, created_at,
  encrypted, payload FROM message ORDER BY partition_id, position;
DROP TABLE message;
ALTER TABLE message_by_row RENAME TO message;
CREATE UNIQUE INDEX message_position ON message (partition_id, position);
-- Duplicate check and acks. Not unique: an id may come again after the duplicate window.
CREATE INDEX message_transaction ON message (partition_id, transaction_id);
