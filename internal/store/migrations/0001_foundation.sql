-- Who exists, what they may do, what happened. Times are UTC microseconds,
-- ids are made by the application, JSON is text, booleans are 0 or 1.

CREATE TABLE schema_version (
  version INTEGER PRIMARY KEY,
  name    TEXT NOT NULL,
  at      INTEGER NOT NULL
) STRICT;

-- One row per fact about the node itself: node_id, epoch and the like.
CREATE TABLE node (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- epoch moves with every change that could take a right away; a cached chain is
-- good only for the epoch it was read under.
CREATE TABLE counters (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters(name, value) VALUES ('epoch', 1);

CREATE TABLE entities (
  id             TEXT PRIMARY KEY,
  kind           TEXT NOT NULL CHECK (kind IN ('human', 'agent')),
  parent_id      TEXT REFERENCES entities(id),      -- NULL for humans
  root_id        TEXT NOT NULL,                     -- the human above
  depth          INTEGER NOT NULL,                  -- 0 for humans
  node_id        TEXT NOT NULL DEFAULT '',          -- '' = this node
  agent_type     TEXT CHECK (agent_type IN ('claude-code', 'swarm-worker', 'autonomous', 'custom')),
  name           TEXT NOT NULL,                     -- short, unique under its parent
  display_name   TEXT NOT NULL,
  public_key     BLOB NOT NULL,
  enc_public_key BLOB NOT NULL,
  enc_binding    BLOB NOT NULL,                     -- public_key's signature over enc_public_key
  key_seq        INTEGER NOT NULL DEFAULT 1,
  sealed_key     BLOB,                              -- for the parent to open
  capabilities   TEXT NOT NULL DEFAULT '{}',
  grants         TEXT NOT NULL DEFAULT '{}',
  status         TEXT NOT NULL CHECK (status IN ('registered', 'active', 'suspended', 'deactivated', 'removed')),
  status_by      TEXT NOT NULL,                     -- 'node' or the entity that moved it
  status_reason  TEXT NOT NULL DEFAULT '',
  status_at      INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  expires_at     INTEGER NOT NULL DEFAULT 0,        -- 0 = never; latched by status
  grace_until    INTEGER NOT NULL DEFAULT 0,        -- while deactivated
  grace_boot     TEXT NOT NULL DEFAULT '',          -- boot in which the grace period was first seen over
  grace_mono     INTEGER NOT NULL DEFAULT 0,        -- and when, in microseconds since that boot
  last_seen_at   INTEGER NOT NULL DEFAULT 0         -- last sign of life, at most a second old
) STRICT;
CREATE UNIQUE INDEX entities_name ON entities(coalesce(parent_id, ''), name) WHERE status <> 'removed';
CREATE INDEX entities_parent ON entities(parent_id);
CREATE INDEX entities_expiry ON entities(expires_at) WHERE expires_at > 0 AND status IN ('registered', 'active', 'suspended');

-- Every key an entity ever had; the highest seq is the current one.
CREATE TABLE entity_keys (
  entity_id      TEXT NOT NULL REFERENCES entities(id),
  seq            INTEGER NOT NULL,
  public_key     BLOB NOT NULL,
  enc_public_key BLOB NOT NULL,
  enc_binding    BLOB NOT NULL,
  valid_from     INTEGER NOT NULL,
  valid_to       INTEGER NOT NULL DEFAULT 0,
  reason         TEXT NOT NULL DEFAULT '',
  record         BLOB,                              -- the signed rotation record
  PRIMARY KEY (entity_id, seq)
) STRICT, WITHOUT ROWID;

-- Challenges that were answered, for a day; that of no nonce ends all before it.
CREATE TABLE challenges (
  nonce_hash BLOB PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX challenges_expiry ON challenges(expires_at);

CREATE TABLE tokens (
  hash       BLOB PRIMARY KEY,
  entity_id  TEXT NOT NULL,
  key_seq    INTEGER NOT NULL,
  audience   TEXT NOT NULL,
  issued_at  INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_entity ON tokens(entity_id);

-- Operations that wait, one row per entity of the waiter's chain: what short calls
-- count in their process counts here across processes.
CREATE TABLE slots (
  entity_id  TEXT NOT NULL,
  id         TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (entity_id, id)
) STRICT, WITHOUT ROWID;

-- Refused and failed calls per minute, flushed each second; the node suspends by them.
CREATE TABLE call_counts (
  entity_id TEXT NOT NULL,
  minute    INTEGER NOT NULL,                       -- unix minutes
  refused   INTEGER NOT NULL DEFAULT 0,
  failed    INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (entity_id, minute)
) STRICT, WITHOUT ROWID;

-- What was refused, to whom, and which ancestor's limit refused it; for a week.
CREATE TABLE denials (
  entity_id TEXT NOT NULL,
  minute    INTEGER NOT NULL,
  tool      TEXT NOT NULL,
  reason    TEXT NOT NULL,
  n         INTEGER NOT NULL,
  PRIMARY KEY (entity_id, minute, tool, reason)
) STRICT, WITHOUT ROWID;
CREATE INDEX denials_minute ON denials(minute);

CREATE TABLE groups (
  id          TEXT PRIMARY KEY,
  kind        TEXT NOT NULL CHECK (kind IN ('normal', 'swarm', 'staging', 'workspace', 'system')),
  owner_id    TEXT NOT NULL REFERENCES entities(id),
  description TEXT NOT NULL DEFAULT '',
  culture     TEXT NOT NULL DEFAULT '{}',
  emcon       INTEGER NOT NULL DEFAULT 0,           -- 1 = writes blocked
  created_at  INTEGER NOT NULL,
  archived_at INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE members (
  group_id  TEXT NOT NULL REFERENCES groups(id),
  entity_id TEXT NOT NULL REFERENCES entities(id),
  role      TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  added_by  TEXT NOT NULL,
  joined_at INTEGER NOT NULL,
  PRIMARY KEY (group_id, entity_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_entity ON members(entity_id);

-- One counter per stream: gap-free, and in commit order on every engine, which
-- an identity column is not.
CREATE TABLE streams (
  name TEXT PRIMARY KEY,
  head INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  stream   TEXT NOT NULL,
  seq      INTEGER NOT NULL,
  id       TEXT NOT NULL,
  type     TEXT NOT NULL,
  source   TEXT NOT NULL,
  domain   TEXT NOT NULL,
  payload  TEXT NOT NULL,
  metadata TEXT NOT NULL DEFAULT '{}',
  at       INTEGER NOT NULL,
  PRIMARY KEY (stream, seq)
) STRICT, WITHOUT ROWID;

-- How far an entity has acknowledged a stream.
CREATE TABLE cursors (
  entity_id TEXT NOT NULL,
  stream    TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (entity_id, stream)
) STRICT, WITHOUT ROWID;

-- What an entity wants to hear; no row = everything it may see.
CREATE TABLE subscriptions (
  entity_id TEXT NOT NULL REFERENCES entities(id),
  type      TEXT NOT NULL,
  group_id  TEXT NOT NULL DEFAULT '',               -- '' = any
  PRIMARY KEY (entity_id, type, group_id)
) STRICT, WITHOUT ROWID;

-- Tamper-evident record: the leaf is written with the change it tells of.
CREATE TABLE audit (
  seq         INTEGER PRIMARY KEY,                  -- 1, 2, 3 … without gaps
  at          INTEGER NOT NULL,
  actor       TEXT NOT NULL,
  via         TEXT NOT NULL,
  action      TEXT NOT NULL,
  target      TEXT NOT NULL,
  decision    TEXT NOT NULL,
  detail_hash BLOB NOT NULL,
  leaf_hash   BLOB NOT NULL
) STRICT;
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

-- Details apart from the leaf, so that one can be erased and the log still verifies.
CREATE TABLE audit_details (
  seq    INTEGER PRIMARY KEY,
  salt   BLOB NOT NULL,
  detail TEXT NOT NULL
) STRICT;

-- The recorded answer of a mutating call, for its repetition.
CREATE TABLE idempotency (
  entity_id    TEXT NOT NULL,
  key          TEXT NOT NULL,
  tool         TEXT NOT NULL,
  request_hash BLOB NOT NULL,
  result       TEXT NOT NULL,
  at           INTEGER NOT NULL,
  PRIMARY KEY (entity_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_at ON idempotency(at);
