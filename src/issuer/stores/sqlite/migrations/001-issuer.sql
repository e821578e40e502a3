-- The name pubsub_jwt_public_keys is fixed by the seed "Pub/sub Tokens", section Database.
CREATE TABLE pubsub_jwt_public_keys (
  kid TEXT PRIMARY KEY,
  jwk TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE pubsub_herds (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pubsub_devices (
  id TEXT PRIMARY KEY,
  herd_id TEXT NOT NULL,
  name TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pubsub_devices_by_herd ON pubsub_devices (herd_id);

CREATE TABLE pubsub_abilities (
  user_id TEXT NOT NULL,
  herd_id TEXT NOT NULL,
  ability TEXT NOT NULL,
  PRIMARY KEY (user_id, herd_id, ability)
) STRICT, WITHOUT ROWID;
CREATE INDEX pubsub_abilities_by_herd ON pubsub_abilities (herd_id);

CREATE TABLE pubsub_superadmins (
  user_id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
