-- Times are microseconds since 1970. Ids are never used again (AUTOINCREMENT): rows that wait for their
-- removal still point at them.

CREATE TABLE queue (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  namespace TEXT NOT NULL,
  task TEXT NOT NULL,
  priority INTEGER NOT NULL,
  options TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- 1: gone for every request, its rows are being taken away in small steps.
  deleted INTEGER NOT NULL DEFAULT 0,
  -- Running totals, so that listings never scan.
  partitions INTEGER NOT NULL DEFAULT 0,
  pushed INTEGER NOT NULL DEFAULT 0,
  stored INTEGER NOT NULL DEFAULT 0,
  dead INTEGER NOT NULL DEFAULT 0,
  -- Until then some removed message still counts in the duplicate check (table ghost).
  ghosts_until INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX queue_live_name ON queue (name) WHERE deleted = 0;
CREATE INDEX queue_namespace ON queue (namespace, task) WHERE deleted = 0;
CREATE INDEX queue_task ON queue (task) WHERE deleted = 0;
CREATE INDEX queue_deleted ON queue (id) WHERE deleted = 1;

CREATE TABLE partition (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  queue_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- Positions below are gone, whether or not their rows are still there.
  head INTEGER NOT NULL DEFAULT 1,
  -- Positions at or above `head` whose message was removed.
  holes INTEGER NOT NULL DEFAULT 0,
  -- What the newest message says while there is one, kept when the newest message is removed:
  -- positions, times and ids must go on rising.
  next_floor INTEGER NOT NULL DEFAULT 1,
  stamp_floor INTEGER NOT NULL DEFAULT 0,
  id_floor TEXT
) STRICT;
CREATE UNIQUE INDEX partition_name ON partition (queue_id, name);
CREATE INDEX partition_order ON partition (queue_id, id);

CREATE TABLE message (
  partition_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  transaction_id TEXT NOT NULL,
  trace_id TEXT,
  producer_sub TEXT,
  created_at INTEGER NOT NULL,
  encrypted INTEGER NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (partition_id, position)
) STRICT, WITHOUT ROWID;
-- Duplicate check and acks. Not unique: an id may come again after the duplicate window.
CREATE INDEX message_transaction ON message (partition_id, transaction_id);

-- Transaction ids of messages that retention removed inside their duplicate window.
CREATE TABLE ghost (
  partition_id INTEGER NOT NULL,
  transaction_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (partition_id, transaction_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ghost_expiry ON ghost (expires_at);

-- One group on one queue, by the queue's name: a group may come before the queue.
CREATE TABLE subscription (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  queue_name TEXT NOT NULL,
  queue_id INTEGER,
  group_name TEXT NOT NULL,
  -- NULL until the first pop: an ack or a seek came first.
  mode TEXT,
  start_at INTEGER,
  registered_at INTEGER,
  -- Partitions with a higher id are younger than the subscription.
  born_after INTEGER NOT NULL DEFAULT 0,
  -- Cursors exist for all partitions up to this id; `swept_all` = 1: for every one.
  swept_to INTEGER NOT NULL DEFAULT 0,
  swept_all INTEGER NOT NULL DEFAULT 0,
  -- Stored messages at or below the group's cursors; stored - passed = lag.
  passed INTEGER NOT NULL DEFAULT 0,
  members INTEGER NOT NULL DEFAULT 0,
  consumed INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX subscription_name ON subscription (queue_name, group_name);
CREATE INDEX subscription_queue ON subscription (queue_id);
CREATE INDEX subscription_group ON subscription (group_name);

CREATE TABLE cursor (
  partition_id INTEGER NOT NULL,
  subscription_id INTEGER NOT NULL,
  -- Everything at or below has been consumed.
  position INTEGER NOT NULL,
  -- 0: made ahead of the first delivery, not yet "a cursor" in the words of the API.
  started INTEGER NOT NULL DEFAULT 0,
  lease_id TEXT,
  lease_until INTEGER,
  lease_end INTEGER,
  lease_left INTEGER NOT NULL DEFAULT 0,
  retry_count INTEGER NOT NULL DEFAULT 0,
  -- NULL: nothing to deliver. Else the time from which a pop may try this partition.
  ready_at INTEGER,
  consumed INTEGER NOT NULL DEFAULT 0,
  batches INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  consumed_at INTEGER,
  PRIMARY KEY (partition_id, subscription_id)
) STRICT, WITHOUT ROWID;
-- The ready-list: a queue-wide pop takes its first entry.
CREATE INDEX cursor_ready ON cursor (subscription_id, ready_at, partition_id)
  WHERE ready_at IS NOT NULL;
CREATE INDEX cursor_lease ON cursor (lease_id) WHERE lease_id IS NOT NULL;

CREATE TABLE dead_letter (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  queue_id INTEGER NOT NULL,
  partition_id INTEGER NOT NULL,
  partition_uuid TEXT NOT NULL,
  partition_name TEXT NOT NULL,
  group_name TEXT NOT NULL,
  message_id TEXT NOT NULL,
  transaction_id TEXT NOT NULL,
  trace_id TEXT,
  producer_sub TEXT,
  encrypted INTEGER NOT NULL,
  payload TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  failed_at INTEGER NOT NULL,
  error TEXT,
  retry_count INTEGER NOT NULL
) STRICT;
CREATE INDEX dead_letter_queue ON dead_letter (queue_id, failed_at);
CREATE INDEX dead_letter_time ON dead_letter (failed_at);
CREATE INDEX dead_letter_address ON dead_letter (partition_uuid, transaction_id);

-- Work of the purge job: cleared partitions, and subscriptions whose cursors are left over.
CREATE TABLE cleared_partition (partition_id INTEGER PRIMARY KEY) STRICT;
CREATE TABLE dropped_subscription (
  subscription_id INTEGER PRIMARY KEY,
  queue_id INTEGER NOT NULL,
  done_to INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE flag (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
