CREATE TABLE hivegate.stream_query (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uuid text COLLATE "C" NOT NULL UNIQUE,
  name text COLLATE "C" NOT NULL UNIQUE,
  source_queue text COLLATE "C" NOT NULL,
  sink_queue text COLLATE "C",
  config_hash text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);

-- State of one query on one source partition. Keys are opaque and compared byte by byte.
CREATE TABLE hivegate.stream_state (
  query_id bigint NOT NULL,
  partition_uuid text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  -- `windowEnd` of a value that is an object with such a number, in ms; else NULL.
  window_end double precision,
  updated_at bigint NOT NULL,
  PRIMARY KEY (query_id, partition_uuid, key)
);
CREATE INDEX stream_state_partition ON hivegate.stream_state (partition_uuid);
-- Windows that are ripe are few among many open ones.
CREATE INDEX stream_state_ripe ON hivegate.stream_state (query_id, partition_uuid, window_end)
  WHERE window_end IS NOT NULL;
