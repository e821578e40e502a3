-- The operator's side. Times are microseconds since 1970 unless the name says ms.

-- One event in the life of a message. Ids are UUIDv7, so that their order is the order of time.
CREATE TABLE trace (
  id TEXT PRIMARY KEY,
  partition_id INTEGER NOT NULL,
  transaction_id TEXT NOT NULL,
  group_name TEXT NOT NULL,
  event_type TEXT NOT NULL,
  worker_id TEXT,
  data TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_message ON trace (partition_id, transaction_id, id);

CREATE TABLE trace_tag (
  name TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  PRIMARY KEY (name, trace_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_tag_trace ON trace_tag (trace_id);

-- Running totals, so that the list of names never scans; `trace_name_message` counts messages once.
CREATE TABLE trace_name (
  name TEXT PRIMARY KEY,
  traces INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  last_seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_name_seen ON trace_name (last_seen);
CREATE TABLE trace_name_message (
  name TEXT NOT NULL,
  partition_id INTEGER NOT NULL,
  transaction_id TEXT NOT NULL,
  traces INTEGER NOT NULL,
  PRIMARY KEY (name, partition_id, transaction_id)
) STRICT, WITHOUT ROWID;

-- Partitions that are gone and may still have traces and stream state: work of the history job.
CREATE TABLE gone_partition (partition_id INTEGER PRIMARY KEY, uuid TEXT NOT NULL) STRICT;
CREATE TRIGGER partition_gone AFTER DELETE ON partition
BEGIN
  INSERT OR IGNORE INTO gone_partition VALUES (OLD.id, OLD.uuid);
END;

-- Pushes diverted by push maintenance, in arrival order; `failed` = 1: cannot be replayed, kept to look at.
CREATE TABLE buffered_push (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL,
  partition TEXT NOT NULL,
  namespace TEXT,
  task TEXT,
  message_id TEXT NOT NULL,
  transaction_id TEXT NOT NULL,
  trace_id TEXT,
  producer_sub TEXT,
  encrypted INTEGER NOT NULL,
  payload TEXT NOT NULL,
  buffered_at INTEGER NOT NULL,
  failed INTEGER NOT NULL DEFAULT 0
) STRICT;
-- "Does this partition still have buffered pushes?" is asked by every push while the buffer drains.
CREATE INDEX buffered_push_partition ON buffered_push (queue, partition) WHERE failed = 0;
CREATE INDEX buffered_push_failed ON buffered_push (seq) WHERE failed = 1;

CREATE TABLE metric_process (
  id INTEGER PRIMARY KEY,
  hostname TEXT NOT NULL,
  worker_id TEXT NOT NULL,
  port INTEGER NOT NULL,
  UNIQUE (hostname, worker_id, port)
) STRICT;

-- One row for each queue, process and interval. The columns are those of src/queue/metrics/columns.ts.
CREATE TABLE metric_queue (
  at_ms INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  queue TEXT NOT NULL,
  push_requests REAL NOT NULL,
  push_messages REAL NOT NULL,
  pop_requests REAL NOT NULL,
  pop_messages REAL NOT NULL,
  pop_empty REAL NOT NULL,
  ack_requests REAL NOT NULL,
  ack_success REAL NOT NULL,
  ack_failed REAL NOT NULL,
  dlq_messages REAL NOT NULL,
  transactions REAL NOT NULL,
  duplicates REAL NOT NULL,
  leases_expired REAL NOT NULL,
  store_errors REAL NOT NULL,
  partitions_created REAL NOT NULL,
  partitions_deleted REAL NOT NULL,
  lag_count REAL NOT NULL,
  lag_sum_ms REAL NOT NULL,
  lag_max_ms REAL NOT NULL,
  parked REAL NOT NULL,
  retention_msgs REAL NOT NULL,
  completed_retention_msgs REAL NOT NULL,
  eviction_msgs REAL NOT NULL,
  retention_events REAL NOT NULL,
  PRIMARY KEY (at_ms, process_id, queue)
) STRICT, WITHOUT ROWID;

-- Samples of one process in one interval: each gauge as sum, min, max and last, in one JSON object.
CREATE TABLE metric_sample (
  at_ms INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  gauges TEXT NOT NULL,
  PRIMARY KEY (at_ms, process_id)
) STRICT, WITHOUT ROWID;

-- Sums over all time, of the columns that add up.
CREATE TABLE metric_total (name TEXT PRIMARY KEY, value REAL NOT NULL) STRICT, WITHOUT ROWID;
