-- A database of schema version 1 with rows in every table. Made by tests; not to be edited.
CREATE TABLE schema_version (
  version INTEGER PRIMARY KEY,
  name    TEXT NOT NULL,
  at      INTEGER NOT NULL
) STRICT;
CREATE TABLE node (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE counters (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE challenges (
  nonce_hash BLOB PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE tokens (
  hash       BLOB PRIMARY KEY,
  entity_id  TEXT NOT NULL,
  key_seq    INTEGER NOT NULL,
  audience   TEXT NOT NULL,
  issued_at  INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE slots (
  entity_id  TEXT NOT NULL,
  id         TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (entity_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE call_counts (
  entity_id TEXT NOT NULL,
  minute    INTEGER NOT NULL,                       -- unix minutes
  refused   INTEGER NOT NULL DEFAULT 0,
  failed    INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (entity_id, minute)
) STRICT, WITHOUT ROWID;
CREATE TABLE denials (
  entity_id TEXT NOT NULL,
  minute    INTEGER NOT NULL,
  tool      TEXT NOT NULL,
  reason    TEXT NOT NULL,
  n         INTEGER NOT NULL,
  PRIMARY KEY (entity_id, minute, tool, reason)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE cursors (
  entity_id TEXT NOT NULL,
  stream    TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (entity_id, stream)
) STRICT, WITHOUT ROWID;
CREATE TABLE subscriptions (
  entity_id TEXT NOT NULL REFERENCES entities(id),
  type      TEXT NOT NULL,
  group_id  TEXT NOT NULL DEFAULT '',               -- '' = any
  PRIMARY KEY (entity_id, type, group_id)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE audit_details (
  seq    INTEGER PRIMARY KEY,
  salt   BLOB NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE TABLE idempotency (
  entity_id    TEXT NOT NULL,
  key          TEXT NOT NULL,
  tool         TEXT NOT NULL,
  request_hash BLOB NOT NULL,
  result       TEXT NOT NULL,
  at           INTEGER NOT NULL,
  PRIMARY KEY (entity_id, key)
) STRICT, WITHOUT ROWID;
INSERT INTO audit(seq, at, actor, via, action, target, decision, detail_hash, leaf_hash) VALUES (1, 1, 'audit ''actor'' ü 0', 'audit ''via'' ü 0', 'audit ''action'' ü 0', 'audit ''target'' ü 0', 'audit ''decision'' ü 0', X'00FF00', X'00FF00');
INSERT INTO audit(seq, at, actor, via, action, target, decision, detail_hash, leaf_hash) VALUES (2, 2, 'audit ''actor'' ü 1', 'audit ''via'' ü 1', 'audit ''action'' ü 1', 'audit ''target'' ü 1', 'audit ''decision'' ü 1', X'00FF01', X'00FF01');
INSERT INTO audit(seq, at, actor, via, action, target, decision, detail_hash, leaf_hash) VALUES (3, 3, 'audit ''actor'' ü 2', 'audit ''via'' ü 2', 'audit ''action'' ü 2', 'audit ''target'' ü 2', 'audit ''decision'' ü 2', X'00FF02', X'00FF02');
INSERT INTO audit_details(seq, salt, detail) VALUES (1, X'00FF00', 'audit_details ''detail'' ü 0');
INSERT INTO audit_details(seq, salt, detail) VALUES (2, X'00FF01', 'audit_details ''detail'' ü 1');
INSERT INTO audit_details(seq, salt, detail) VALUES (3, X'00FF02', 'audit_details ''detail'' ü 2');
INSERT INTO call_counts(entity_id, minute, refused, failed) VALUES ('call_counts ''entity_id'' ü 0', 1, 1, 1);
INSERT INTO call_counts(entity_id, minute, refused, failed) VALUES ('call_counts ''entity_id'' ü 1', 2, 2, 2);
INSERT INTO call_counts(entity_id, minute, refused, failed) VALUES ('call_counts ''entity_id'' ü 2', 3, 3, 3);
INSERT INTO challenges(nonce_hash, expires_at) VALUES (X'00FF00', 1);
INSERT INTO challenges(nonce_hash, expires_at) VALUES (X'00FF01', 2);
INSERT INTO challenges(nonce_hash, expires_at) VALUES (X'00FF02', 3);
INSERT INTO counters(name, value) VALUES ('counters ''name'' ü 0', 1);
INSERT INTO counters(name, value) VALUES ('counters ''name'' ü 1', 2);
INSERT INTO counters(name, value) VALUES ('counters ''name'' ü 2', 3);
INSERT INTO counters(name, value) VALUES ('epoch', 1);
INSERT INTO cursors(entity_id, stream, seq) VALUES ('cursors ''entity_id'' ü 0', 'cursors ''stream'' ü 0', 1);
INSERT INTO cursors(entity_id, stream, seq) VALUES ('cursors ''entity_id'' ü 1', 'cursors ''stream'' ü 1', 2);
INSERT INTO cursors(entity_id, stream, seq) VALUES ('cursors ''entity_id'' ü 2', 'cursors ''stream'' ü 2', 3);
INSERT INTO denials(entity_id, minute, tool, reason, n) VALUES ('denials ''entity_id'' ü 0', 1, 'denials ''tool'' ü 0', 'denials ''reason'' ü 0', 1);
INSERT INTO denials(entity_id, minute, tool, reason, n) VALUES ('denials ''entity_id'' ü 1', 2, 'denials ''tool'' ü 1', 'denials ''reason'' ü 1', 2);
INSERT INTO denials(entity_id, minute, tool, reason, n) VALUES ('denials ''entity_id'' ü 2', 3, 'denials ''tool'' ü 2', 'denials ''reason'' ü 2', 3);
INSERT INTO entities(id, kind, parent_id, root_id, depth, node_id, agent_type, name, display_name, public_key, enc_public_key, enc_binding, key_seq, sealed_key, capabilities, grants, status, status_by, status_reason, status_at, created_at, expires_at, grace_until, grace_boot, grace_mono, last_seen_at) VALUES ('entities ''id'' ü 0', 'human', 'entities ''id'' ü 0', 'entities ''root_id'' ü 0', 1, 'entities ''node_id'' ü 0', 'claude-code', 'entities ''name'' ü 0', 'entities ''display_name'' ü 0', X'00FF00', X'00FF00', X'00FF00', 1, X'00FF00', 'entities ''capabilities'' ü 0', 'entities ''grants'' ü 0', 'registered', 'entities ''status_by'' ü 0', 'entities ''status_reason'' ü 0', 1, 1, 1, 1, 'entities ''grace_boot'' ü 0', 1, 1);
INSERT INTO entities(id, kind, parent_id, root_id, depth, node_id, agent_type, name, display_name, public_key, enc_public_key, enc_binding, key_seq, sealed_key, capabilities, grants, status, status_by, status_reason, status_at, created_at, expires_at, grace_until, grace_boot, grace_mono, last_seen_at) VALUES ('entities ''id'' ü 1', 'agent', 'entities ''id'' ü 1', 'entities ''root_id'' ü 1', 2, 'entities ''node_id'' ü 1', 'swarm-worker', 'entities ''name'' ü 1', 'entities ''display_name'' ü 1', X'00FF01', X'00FF01', X'00FF01', 2, X'00FF01', 'entities ''capabilities'' ü 1', 'entities ''grants'' ü 1', 'active', 'entities ''status_by'' ü 1', 'entities ''status_reason'' ü 1', 2, 2, 2, 2, 'entities ''grace_boot'' ü 1', 2, 2);
INSERT INTO entities(id, kind, parent_id, root_id, depth, node_id, agent_type, name, display_name, public_key, enc_public_key, enc_binding, key_seq, sealed_key, capabilities, grants, status, status_by, status_reason, status_at, created_at, expires_at, grace_until, grace_boot, grace_mono, last_seen_at) VALUES ('entities ''id'' ü 2', 'human', 'entities ''id'' ü 2', 'entities ''root_id'' ü 2', 3, 'entities ''node_id'' ü 2', 'autonomous', 'entities ''name'' ü 2', 'entities ''display_name'' ü 2', X'00FF02', X'00FF02', X'00FF02', 3, X'00FF02', 'entities ''capabilities'' ü 2', 'entities ''grants'' ü 2', 'suspended', 'entities ''status_by'' ü 2', 'entities ''status_reason'' ü 2', 3, 3, 3, 3, 'entities ''grace_boot'' ü 2', 3, 3);
INSERT INTO entity_keys(entity_id, seq, public_key, enc_public_key, enc_binding, valid_from, valid_to, reason, record) VALUES ('entities ''id'' ü 0', 1, X'00FF00', X'00FF00', X'00FF00', 1, 1, 'entity_keys ''reason'' ü 0', X'00FF00');
INSERT INTO entity_keys(entity_id, seq, public_key, enc_public_key, enc_binding, valid_from, valid_to, reason, record) VALUES ('entities ''id'' ü 1', 2, X'00FF01', X'00FF01', X'00FF01', 2, 2, 'entity_keys ''reason'' ü 1', X'00FF01');
INSERT INTO entity_keys(entity_id, seq, public_key, enc_public_key, enc_binding, valid_from, valid_to, reason, record) VALUES ('entities ''id'' ü 2', 3, X'00FF02', X'00FF02', X'00FF02', 3, 3, 'entity_keys ''reason'' ü 2', X'00FF02');
INSERT INTO events(stream, seq, id, type, source, domain, payload, metadata, at) VALUES ('events ''stream'' ü 0', 1, 'events ''id'' ü 0', 'events ''type'' ü 0', 'events ''source'' ü 0', 'events ''domain'' ü 0', 'events ''payload'' ü 0', 'events ''metadata'' ü 0', 1);
INSERT INTO events(stream, seq, id, type, source, domain, payload, metadata, at) VALUES ('events ''stream'' ü 1', 2, 'events ''id'' ü 1', 'events ''type'' ü 1', 'events ''source'' ü 1', 'events ''domain'' ü 1', 'events ''payload'' ü 1', 'events ''metadata'' ü 1', 2);
INSERT INTO events(stream, seq, id, type, source, domain, payload, metadata, at) VALUES ('events ''stream'' ü 2', 3, 'events ''id'' ü 2', 'events ''type'' ü 2', 'events ''source'' ü 2', 'events ''domain'' ü 2', 'events ''payload'' ü 2', 'events ''metadata'' ü 2', 3);
INSERT INTO groups(id, kind, owner_id, description, culture, emcon, created_at, archived_at) VALUES ('groups ''id'' ü 0', 'normal', 'entities ''id'' ü 0', 'groups ''description'' ü 0', 'groups ''culture'' ü 0', 1, 1, 1);
INSERT INTO groups(id, kind, owner_id, description, culture, emcon, created_at, archived_at) VALUES ('groups ''id'' ü 1', 'swarm', 'entities ''id'' ü 1', 'groups ''description'' ü 1', 'groups ''culture'' ü 1', 2, 2, 2);
INSERT INTO groups(id, kind, owner_id, description, culture, emcon, created_at, archived_at) VALUES ('groups ''id'' ü 2', 'staging', 'entities ''id'' ü 2', 'groups ''description'' ü 2', 'groups ''culture'' ü 2', 3, 3, 3);
INSERT INTO idempotency(entity_id, key, tool, request_hash, result, at) VALUES ('idempotency ''entity_id'' ü 0', 'idempotency ''key'' ü 0', 'idempotency ''tool'' ü 0', X'00FF00', 'idempotency ''result'' ü 0', 1);
INSERT INTO idempotency(entity_id, key, tool, request_hash, result, at) VALUES ('idempotency ''entity_id'' ü 1', 'idempotency ''key'' ü 1', 'idempotency ''tool'' ü 1', X'00FF01', 'idempotency ''result'' ü 1', 2);
INSERT INTO idempotency(entity_id, key, tool, request_hash, result, at) VALUES ('idempotency ''entity_id'' ü 2', 'idempotency ''key'' ü 2', 'idempotency ''tool'' ü 2', X'00FF02', 'idempotency ''result'' ü 2', 3);
INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES ('groups ''id'' ü 0', 'entities ''id'' ü 0', 'owner', 'members ''added_by'' ü 0', 1);
INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES ('groups ''id'' ü 1', 'entities ''id'' ü 1', 'admin', 'members ''added_by'' ü 1', 2);
INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES ('groups ''id'' ü 2', 'entities ''id'' ü 2', 'member', 'members ''added_by'' ü 2', 3);
INSERT INTO node(name, value) VALUES ('node ''name'' ü 0', 'node ''value'' ü 0');
INSERT INTO node(name, value) VALUES ('node ''name'' ü 1', 'node ''value'' ü 1');
INSERT INTO node(name, value) VALUES ('node ''name'' ü 2', 'node ''value'' ü 2');
INSERT INTO schema_version(version, name, at) VALUES (1, 'foundation', 1);
INSERT INTO slots(entity_id, id, expires_at) VALUES ('slots ''entity_id'' ü 0', 'slots ''id'' ü 0', 1);
INSERT INTO slots(entity_id, id, expires_at) VALUES ('slots ''entity_id'' ü 1', 'slots ''id'' ü 1', 2);
INSERT INTO slots(entity_id, id, expires_at) VALUES ('slots ''entity_id'' ü 2', 'slots ''id'' ü 2', 3);
INSERT INTO streams(name, head) VALUES ('streams ''name'' ü 0', 1);
INSERT INTO streams(name, head) VALUES ('streams ''name'' ü 1', 2);
INSERT INTO streams(name, head) VALUES ('streams ''name'' ü 2', 3);
INSERT INTO subscriptions(entity_id, type, group_id) VALUES ('entities ''id'' ü 0', 'subscriptions ''type'' ü 0', 'subscriptions ''group_id'' ü 0');
INSERT INTO subscriptions(entity_id, type, group_id) VALUES ('entities ''id'' ü 1', 'subscriptions ''type'' ü 1', 'subscriptions ''group_id'' ü 1');
INSERT INTO subscriptions(entity_id, type, group_id) VALUES ('entities ''id'' ü 2', 'subscriptions ''type'' ü 2', 'subscriptions ''group_id'' ü 2');
INSERT INTO tokens(hash, entity_id, key_seq, audience, issued_at, expires_at) VALUES (X'00FF00', 'tokens ''entity_id'' ü 0', 1, 'tokens ''audience'' ü 0', 1, 1);
INSERT INTO tokens(hash, entity_id, key_seq, audience, issued_at, expires_at) VALUES (X'00FF01', 'tokens ''entity_id'' ü 1', 2, 'tokens ''audience'' ü 1', 2, 2);
INSERT INTO tokens(hash, entity_id, key_seq, audience, issued_at, expires_at) VALUES (X'00FF02', 'tokens ''entity_id'' ü 2', 3, 'tokens ''audience'' ü 2', 3, 3);
CREATE UNIQUE INDEX entities_name ON entities(coalesce(parent_id, ''), name) WHERE status <> 'removed';
CREATE INDEX entities_parent ON entities(parent_id);
CREATE INDEX entities_expiry ON entities(expires_at) WHERE expires_at > 0 AND status IN ('registered', 'active', 'suspended');
CREATE INDEX challenges_expiry ON challenges(expires_at);
CREATE INDEX tokens_entity ON tokens(entity_id);
CREATE INDEX denials_minute ON denials(minute);
CREATE INDEX members_entity ON members(entity_id);
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE INDEX idempotency_at ON idempotency(at);
