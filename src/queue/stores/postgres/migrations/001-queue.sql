-- Times are microseconds since 1970. Ids are never used again: rows that wait for their removal still point at
-- them. Text is compared byte by byte (COLLATE "C"): names have no language, and the order of ids counts.
-- Low fillfactors leave room for the next version of a row beside it, so that an update that touches no indexed
-- column needs no new index entry (HOT).

CREATE TABLE hivegate.queue (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uuid text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  task text COLLATE "C" NOT NULL,
  -- Every option by its name in the API (QueueOptions).
  options jsonb NOT NULL,
  created_at bigint NOT NULL,
  -- True: gone for every request, its rows are being taken away in small steps.
  deleted boolean NOT NULL DEFAULT false,
  -- Until then some removed message still counts in the duplicate check (table ghost).
  ghosts_until bigint NOT NULL DEFAULT 0,
  -- Messages stored from now on are stamped at or after this: the start of a group that takes only new ones.
  stamp_floor bigint NOT NULL DEFAULT 0,
  -- What the hot functions need of the options.
  priority integer NOT NULL GENERATED ALWAYS AS ((options ->> 'priority')::integer) STORED,
  -- 60 s when the option is not above 0.
  lease_us bigint NOT NULL GENERATED ALWAYS AS
    (CASE WHEN (options ->> 'leaseTime')::bigint > 0 THEN (options ->> 'leaseTime')::bigint
     ELSE 60 END * 1000000) STORED,
  retry_limit integer NOT NULL GENERATED ALWAYS AS ((options ->> 'retryLimit')::integer) STORED,
  -- True when exhausted messages go to the dead letters, false when they are dropped.
  dead_letters boolean NOT NULL GENERATED ALWAYS AS
    ((options ->> 'deadLetterQueue')::boolean OR (options ->> 'dlqAfterMaxRetries')::boolean) STORED,
  delay_us bigint NOT NULL GENERATED ALWAYS AS
    (greatest((options ->> 'delayedProcessing')::bigint, 0) * 1000000) STORED,
  window_us bigint NOT NULL GENERATED ALWAYS AS
    (greatest((options ->> 'windowBuffer')::bigint, 0) * 1000000) STORED,
  dedup_us bigint NOT NULL GENERATED ALWAYS AS
    (greatest((options ->> 'dedupWindowSeconds')::bigint, 0) * 1000000) STORED,
  encrypted boolean NOT NULL GENERATED ALWAYS AS ((options ->> 'encryptionEnabled')::boolean) STORED
);
CREATE UNIQUE INDEX queue_live_name ON hivegate.queue (name) WHERE NOT deleted;
-- Pops by namespace and task.
CREATE INDEX queue_namespace ON hivegate.queue (namespace, task) WHERE NOT deleted;
CREATE INDEX queue_task ON hivegate.queue (task) WHERE NOT deleted;
-- Work of the purge job.
CREATE INDEX queue_deleted ON hivegate.queue (id) WHERE deleted;

-- Running totals, so that listings never scan. Each backend adds to one of 16 rows, so that brokers do not wait
-- for each other's commits; hivegate.queue_sums adds them up.
CREATE TABLE hivegate.queue_total (
  queue_id bigint NOT NULL,
  slot smallint NOT NULL,
  partitions bigint NOT NULL DEFAULT 0,
  pushed bigint NOT NULL DEFAULT 0,
  stored bigint NOT NULL DEFAULT 0,
  dead bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (queue_id, slot)
) WITH (fillfactor = 25);

CREATE VIEW hivegate.queue_sums AS
  SELECT queue_id, sum(partitions)::bigint AS partitions, sum(pushed)::bigint AS pushed,
    sum(stored)::bigint AS stored, sum(dead)::bigint AS dead
  FROM hivegate.queue_total GROUP BY queue_id;

CREATE TABLE hivegate.partition (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uuid text COLLATE "C" NOT NULL UNIQUE,
  queue_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  -- Positions below are gone, whether or not their rows are still there.
  head bigint NOT NULL DEFAULT 1,
  -- Positions at or above `head` whose message was removed.
  holes bigint NOT NULL DEFAULT 0,
  -- Position of the next message, and `created_at` of the newest one ever: both only rise.
  next bigint NOT NULL DEFAULT 1,
  stamp bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02);
CREATE UNIQUE INDEX partition_name ON hivegate.partition (queue_id, name);
-- Listings and work in steps, in the order of making.
CREATE INDEX partition_order ON hivegate.partition (queue_id, id);

CREATE TABLE hivegate.message (
  partition_id bigint NOT NULL,
  position bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  trace_id text COLLATE "C",
  producer_sub text COLLATE "C",
  created_at bigint NOT NULL,
  encrypted boolean NOT NULL,
  payload text COLLATE "C" NOT NULL,
  PRIMARY KEY (partition_id, position)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
-- Duplicate check and acks, which want the positions in order. Not unique: an id may come again after the
-- duplicate window.
CREATE INDEX message_transaction ON hivegate.message (partition_id, transaction_id, position);

-- Transaction ids of messages that retention removed inside their duplicate window.
CREATE TABLE hivegate.ghost (
  partition_id bigint NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (partition_id, transaction_id)
);
CREATE INDEX ghost_expiry ON hivegate.ghost (expires_at);

-- One group on one queue, by the queue's name: a group may come before the queue.
CREATE TABLE hivegate.subscription (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue_name text COLLATE "C" NOT NULL,
  queue_id bigint,
  group_name text COLLATE "C" NOT NULL,
  -- NULL until the first pop: an ack or a seek came first. Once set, every partition has a cursor of the group.
  mode text COLLATE "C" CHECK (mode IN ('all', 'new', 'timestamp')),
  start_at bigint,
  registered_at bigint,
  -- Partitions with a higher id are younger than the subscription.
  born_after bigint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX subscription_name ON hivegate.subscription (queue_name, group_name);
CREATE INDEX subscription_queue ON hivegate.subscription (queue_id, group_name);
CREATE INDEX subscription_group ON hivegate.subscription (group_name);

-- As queue_total; `passed`: stored messages at or below the group's cursors; stored - passed = lag.
CREATE TABLE hivegate.subscription_total (
  subscription_id bigint NOT NULL,
  slot smallint NOT NULL,
  passed bigint NOT NULL DEFAULT 0,
  members bigint NOT NULL DEFAULT 0,
  consumed bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (subscription_id, slot)
) WITH (fillfactor = 25);

CREATE VIEW hivegate.subscription_sums AS
  SELECT subscription_id, sum(passed)::bigint AS passed, sum(members)::bigint AS members,
    sum(consumed)::bigint AS consumed, sum(failed)::bigint AS failed
  FROM hivegate.subscription_total GROUP BY subscription_id;

CREATE TABLE hivegate.cursor (
  partition_id bigint NOT NULL,
  subscription_id bigint NOT NULL,
  -- Everything at or below has been consumed.
  position bigint NOT NULL,
  -- False: made ahead of the first delivery, not yet "a cursor" in the words of the API.
  started boolean NOT NULL DEFAULT false,
  lease_id text COLLATE "C",
  lease_until bigint,
  lease_end bigint,
  lease_left bigint NOT NULL DEFAULT 0,
  retry_count integer NOT NULL DEFAULT 0,
  -- NULL: nothing to deliver. Else the time from which a pop may try this partition. Who writes NULL holds the
  -- partition's row lock, or the queue's gate for himself.
  ready_at bigint,
  consumed bigint NOT NULL DEFAULT 0,
  batches bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  consumed_at bigint,
  PRIMARY KEY (partition_id, subscription_id)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02);
-- The ready-list: a queue-wide pop takes its first entries.
CREATE INDEX cursor_ready ON hivegate.cursor (subscription_id, ready_at, partition_id)
  WHERE ready_at IS NOT NULL;
-- Extension of a lease, which names nothing but its id.
CREATE INDEX cursor_lease ON hivegate.cursor (lease_id) WHERE lease_id IS NOT NULL;

CREATE TABLE hivegate.dead_letter (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uuid text COLLATE "C" NOT NULL UNIQUE,
  queue_id bigint NOT NULL,
  partition_id bigint NOT NULL,
  partition_uuid text COLLATE "C" NOT NULL,
  partition_name text COLLATE "C" NOT NULL,
  group_name text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  trace_id text COLLATE "C",
  producer_sub text COLLATE "C",
  encrypted boolean NOT NULL,
  payload text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  failed_at bigint NOT NULL,
  error text COLLATE "C",
  retry_count integer NOT NULL
);
CREATE INDEX dead_letter_queue ON hivegate.dead_letter (queue_id, failed_at);
CREATE INDEX dead_letter_time ON hivegate.dead_letter (failed_at);
CREATE INDEX dead_letter_address ON hivegate.dead_letter (partition_uuid, transaction_id);

-- Work of the purge job: cleared partitions, and subscriptions whose cursors are left over.
CREATE TABLE hivegate.cleared_partition (partition_id bigint PRIMARY KEY);
CREATE TABLE hivegate.dropped_subscription (
  subscription_id bigint PRIMARY KEY,
  queue_id bigint NOT NULL,
  done_to bigint NOT NULL DEFAULT 0
);

CREATE TABLE hivegate.flag (name text COLLATE "C" PRIMARY KEY, value boolean NOT NULL);

-- Rounds of the background jobs: one at a time for each job and one per interval, over all processes. `seen_at`:
-- the last sign of life of a round at work; a process that died leaves `running` behind.
CREATE TABLE hivegate.job_run (
  job text COLLATE "C" PRIMARY KEY,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  running boolean NOT NULL
) WITH (fillfactor = 50);
