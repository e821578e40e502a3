-- The name pubsub_jwt_public_keys is fixed by the seed "Pub/sub Tokens", section Database. Times are ms since 1970.
-- Texts are compared byte by byte, so that lists come in the same order from every server.
CREATE TABLE hivegate.pubsub_jwt_public_keys (
  kid text COLLATE "C" PRIMARY KEY,
  jwk text NOT NULL, -- JSON
  created_at bigint NOT NULL,
  revoked_at bigint
);

CREATE TABLE hivegate.pubsub_herds (
  id text COLLATE "C" PRIMARY KEY,
  created_at bigint NOT NULL
);

CREATE TABLE hivegate.pubsub_devices (
  id text COLLATE "C" PRIMARY KEY,
  herd_id text COLLATE "C" NOT NULL REFERENCES hivegate.pubsub_herds ON DELETE CASCADE,
  name text NOT NULL,
  key_hash text NOT NULL,
  created_at bigint NOT NULL
);
-- For the cascade from a herd.
CREATE INDEX pubsub_devices_by_herd ON hivegate.pubsub_devices (herd_id);

CREATE TABLE hivegate.pubsub_abilities (
  user_id text COLLATE "C" NOT NULL,
  herd_id text COLLATE "C" NOT NULL REFERENCES hivegate.pubsub_herds ON DELETE CASCADE,
  ability text COLLATE "C" NOT NULL,
  PRIMARY KEY (user_id, herd_id, ability)
);
-- For the cascade from a herd.
CREATE INDEX pubsub_abilities_by_herd ON hivegate.pubsub_abilities (herd_id);

CREATE TABLE hivegate.pubsub_superadmins (
  user_id text COLLATE "C" PRIMARY KEY
);
