CREATE TABLE stream_query (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  source_queue TEXT NOT NULL,
  sink_queue TEXT,
  config_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- State of one query on one source partition. Keys are opaque and compared byte by byte.
CREATE TABLE stream_state (
  query_id INTEGER NOT NULL,
  partition_uuid TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  -- `windowEnd` of a value that is an object with such a number, in ms; else NULL.
  window_end REAL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (query_id, partition_uuid, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX stream_state_partition ON stream_state (partition_uuid);
-- Windows that are ripe are few among many open ones.
CREATE INDEX stream_state_ripe ON stream_state (query_id, partition_uuid, window_end)
  WHERE window_end IS NOT NULL;
