-- The operator's side. Times are microseconds since 1970 unless the name says ms.

-- One event in the life of a message. Ids are UUIDv7, so that their order is the order of time.
CREATE TABLE hivegate.trace (
  id text COLLATE "C" PRIMARY KEY,
  partition_id bigint NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  group_name text COLLATE "C" NOT NULL,
  event_type text COLLATE "C" NOT NULL,
  worker_id text COLLATE "C",
  data text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX trace_message ON hivegate.trace (partition_id, transaction_id, id);

CREATE TABLE hivegate.trace_tag (
  name text COLLATE "C" NOT NULL,
  trace_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (name, trace_id)
);
CREATE INDEX trace_tag_trace ON hivegate.trace_tag (trace_id);

-- Running totals, so that the list of names never scans; each backend adds to one of 16 rows, as in queue_total.
CREATE TABLE hivegate.trace_name (
  name text COLLATE "C" NOT NULL,
  slot smallint NOT NULL,
  traces bigint NOT NULL,
  messages bigint NOT NULL,
  last_seen bigint NOT NULL,
  PRIMARY KEY (name, slot)
);
-- The names seen last, in the order of the list.
CREATE INDEX trace_name_seen ON hivegate.trace_name (last_seen DESC, name);
-- Counts messages once.
CREATE TABLE hivegate.trace_name_message (
  name text COLLATE "C" NOT NULL,
  partition_id bigint NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  traces bigint NOT NULL,
  PRIMARY KEY (name, partition_id, transaction_id)
);

-- Partitions that are gone and may still have traces and stream state: work of the history job.
CREATE TABLE hivegate.gone_partition (
  partition_id bigint PRIMARY KEY,
  uuid text COLLATE "C" NOT NULL
);
CREATE FUNCTION hivegate.note_gone_partition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO hivegate.gone_partition VALUES (OLD.id, OLD.uuid) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER partition_gone AFTER DELETE ON hivegate.partition
  FOR EACH ROW EXECUTE FUNCTION hivegate.note_gone_partition();

-- Pushes diverted by push maintenance, in arrival order; `failed`: cannot be replayed, kept to look at.
CREATE TABLE hivegate.buffered_push (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue text COLLATE "C" NOT NULL,
  partition text COLLATE "C" NOT NULL,
  namespace text COLLATE "C",
  task text COLLATE "C",
  message_id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  trace_id text COLLATE "C",
  producer_sub text COLLATE "C",
  encrypted boolean NOT NULL,
  payload text COLLATE "C" NOT NULL,
  buffered_at bigint NOT NULL,
  failed boolean NOT NULL DEFAULT false
);
-- "Does this partition still have buffered pushes?" is asked by every push while the buffer drains.
CREATE INDEX buffered_push_partition ON hivegate.buffered_push (queue, partition) WHERE NOT failed;
-- "Is anything buffered at all?" is asked by every push.
CREATE INDEX buffered_push_waiting ON hivegate.buffered_push (seq) WHERE NOT failed;
CREATE INDEX buffered_push_failed ON hivegate.buffered_push (seq) WHERE failed;

-- One row, locked by every diverted push: so `seq` rises in the order of the commits, and ids with it.
CREATE TABLE hivegate.buffer_stamp (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  stamp bigint NOT NULL
);
INSERT INTO hivegate.buffer_stamp (stamp) VALUES (0);

CREATE TABLE hivegate.metric_process (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hostname text COLLATE "C" NOT NULL,
  worker_id text COLLATE "C" NOT NULL,
  port integer NOT NULL,
  UNIQUE (hostname, worker_id, port)
);

-- One row for each queue, process and interval. The columns are those of src/queue/metrics/columns.ts.
CREATE TABLE hivegate.metric_queue (
  at_ms bigint NOT NULL,
  process_id bigint NOT NULL,
  queue text COLLATE "C" NOT NULL,
  push_requests double precision NOT NULL,
  push_messages double precision NOT NULL,
  pop_requests double precision NOT NULL,
  pop_messages double precision NOT NULL,
  pop_empty double precision NOT NULL,
  ack_requests double precision NOT NULL,
  ack_success double precision NOT NULL,
  ack_failed double precision NOT NULL,
  dlq_messages double precision NOT NULL,
  transactions double precision NOT NULL,
  duplicates double precision NOT NULL,
  leases_expired double precision NOT NULL,
  store_errors double precision NOT NULL,
  partitions_created double precision NOT NULL,
  partitions_deleted double precision NOT NULL,
  lag_count double precision NOT NULL,
  lag_sum_ms double precision NOT NULL,
  lag_max_ms double precision NOT NULL,
  parked double precision NOT NULL,
  retention_msgs double precision NOT NULL,
  completed_retention_msgs double precision NOT NULL,
  eviction_msgs double precision NOT NULL,
  retention_events double precision NOT NULL,
  PRIMARY KEY (at_ms, process_id, queue)
);

-- Samples of one process in one interval: each gauge as sum, min, max and last, in one JSON object.
CREATE TABLE hivegate.metric_sample (
  at_ms bigint NOT NULL,
  process_id bigint NOT NULL,
  samples bigint NOT NULL,
  gauges text COLLATE "C" NOT NULL,
  PRIMARY KEY (at_ms, process_id)
);

-- Sums over all time, of the columns that add up.
CREATE TABLE hivegate.metric_total (
  name text COLLATE "C" PRIMARY KEY,
  value double precision NOT NULL
) WITH (fillfactor = 50);
