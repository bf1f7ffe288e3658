-- A database of schema version 35 with rows in every table. Made by tests; not to be edited.
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
  expires_at INTEGER NOT NULL, keeps INTEGER NOT NULL DEFAULT 0, process TEXT NOT NULL DEFAULT '',
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
, swarm_id TEXT NOT NULL DEFAULT '') STRICT;
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
, removed INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
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
CREATE TABLE l1 (
  entity_id     TEXT PRIMARY KEY REFERENCES entities(id),
  doc           TEXT NOT NULL,                      -- the entity's part of the context, canonical JSON
  doc_hash      BLOB NOT NULL,                      -- SHA-256 of doc as it was last written
  updated_at    INTEGER NOT NULL,                   -- rises with every write
  session_count INTEGER NOT NULL DEFAULT 0,         -- sessions ended
  session_id    TEXT NOT NULL DEFAULT '',           -- the client's name for the open session
  session_start INTEGER NOT NULL DEFAULT 0,         -- of the open session, 0 = none is open
  session_end   INTEGER NOT NULL DEFAULT 0,         -- of the last session, 0 = none yet
  chain_hash    BLOB NOT NULL,                      -- as of the last session end; genesis before the first
  previous_hash BLOB NOT NULL,
  content_hash  BLOB NOT NULL,                      -- what chain_hash covers; zeros before the first end
  archived_at   INTEGER NOT NULL DEFAULT 0          -- while deactivated
) STRICT;
CREATE TABLE scopes (
  n          INTEGER PRIMARY KEY,
  visibility TEXT NOT NULL CHECK (visibility IN ('private', 'group', 'public')),
  ref        TEXT NOT NULL,                         -- owner, group, or '' for public
  items      INTEGER NOT NULL DEFAULT 0,            -- how many are searchable
  UNIQUE (visibility, ref)
) STRICT;
CREATE TABLE items (
  n             INTEGER PRIMARY KEY,
  id            TEXT NOT NULL UNIQUE,
  type          TEXT NOT NULL CHECK (type IN ('entity', 'session', 'learning')),
  owner         TEXT NOT NULL REFERENCES entities(id),
  author        TEXT NOT NULL,                      -- whose words they are
  visibility    TEXT NOT NULL CHECK (visibility IN ('private', 'group', 'public')),
  group_id      TEXT NOT NULL DEFAULT '',
  scope         INTEGER NOT NULL REFERENCES scopes(n),
  origin        TEXT NOT NULL DEFAULT '',           -- of a copy: the first item of its line
  parent        TEXT NOT NULL DEFAULT '',           -- of a copy: the item it was made from
  stale         TEXT NOT NULL DEFAULT '' CHECK (stale IN ('', 'corrected', 'refuted', 'deleted')),
  version       INTEGER NOT NULL,
  name          TEXT NOT NULL,
  tags          TEXT NOT NULL DEFAULT '[]',
  subject       TEXT NOT NULL DEFAULT '',
  key           TEXT NOT NULL DEFAULT '',
  supersedes    TEXT NOT NULL DEFAULT '',
  superseded_by TEXT NOT NULL DEFAULT '',
  valid_from    INTEGER NOT NULL DEFAULT 0,         -- 0 = always was
  valid_to      INTEGER NOT NULL DEFAULT 0,         -- 0 = still is
  confidence    INTEGER NOT NULL CHECK (confidence BETWEEN 0 AND 1000),
  validated     INTEGER NOT NULL DEFAULT 0,
  quarantined   INTEGER NOT NULL DEFAULT 0,         -- 1 = by decision, whatever the confidence
  expires_at    INTEGER NOT NULL DEFAULT 0,         -- by its own ttl; a group's is applied on reading
  source        TEXT NOT NULL CHECK (source IN ('user', 'agent', 'tool', 'external', 'archive')),
  thread        TEXT NOT NULL DEFAULT '',           -- the session it belongs to, for neighbours
  content_hash  BLOB NOT NULL,
  tokens        INTEGER NOT NULL,
  current       INTEGER NOT NULL DEFAULT 1,         -- 0 = superseded or deleted
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  deleted_at    INTEGER NOT NULL DEFAULT 0,
  deleted_by    TEXT NOT NULL DEFAULT '',
  said_by       TEXT NOT NULL DEFAULT '',           -- stems of the speaker the text names
  told_at       INTEGER NOT NULL DEFAULT 0,         -- the date the text bears, 0 = none
  shapes        INTEGER NOT NULL DEFAULT 0,         -- the kinds of questions it could answer, as bits
  -- The long columns are last: what is before them is read without them.
  terms         TEXT NOT NULL,                      -- stems in order, as indexed
  provenance    TEXT NOT NULL,
  data          TEXT NOT NULL                       -- '' once purged
) STRICT;
CREATE TABLE item_versions (
  item         INTEGER NOT NULL REFERENCES items(n),
  version      INTEGER NOT NULL,
  data         TEXT NOT NULL,
  subject      TEXT NOT NULL,
  key          TEXT NOT NULL,
  valid_from   INTEGER NOT NULL,
  valid_to     INTEGER NOT NULL,
  confidence   INTEGER NOT NULL,
  validated    INTEGER NOT NULL,
  provenance   TEXT NOT NULL,
  content_hash BLOB NOT NULL,
  at           INTEGER NOT NULL,
  PRIMARY KEY (item, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE item_links (
  item  INTEGER NOT NULL REFERENCES items(n),
  kind  TEXT NOT NULL CHECK (kind IN ('derived_from', 'duplicate_of', 'refines', 'conflicts_with')),
  other TEXT NOT NULL,
  PRIMARY KEY (item, kind, other)
) STRICT, WITHOUT ROWID;
CREATE TABLE item_bands (
  scope INTEGER NOT NULL,
  band  INTEGER NOT NULL,
  item  INTEGER NOT NULL REFERENCES items(n),
  PRIMARY KEY (scope, band, item)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE items_fts USING fts5(entries, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');
CREATE TABLE embedding_models (
  n       INTEGER PRIMARY KEY,
  name    TEXT NOT NULL UNIQUE,                     -- with what else makes its vectors different
  dim     INTEGER NOT NULL DEFAULT 0,               -- numbers in a vector, 0 before the first
  private INTEGER NOT NULL,                         -- 1 = it is sent private items too
  queued  INTEGER NOT NULL DEFAULT 0,               -- items up to this n were put into the queue
  chosen  INTEGER NOT NULL                          -- rises with every choice
) STRICT;
CREATE TABLE embedding_queue (
  item     INTEGER PRIMARY KEY REFERENCES items(n),
  claim    TEXT NOT NULL DEFAULT '',
  due_at   INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE embeddings (
  item         INTEGER PRIMARY KEY REFERENCES items(n),
  model        INTEGER NOT NULL REFERENCES embedding_models(n),
  scope        INTEGER NOT NULL REFERENCES scopes(n),
  seq          INTEGER NOT NULL,
  content_hash BLOB NOT NULL,                       -- of the text it is of
  at           INTEGER NOT NULL,
  bits         BLOB NOT NULL,                       -- the signs, 64 to a little-endian word
  vector       BLOB NOT NULL                        -- unit length, little-endian float32
) STRICT;
CREATE TABLE assessments (
  seq          INTEGER PRIMARY KEY,                 -- 1, 2, 3 … without gaps
  observer     TEXT NOT NULL,                       -- whose book
  agent        TEXT NOT NULL,                       -- about whom
  source       TEXT NOT NULL CHECK (source IN ('prior', 'user', 'owner', 'temporal', 'relayed', 'cross_reference', 'peer')),
  verdict      TEXT NOT NULL CHECK (verdict IN ('', 'right', 'wrong')),
  item         TEXT NOT NULL,                       -- the first of its line; '' for a prior
  version      INTEGER NOT NULL,
  content_hash BLOB NOT NULL,
  assessor     TEXT NOT NULL,
  witness      TEXT NOT NULL,                       -- on whose reliability it rests
  basis        TEXT NOT NULL,                       -- the other item of a cross-reference
  alpha        INTEGER NOT NULL CHECK (alpha >= 0),
  beta         INTEGER NOT NULL CHECK (beta >= 0),
  at           INTEGER NOT NULL
) STRICT;
CREATE TABLE assessments_counted (
  observer TEXT NOT NULL,
  agent    TEXT NOT NULL,
  item     TEXT NOT NULL,
  witness  TEXT NOT NULL,
  seq      INTEGER NOT NULL REFERENCES assessments(seq), moves_tier INTEGER NOT NULL DEFAULT 0, own INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (observer, agent, item, witness)
) STRICT, WITHOUT ROWID;
CREATE TABLE trust_scores (
  agent        TEXT NOT NULL,
  observer     TEXT NOT NULL,
  alpha        INTEGER NOT NULL,
  beta         INTEGER NOT NULL,
  steps        TEXT NOT NULL,                       -- [[at, alpha, beta], …]
  observations INTEGER NOT NULL,
  rights       INTEGER NOT NULL,
  confirmed    INTEGER NOT NULL,
  window_start INTEGER NOT NULL,
  window_end   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL, tier_alpha INTEGER NOT NULL DEFAULT 0, tier_beta INTEGER NOT NULL DEFAULT 0, tier_steps TEXT NOT NULL DEFAULT '[]', tier TEXT NOT NULL DEFAULT ''          -- in force; '' = not derived yet
  CHECK (tier IN ('', 'untrusted', 'low', 'medium', 'high')), by_person INTEGER NOT NULL DEFAULT 0, own_alpha INTEGER NOT NULL DEFAULT 0, own_beta INTEGER NOT NULL DEFAULT 0, ranks_alpha INTEGER NOT NULL DEFAULT 0, ranks_beta INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (agent, observer)
) STRICT, WITHOUT ROWID;
CREATE TABLE capability_feedback (
  seq        INTEGER PRIMARY KEY,                   -- 1, 2, 3 … without gaps
  agent      TEXT NOT NULL,
  capability TEXT NOT NULL,
  success    INTEGER NOT NULL,                      -- 1 = the work was accepted
  feedback   TEXT NOT NULL CHECK (feedback IN ('', 'good', 'bad')),
  said_by    TEXT NOT NULL,
  at         INTEGER NOT NULL
, proof TEXT NOT NULL DEFAULT '' -- '' = before this was kept
  CHECK (proof IN ('', 'person', 'machine_check', 'recorded_exit', 'code', 'agent')), about TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE capability_trust (
  agent      TEXT NOT NULL,
  capability TEXT NOT NULL,
  hundredths INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (agent, capability)
) STRICT, WITHOUT ROWID;
CREATE TABLE predictions (
  item         TEXT PRIMARY KEY,
  agent        TEXT NOT NULL,
  check_json   TEXT NOT NULL,                       -- '' once resolved, or when the item was purged
  check_hash   BLOB NOT NULL,
  due          INTEGER NOT NULL,
  seen_at      INTEGER NOT NULL DEFAULT 0,          -- when it was first tried, and did not hold
  retry_at     INTEGER NOT NULL,                    -- when it is tried next
  outcome      TEXT NOT NULL DEFAULT '' CHECK (outcome IN ('', 'right', 'wrong', 'void')),
  resolved_at  INTEGER NOT NULL DEFAULT 0
, made_at INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE work_lanes (
  n           INTEGER PRIMARY KEY,
  pool        TEXT NOT NULL,                        -- g/ a group, e/ an entity with all below it
  role        TEXT NOT NULL,
  assigned_to TEXT NOT NULL,                        -- '' = anyone
  needs       TEXT NOT NULL,                        -- JSON list of tools, in order
  excluded    TEXT NOT NULL,                        -- JSON list: neither they nor their kin, in order
  UNIQUE (pool, assigned_to, role, needs, excluded)
) STRICT;
CREATE TABLE work_items (
  n            INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  task_id      TEXT NOT NULL,
  group_id     TEXT NOT NULL DEFAULT '',
  submitter    TEXT NOT NULL REFERENCES entities(id),
  lane         INTEGER NOT NULL REFERENCES work_lanes(n),
  stage        INTEGER NOT NULL DEFAULT 0,
  priority     INTEGER NOT NULL DEFAULT 0,
  place        INTEGER NOT NULL,                    -- in the queue; one given back goes to its end
  state        TEXT NOT NULL CHECK (state IN ('waiting', 'ready', 'leased', 'held', 'blocked', 'done', 'failed', 'cancelled')),
  depends      INTEGER NOT NULL DEFAULT 0,          -- how many items it builds on
  blockers     INTEGER NOT NULL DEFAULT 0,          -- how many of them are not done
  not_before   INTEGER NOT NULL DEFAULT 0,
  deadline     INTEGER NOT NULL DEFAULT 0,          -- 0 = none
  holder       TEXT NOT NULL DEFAULT '',            -- of the lease, or of the last one that was reported
  fence        INTEGER NOT NULL DEFAULT 0,          -- rises with every lease
  attempt      INTEGER NOT NULL DEFAULT 0,
  lease        INTEGER NOT NULL DEFAULT 0,          -- its length
  claimed_at   INTEGER NOT NULL DEFAULT 0,
  lease_until  INTEGER NOT NULL DEFAULT 0,
  expiries     INTEGER NOT NULL DEFAULT 0,
  releases     INTEGER NOT NULL DEFAULT 0,
  max_expiries INTEGER NOT NULL,
  outcome      TEXT NOT NULL DEFAULT '',
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  finished_at  INTEGER NOT NULL DEFAULT 0,
  reported_at  INTEGER NOT NULL DEFAULT 0,          -- when the result came in; it is about what was there by then
  result_hash  TEXT NOT NULL DEFAULT '',            -- SHA-256 of result and evidence, hex
  -- The long columns are last: what is before them is read without them.
  note         TEXT NOT NULL DEFAULT '',
  intent       TEXT NOT NULL,
  brief        TEXT NOT NULL,
  result       TEXT NOT NULL DEFAULT '',
  evidence     TEXT NOT NULL DEFAULT ''
, seat INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE work_blockers (
  item    INTEGER NOT NULL REFERENCES work_items(n),
  blocker INTEGER NOT NULL REFERENCES work_items(n),
  PRIMARY KEY (item, blocker)
) STRICT, WITHOUT ROWID;
CREATE TABLE work_leases (
  item       INTEGER NOT NULL REFERENCES work_items(n),
  fence      INTEGER NOT NULL,
  holder     TEXT NOT NULL,
  claimed_at INTEGER NOT NULL,
  outcome    TEXT NOT NULL DEFAULT '',              -- as reported in time
  hash       TEXT NOT NULL DEFAULT '',              -- of that report
  state      TEXT NOT NULL DEFAULT '',              -- that it led to
  late_at    INTEGER NOT NULL DEFAULT 0,            -- when a report came too late
  late       TEXT NOT NULL DEFAULT '', ended_at INTEGER NOT NULL DEFAULT 0,              -- that report
  PRIMARY KEY (item, fence)
) STRICT, WITHOUT ROWID;
CREATE TABLE tainted_sessions (
  entity_id TEXT NOT NULL,
  session   TEXT NOT NULL,
  at        INTEGER NOT NULL,                       -- of the reading, or of the token the mark was handed on to
  PRIMARY KEY (entity_id, session)
) STRICT, WITHOUT ROWID;
CREATE TABLE releases (
  item         INTEGER PRIMARY KEY REFERENCES items(n),
  content_hash BLOB NOT NULL,
  released     INTEGER NOT NULL,                    -- 0 = taken back
  by           TEXT NOT NULL,
  at           INTEGER NOT NULL
) STRICT;
CREATE TABLE quarantines (
  n         INTEGER PRIMARY KEY,
  agent     TEXT NOT NULL,
  by        TEXT NOT NULL,
  reason    TEXT NOT NULL DEFAULT '',
  at        INTEGER NOT NULL,
  lifted_at INTEGER NOT NULL DEFAULT 0,             -- 0 = in force
  lifted_by TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE quarantined_items (
  item       INTEGER NOT NULL REFERENCES items(n),
  quarantine INTEGER NOT NULL REFERENCES quarantines(n),
  PRIMARY KEY (item, quarantine)
) STRICT, WITHOUT ROWID;
CREATE TABLE bindings (
  root_id  TEXT NOT NULL REFERENCES entities(id),
  dir      TEXT NOT NULL,                           -- absolute, links resolved, / between names
  group_id TEXT NOT NULL REFERENCES groups(id),
  made_at  INTEGER NOT NULL,
  PRIMARY KEY (root_id, dir)
) STRICT, WITHOUT ROWID;
CREATE TABLE swarms (
  id          TEXT PRIMARY KEY REFERENCES groups(id),
  goal        TEXT NOT NULL,
  strategy    TEXT NOT NULL CHECK (strategy IN ('broadcast', 'pipeline', 'hierarchical')),
  creator     TEXT NOT NULL REFERENCES entities(id),
  coordinator TEXT NOT NULL DEFAULT '',             -- '' = none
  created_at  INTEGER NOT NULL,
  ended_at    INTEGER NOT NULL DEFAULT 0,
  answer      TEXT NOT NULL DEFAULT ''              -- to whoever ended it, for a repetition
) STRICT, WITHOUT ROWID;
CREATE TABLE swarm_slots (
  swarm_id     TEXT NOT NULL REFERENCES swarms(id),
  n            INTEGER NOT NULL,                    -- 1, 2, 3 …
  slot         TEXT NOT NULL,
  agent_type   TEXT NOT NULL,
  capabilities TEXT NOT NULL DEFAULT '',            -- as asked for; '' = what the strategy needs
  made         INTEGER NOT NULL DEFAULT 0,          -- agents that ever had it
  PRIMARY KEY (swarm_id, n),
  UNIQUE (swarm_id, slot)
) STRICT, WITHOUT ROWID;
CREATE TABLE swarm_agents (
  swarm_id  TEXT NOT NULL REFERENCES swarms(id),
  entity_id TEXT NOT NULL REFERENCES entities(id),
  n         INTEGER NOT NULL,                       -- of its slot
  cell      TEXT NOT NULL DEFAULT '',               -- the group it alone, or its stage, writes to; '' = the swarm's own
  PRIMARY KEY (swarm_id, entity_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE returns (
  id            TEXT PRIMARY KEY,
  agent         TEXT NOT NULL REFERENCES entities(id),
  group_id      TEXT NOT NULL DEFAULT '',           -- its staging group; '' = nothing was brought
  divergence    TEXT NOT NULL CHECK (divergence IN ('match', 'gap', 'fork', 'replay')),
  sessions      INTEGER NOT NULL,                   -- apart from the node's chain
  session_count INTEGER NOT NULL,                   -- as handed in, like the two hashes
  chain_hash    BLOB NOT NULL,
  batch_hash    BLOB NOT NULL,
  statement     BLOB NOT NULL,                      -- the bytes the agent signed
  signature     BLOB NOT NULL,
  at            INTEGER NOT NULL,
  closed_at     INTEGER NOT NULL DEFAULT 0,         -- 0 = something of it waits
  over_boot     TEXT NOT NULL DEFAULT '',           -- in which boot it was first seen to wait too long
  over_mono     INTEGER NOT NULL DEFAULT 0          -- and when, on the clock nobody can set
) STRICT;
CREATE TABLE reviews (
  id         TEXT PRIMARY KEY,
  return_id  TEXT NOT NULL REFERENCES returns(id),
  item       TEXT NOT NULL,                         -- in the staging group
  target     TEXT NOT NULL,                         -- the group it is for
  hash       BLOB NOT NULL,                         -- of what is shown: an approval names it
  words      BLOB NOT NULL,                         -- hash of what it says, without what it says of itself
  person     INTEGER NOT NULL,                      -- 1 = a person approves it, for what it is or was
  state      TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'withdrawn', 'expired')),
  decided_by TEXT NOT NULL DEFAULT '',              -- 'node' = merged without review
  decided_at INTEGER NOT NULL DEFAULT 0,
  reason     TEXT NOT NULL DEFAULT '',
  result     TEXT NOT NULL DEFAULT ''               -- the item in the target
) STRICT;
CREATE TABLE tasks (
  n              INTEGER PRIMARY KEY,
  id             TEXT NOT NULL UNIQUE,
  submitter      TEXT NOT NULL REFERENCES entities(id),
  group_id       TEXT NOT NULL DEFAULT '',          -- whose members do it, '' = the submitter and whoever is below it
  state          TEXT NOT NULL CHECK (state IN ('perceiving', 'clarifying', 'planning', 'running', 'merging', 'review', 'accepted', 'abandoned', 'cancelled')),
  round          INTEGER NOT NULL DEFAULT 0,        -- the one that runs or was planned last; 0 = none yet
  replans        INTEGER NOT NULL DEFAULT 0,        -- requests for another round so far
  clarifications INTEGER NOT NULL DEFAULT 0,        -- rounds of questions so far
  held           INTEGER NOT NULL DEFAULT 0,        -- 1 = a person looks at the result before it counts
  deadline       INTEGER NOT NULL DEFAULT 0,        -- 0 = none
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  accepted_at    INTEGER NOT NULL DEFAULT 0,        -- when R1 had understood it
  finished_at    INTEGER NOT NULL DEFAULT 0,
  -- The long columns are last: what is before them is read without them.
  request        TEXT NOT NULL,                     -- verbatim
  spec           TEXT NOT NULL DEFAULT '',          -- TaskSpec, '' = not yet
  questions      TEXT NOT NULL DEFAULT '[]',        -- JSON list of {questions, answers}
  tools          TEXT NOT NULL,                     -- JSON list: what plans may name
  settings       TEXT NOT NULL,                     -- as they were when it was submitted
  trail          TEXT NOT NULL DEFAULT '{}',        -- what one directive leaves for the next
  result         TEXT NOT NULL DEFAULT ''           -- FinalResult, '' = not yet
, decide_by INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE task_rounds (
  task        INTEGER NOT NULL REFERENCES tasks(n),
  round       INTEGER NOT NULL,                     -- from 1
  plan        TEXT NOT NULL,                        -- Plan
  manifest    TEXT NOT NULL,                        -- DispatchManifest
  constraints TEXT NOT NULL DEFAULT '[]',           -- of memory, as they bound the plan
  merge       TEXT NOT NULL DEFAULT '',             -- what R4b made of it, with verdicts on record; '' = nothing yet
  directive   TEXT NOT NULL DEFAULT '',             -- PlanDirective that ended it, '' = it goes on or was accepted
  PRIMARY KEY (task, round)
) STRICT, WITHOUT ROWID;
CREATE TABLE subtasks (
  n         INTEGER PRIMARY KEY,
  id        TEXT NOT NULL UNIQUE,
  task      INTEGER NOT NULL REFERENCES tasks(n),
  round     INTEGER NOT NULL,
  sequence  INTEGER NOT NULL,                       -- equal = at once; higher waits for lower
  state     TEXT NOT NULL CHECK (state IN ('waiting', 'executing', 'validating', 'matched', 'failed', 'superseded')),
  attempt   INTEGER NOT NULL DEFAULT 0,             -- from 1 once it runs
  planned   TEXT NOT NULL,                          -- PlannedSubTask
  attempted TEXT NOT NULL DEFAULT '',               -- ExecutionResult that is being judged, with what code found out about it
  outcome   TEXT NOT NULL DEFAULT ''                -- SubTaskOutcome of all attempts so far
) STRICT;
CREATE TABLE task_seats (
  item     INTEGER PRIMARY KEY REFERENCES work_items(n),
  task     INTEGER NOT NULL REFERENCES tasks(n),
  round    INTEGER NOT NULL,
  subtask  INTEGER NOT NULL DEFAULT 0,              -- its n, 0 = the task's own
  role     TEXT NOT NULL CHECK (role IN ('R1', 'R2', 'R3', 'R4a', 'R4b')),
  attempt  INTEGER NOT NULL DEFAULT 1,              -- of the subtask
  answers  INTEGER NOT NULL DEFAULT 0,              -- that could not be taken
  refused  TEXT NOT NULL DEFAULT '',                -- hash of the last of those
  facts    TEXT NOT NULL DEFAULT ''                 -- what code found out: constraints for R2, machine checks of what R3 and R4b report
, check_by INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE task_messages (
  n         INTEGER PRIMARY KEY,
  id        TEXT NOT NULL UNIQUE,
  task      INTEGER NOT NULL REFERENCES tasks(n),
  round     INTEGER NOT NULL,
  subtask   TEXT NOT NULL DEFAULT '',               -- its id
  sender    TEXT NOT NULL,                          -- role, '' = the user
  receiver  TEXT NOT NULL,                          -- role, '' = the user
  actor     TEXT NOT NULL,                          -- who sat in the sender's role; the node for code
  record    TEXT NOT NULL,                          -- the type of message, such as PlanDirective
  message   TEXT NOT NULL,                          -- JSON
  at        INTEGER NOT NULL
) STRICT;
CREATE TABLE lessons (
  item         INTEGER PRIMARY KEY REFERENCES items(n),
  task         TEXT NOT NULL,                       -- its id
  kind         TEXT NOT NULL CHECK (kind IN ('episodic', 'procedural')),
  content_hash BLOB NOT NULL
) STRICT;
CREATE TABLE audit_reports (
  until   INTEGER PRIMARY KEY,                      -- where the next one goes on
  since   INTEGER NOT NULL,
  id      TEXT NOT NULL UNIQUE,
  report  TEXT NOT NULL                             -- AuditReport
) STRICT;
CREATE TABLE mcp_tasks (
  id         TEXT PRIMARY KEY,
  owner      TEXT NOT NULL REFERENCES entities(id), -- who called; nobody else can tell it is there
  tool       TEXT NOT NULL,
  arguments  TEXT NOT NULL,                         -- as they were sent
  state      TEXT NOT NULL CHECK (state IN ('waiting', 'answered', 'cancelled')),
  until      INTEGER NOT NULL,                      -- the call waits no longer than this
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,                      -- until then it can be asked for
  result     TEXT NOT NULL DEFAULT '',              -- the operation's answer, JSON
  refusal    TEXT NOT NULL DEFAULT ''               -- or the error it came to, JSON
) STRICT;
CREATE TABLE rechecks (
  item INTEGER PRIMARY KEY REFERENCES items(n)
) STRICT;
CREATE TABLE invitations (
  id         TEXT PRIMARY KEY,
  group_id   TEXT NOT NULL REFERENCES groups(id),
  entity_id  TEXT NOT NULL REFERENCES entities(id), -- who is invited
  role       TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  inviter    TEXT NOT NULL REFERENCES entities(id),
  state      TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'withdrawn', 'expired')),
  at         INTEGER NOT NULL,
  decided_by TEXT NOT NULL DEFAULT '',
  decided_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE mentioned (
  entity_id TEXT NOT NULL,
  stream    TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (entity_id, stream)
) STRICT, WITHOUT ROWID;
CREATE TABLE proposals (
  id         TEXT PRIMARY KEY,
  author     TEXT NOT NULL REFERENCES entities(id),
  item       TEXT NOT NULL,                         -- what is proposed: staged, or in its place already
  staging    TEXT NOT NULL DEFAULT '',              -- the group it is staged in; '' = it lies in its place
  target     TEXT NOT NULL DEFAULT '',              -- the group it is for; '' = the author's own memory
  supersedes TEXT NOT NULL DEFAULT '',              -- the item it is to supersede, '' = none
  words      BLOB NOT NULL,                         -- hash of what it says
  person     INTEGER NOT NULL,                      -- 1 = a person wrote or released what it is to supersede
  added      INTEGER NOT NULL,                      -- 1 = the item was written with the proposal, and goes with it
  state      TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'withdrawn', 'expired')),
  decided_by TEXT NOT NULL DEFAULT '',
  decided_at INTEGER NOT NULL DEFAULT 0,
  reason     TEXT NOT NULL DEFAULT '',
  result     TEXT NOT NULL DEFAULT '',              -- the item in the target
  at         INTEGER NOT NULL,
  over_boot  TEXT NOT NULL DEFAULT '',              -- in which boot it was first seen to wait too long
  over_mono  INTEGER NOT NULL DEFAULT 0             -- and when, on the clock nobody can set
) STRICT;
CREATE TABLE seat_runs (
  n              INTEGER PRIMARY KEY,
  item           INTEGER NOT NULL REFERENCES work_items(n),
  fence          INTEGER NOT NULL,                  -- of the lease it was started for
  client         TEXT NOT NULL,                     -- such as claude-code
  model          TEXT NOT NULL DEFAULT '',          -- as the client named it
  payer          TEXT NOT NULL DEFAULT '',          -- where the client took its credentials from
  outcome        TEXT NOT NULL CHECK (outcome IN ('answered', 'failed', 'postponed', 'stopped')),
  reason         TEXT NOT NULL DEFAULT '',          -- why it did not answer
  records        INTEGER NOT NULL DEFAULT 0,        -- 1 = its calls are the record of the attempt
  input_tokens   INTEGER NOT NULL DEFAULT 0,        -- neither read from a cache nor written to one
  cached_tokens  INTEGER NOT NULL DEFAULT 0,        -- read from a cache
  written_tokens INTEGER NOT NULL DEFAULT 0,        -- written to a cache
  output_tokens  INTEGER NOT NULL DEFAULT 0,
  cost           INTEGER NOT NULL DEFAULT -1,       -- millionths of a US dollar, -1 = not known
  started_at     INTEGER NOT NULL,
  ended_at       INTEGER NOT NULL
) STRICT;
CREATE TABLE recorded_calls (
  run        INTEGER NOT NULL REFERENCES seat_runs(n),
  seq        INTEGER NOT NULL,                      -- from 1, as they were begun
  tool       TEXT NOT NULL,
  input      TEXT NOT NULL,
  exit       INTEGER NOT NULL,                      -- 0 = it worked
  head       TEXT NOT NULL DEFAULT '',
  tail       TEXT NOT NULL DEFAULT '',
  started_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE workspaces (
  id         TEXT PRIMARY KEY,
  owner      TEXT NOT NULL REFERENCES entities(id), -- a person
  group_id   TEXT NOT NULL REFERENCES groups(id),
  spec       TEXT NOT NULL,                         -- JSON, as its file says it but for its roles
  version    INTEGER NOT NULL,                      -- rises with every change of it and of its roles
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE roles (
  agent         TEXT PRIMARY KEY REFERENCES entities(id),
  workspace     TEXT NOT NULL REFERENCES workspaces(id),
  role_id       TEXT NOT NULL,
  charter       TEXT NOT NULL,                      -- JSON
  state         TEXT NOT NULL CHECK (state IN ('draft', 'testing', 'active', 'suspended', 'terminated')),
  parent        TEXT NOT NULL DEFAULT '',           -- the role that spawned it; '' = one of the file
  template      TEXT NOT NULL DEFAULT '',
  created_by    TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  activated_at  INTEGER NOT NULL DEFAULT 0,
  terminated_at INTEGER NOT NULL DEFAULT 0,
  until         INTEGER NOT NULL DEFAULT 0,         -- its ttl; 0 = none
  reason        TEXT NOT NULL DEFAULT ''            -- of its end
) STRICT;
CREATE TABLE role_events (
  n         INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL REFERENCES workspaces(id),
  source    TEXT NOT NULL,
  id        TEXT NOT NULL,
  type      TEXT NOT NULL,
  domain    TEXT NOT NULL,
  said_by   TEXT NOT NULL,                          -- who brought it; 'node' = a hook or a schedule
  thread    TEXT NOT NULL DEFAULT '',
  depth     INTEGER NOT NULL DEFAULT 0,             -- how many events in a row caused it
  event     TEXT NOT NULL,                          -- JSON, whole
  hash      BLOB NOT NULL,                          -- of what came
  at        INTEGER NOT NULL,
  UNIQUE (workspace, source, id)
) STRICT;
CREATE TABLE role_decisions (
  n        INTEGER PRIMARY KEY,
  event    INTEGER NOT NULL REFERENCES role_events(n),
  agent    TEXT NOT NULL DEFAULT '',                -- of the role; '' = it reached none
  hop      INTEGER NOT NULL,
  action   TEXT NOT NULL CHECK (action IN ('delegate', 'escalate', 'forward', 'ignore')),
  sandbox  INTEGER NOT NULL DEFAULT 0,              -- of a role in testing: nothing followed
  decision TEXT NOT NULL,                           -- JSON: reason, steps, target
  at       INTEGER NOT NULL
) STRICT;
CREATE TABLE role_episodes (
  n        INTEGER PRIMARY KEY,
  decision INTEGER NOT NULL REFERENCES role_decisions(n),
  event    INTEGER NOT NULL REFERENCES role_events(n),
  agent    TEXT NOT NULL REFERENCES entities(id),
  action   TEXT NOT NULL,
  thread   TEXT NOT NULL DEFAULT '',
  kind     TEXT NOT NULL CHECK (kind IN ('work', 'task', 'seat')),
  ref      TEXT NOT NULL,                           -- of the work item or the task
  watch    TEXT NOT NULL DEFAULT '',
  outcome  TEXT NOT NULL DEFAULT '',                -- '' = open
  at       INTEGER NOT NULL,
  ended_at INTEGER NOT NULL DEFAULT 0
, due INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE role_asks (
  id         TEXT PRIMARY KEY,
  workspace  TEXT NOT NULL REFERENCES workspaces(id),
  kind       TEXT NOT NULL CHECK (kind IN ('escalation', 'approval', 'request', 'spawn', 'draft', 'insights')),
  agent      TEXT NOT NULL REFERENCES entities(id), -- of the role that asks, or that it is about
  asked      TEXT NOT NULL REFERENCES entities(id), -- who decides
  decision   INTEGER NOT NULL DEFAULT 0,            -- of role_decisions, 0 = none
  title      TEXT NOT NULL,
  shows      TEXT NOT NULL,                         -- what is shown, as lines
  data       TEXT NOT NULL DEFAULT '{}',            -- JSON: what an approval does
  outside    INTEGER NOT NULL DEFAULT 0,            -- 1 = it shows words from outside
  hash       TEXT NOT NULL,                         -- of all that is shown, hex
  deadline   INTEGER NOT NULL,
  follows    TEXT NOT NULL CHECK (follows IN ('escalate', 'refuse')),
  state      TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'withdrawn', 'expired')),
  decided_by TEXT NOT NULL DEFAULT '',
  decided_at INTEGER NOT NULL DEFAULT 0,
  reason     TEXT NOT NULL DEFAULT '',
  at         INTEGER NOT NULL
) STRICT;
CREATE TABLE role_messages (
  id          TEXT PRIMARY KEY,
  workspace   TEXT NOT NULL REFERENCES workspaces(id),
  kind        TEXT NOT NULL CHECK (kind IN ('request', 'response', 'notification')),
  sender      TEXT NOT NULL REFERENCES entities(id),
  receiver    TEXT NOT NULL REFERENCES entities(id),
  correlation TEXT NOT NULL,                        -- the request's id, with its answers
  content     TEXT NOT NULL,
  deadline    INTEGER NOT NULL DEFAULT 0,
  late        INTEGER NOT NULL DEFAULT 0,           -- 1 = an answer after the deadline
  at          INTEGER NOT NULL
, outside INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE role_drafts (
  id          TEXT PRIMARY KEY,
  workspace   TEXT NOT NULL REFERENCES workspaces(id),
  agent       TEXT NOT NULL REFERENCES entities(id), -- who proposed it
  template_id TEXT NOT NULL,
  intent      TEXT NOT NULL,
  template    TEXT NOT NULL,                        -- JSON
  reasoning   TEXT NOT NULL DEFAULT '',
  ask         TEXT NOT NULL REFERENCES role_asks(id),
  at          INTEGER NOT NULL
) STRICT;
CREATE TABLE role_schedules (
  agent   TEXT NOT NULL REFERENCES entities(id),
  n       INTEGER NOT NULL,                         -- its place in the charter
  next_at INTEGER NOT NULL,
  PRIMARY KEY (agent, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE role_hooks (
  source    TEXT PRIMARY KEY,
  workspace TEXT NOT NULL REFERENCES workspaces(id)
) STRICT, WITHOUT ROWID;
CREATE TABLE role_deliveries (
  source TEXT NOT NULL,
  body   BLOB NOT NULL,
  id     TEXT NOT NULL,
  at     INTEGER NOT NULL,
  PRIMARY KEY (source, body)
) STRICT, WITHOUT ROWID;
CREATE TABLE role_threads (
  workspace TEXT NOT NULL REFERENCES workspaces(id),
  alias     TEXT NOT NULL,
  thread    TEXT NOT NULL,
  PRIMARY KEY (workspace, alias)
) STRICT, WITHOUT ROWID;
CREATE TABLE role_recommendations (
  id        TEXT PRIMARY KEY,
  agent     TEXT NOT NULL REFERENCES entities(id),
  template  TEXT NOT NULL,
  signal    TEXT NOT NULL,
  params    TEXT NOT NULL,                          -- JSON
  reason    TEXT NOT NULL,
  strength  REAL NOT NULL,                          -- 0–1: how far beyond its thresholds
  at        INTEGER NOT NULL,
  UNIQUE (agent, template, signal, params)
) STRICT;
CREATE TABLE role_streams (
  workspace TEXT NOT NULL REFERENCES workspaces(id),
  stream    TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (workspace, stream)
) STRICT, WITHOUT ROWID;
CREATE TABLE hook_calls (
  n     INTEGER PRIMARY KEY,
  item  INTEGER NOT NULL REFERENCES work_items(n),
  fence INTEGER NOT NULL,                  -- of the lease that was held then
  tool  TEXT NOT NULL,
  input TEXT NOT NULL,
  exit  INTEGER NOT NULL,                  -- 0 = it worked
  head  TEXT NOT NULL DEFAULT '',
  tail  TEXT NOT NULL DEFAULT '',
  at    INTEGER NOT NULL
) STRICT;
CREATE TABLE task_artefacts (
  task INTEGER NOT NULL REFERENCES tasks(n),
  path TEXT NOT NULL,                      -- below the folders for checks
  sum  TEXT NOT NULL,                      -- SHA-256 of a file there, in hex
  PRIMARY KEY (task, path, sum)
) STRICT, WITHOUT ROWID;
INSERT INTO assessments(seq, observer, agent, source, verdict, item, version, content_hash, assessor, witness, basis, alpha, beta, at) VALUES (1, 'assessments ''observer'' ü 0', 'assessments ''agent'' ü 0', 'prior', '', 'assessments ''item'' ü 0', 1, X'00FF00', 'assessments ''assessor'' ü 0', 'assessments ''witness'' ü 0', 'assessments ''basis'' ü 0', 1, 1, 1);
INSERT INTO assessments(seq, observer, agent, source, verdict, item, version, content_hash, assessor, witness, basis, alpha, beta, at) VALUES (2, 'assessments ''observer'' ü 1', 'assessments ''agent'' ü 1', 'user', 'right', 'assessments ''item'' ü 1', 2, X'00FF01', 'assessments ''assessor'' ü 1', 'assessments ''witness'' ü 1', 'assessments ''basis'' ü 1', 2, 2, 2);
INSERT INTO assessments(seq, observer, agent, source, verdict, item, version, content_hash, assessor, witness, basis, alpha, beta, at) VALUES (3, 'assessments ''observer'' ü 2', 'assessments ''agent'' ü 2', 'owner', 'wrong', 'assessments ''item'' ü 2', 3, X'00FF02', 'assessments ''assessor'' ü 2', 'assessments ''witness'' ü 2', 'assessments ''basis'' ü 2', 3, 3, 3);
INSERT INTO assessments_counted(observer, agent, item, witness, seq, moves_tier, own) VALUES ('assessments_counted ''observer'' ü 0', 'assessments_counted ''agent'' ü 0', 'assessments_counted ''item'' ü 0', 'assessments_counted ''witness'' ü 0', 1, 1, 1);
INSERT INTO assessments_counted(observer, agent, item, witness, seq, moves_tier, own) VALUES ('assessments_counted ''observer'' ü 1', 'assessments_counted ''agent'' ü 1', 'assessments_counted ''item'' ü 1', 'assessments_counted ''witness'' ü 1', 2, 2, 2);
INSERT INTO assessments_counted(observer, agent, item, witness, seq, moves_tier, own) VALUES ('assessments_counted ''observer'' ü 2', 'assessments_counted ''agent'' ü 2', 'assessments_counted ''item'' ü 2', 'assessments_counted ''witness'' ü 2', 3, 3, 3);
INSERT INTO audit(seq, at, actor, via, action, target, decision, detail_hash, leaf_hash) VALUES (1, 1, 'audit ''actor'' ü 0', 'audit ''via'' ü 0', 'audit ''action'' ü 0', 'audit ''target'' ü 0', 'audit ''decision'' ü 0', X'00FF00', X'00FF00');
INSERT INTO audit(seq, at, actor, via, action, target, decision, detail_hash, leaf_hash) VALUES (2, 2, 'audit ''actor'' ü 1', 'audit ''via'' ü 1', 'audit ''action'' ü 1', 'audit ''target'' ü 1', 'audit ''decision'' ü 1', X'00FF01', X'00FF01');
INSERT INTO audit(seq, at, actor, via, action, target, decision, detail_hash, leaf_hash) VALUES (3, 3, 'audit ''actor'' ü 2', 'audit ''via'' ü 2', 'audit ''action'' ü 2', 'audit ''target'' ü 2', 'audit ''decision'' ü 2', X'00FF02', X'00FF02');
INSERT INTO audit_details(seq, salt, detail) VALUES (1, X'00FF00', 'audit_details ''detail'' ü 0');
INSERT INTO audit_details(seq, salt, detail) VALUES (2, X'00FF01', 'audit_details ''detail'' ü 1');
INSERT INTO audit_details(seq, salt, detail) VALUES (3, X'00FF02', 'audit_details ''detail'' ü 2');
INSERT INTO audit_reports(until, since, id, report) VALUES (1, 1, 'audit_reports ''id'' ü 0', 'audit_reports ''report'' ü 0');
INSERT INTO audit_reports(until, since, id, report) VALUES (2, 2, 'audit_reports ''id'' ü 1', 'audit_reports ''report'' ü 1');
INSERT INTO audit_reports(until, since, id, report) VALUES (3, 3, 'audit_reports ''id'' ü 2', 'audit_reports ''report'' ü 2');
INSERT INTO bindings(root_id, dir, group_id, made_at) VALUES ('entities ''id'' ü 0', 'bindings ''dir'' ü 0', 'groups ''id'' ü 0', 1);
INSERT INTO bindings(root_id, dir, group_id, made_at) VALUES ('entities ''id'' ü 1', 'bindings ''dir'' ü 1', 'groups ''id'' ü 1', 2);
INSERT INTO bindings(root_id, dir, group_id, made_at) VALUES ('entities ''id'' ü 2', 'bindings ''dir'' ü 2', 'groups ''id'' ü 2', 3);
INSERT INTO call_counts(entity_id, minute, refused, failed) VALUES ('call_counts ''entity_id'' ü 0', 1, 1, 1);
INSERT INTO call_counts(entity_id, minute, refused, failed) VALUES ('call_counts ''entity_id'' ü 1', 2, 2, 2);
INSERT INTO call_counts(entity_id, minute, refused, failed) VALUES ('call_counts ''entity_id'' ü 2', 3, 3, 3);
INSERT INTO capability_feedback(seq, agent, capability, success, feedback, said_by, at, proof, about) VALUES (1, 'capability_feedback ''agent'' ü 0', 'capability_feedback ''capability'' ü 0', 1, '', 'capability_feedback ''said_by'' ü 0', 1, '', 'capability_feedback ''about'' ü 0');
INSERT INTO capability_feedback(seq, agent, capability, success, feedback, said_by, at, proof, about) VALUES (2, 'capability_feedback ''agent'' ü 1', 'capability_feedback ''capability'' ü 1', 2, 'good', 'capability_feedback ''said_by'' ü 1', 2, 'person', 'capability_feedback ''about'' ü 1');
INSERT INTO capability_feedback(seq, agent, capability, success, feedback, said_by, at, proof, about) VALUES (3, 'capability_feedback ''agent'' ü 2', 'capability_feedback ''capability'' ü 2', 3, 'bad', 'capability_feedback ''said_by'' ü 2', 3, 'machine_check', 'capability_feedback ''about'' ü 2');
INSERT INTO capability_trust(agent, capability, hundredths, updated_at) VALUES ('capability_trust ''agent'' ü 0', 'capability_trust ''capability'' ü 0', 1, 1);
INSERT INTO capability_trust(agent, capability, hundredths, updated_at) VALUES ('capability_trust ''agent'' ü 1', 'capability_trust ''capability'' ü 1', 2, 2);
INSERT INTO capability_trust(agent, capability, hundredths, updated_at) VALUES ('capability_trust ''agent'' ü 2', 'capability_trust ''capability'' ü 2', 3, 3);
INSERT INTO challenges(nonce_hash, expires_at) VALUES (X'00FF00', 1);
INSERT INTO challenges(nonce_hash, expires_at) VALUES (X'00FF01', 2);
INSERT INTO challenges(nonce_hash, expires_at) VALUES (X'00FF02', 3);
INSERT INTO counters(name, value) VALUES ('counters ''name'' ü 0', 1);
INSERT INTO counters(name, value) VALUES ('counters ''name'' ü 1', 2);
INSERT INTO counters(name, value) VALUES ('counters ''name'' ü 2', 3);
INSERT INTO counters(name, value) VALUES ('embeddings', 0);
INSERT INTO counters(name, value) VALUES ('epoch', 1);
INSERT INTO cursors(entity_id, stream, seq) VALUES ('cursors ''entity_id'' ü 0', 'cursors ''stream'' ü 0', 1);
INSERT INTO cursors(entity_id, stream, seq) VALUES ('cursors ''entity_id'' ü 1', 'cursors ''stream'' ü 1', 2);
INSERT INTO cursors(entity_id, stream, seq) VALUES ('cursors ''entity_id'' ü 2', 'cursors ''stream'' ü 2', 3);
INSERT INTO denials(entity_id, minute, tool, reason, n) VALUES ('denials ''entity_id'' ü 0', 1, 'denials ''tool'' ü 0', 'denials ''reason'' ü 0', 1);
INSERT INTO denials(entity_id, minute, tool, reason, n) VALUES ('denials ''entity_id'' ü 1', 2, 'denials ''tool'' ü 1', 'denials ''reason'' ü 1', 2);
INSERT INTO denials(entity_id, minute, tool, reason, n) VALUES ('denials ''entity_id'' ü 2', 3, 'denials ''tool'' ü 2', 'denials ''reason'' ü 2', 3);
INSERT INTO embedding_models(n, name, dim, private, queued, chosen) VALUES (1, 'embedding_models ''name'' ü 0', 1, 1, 1, 1);
INSERT INTO embedding_models(n, name, dim, private, queued, chosen) VALUES (2, 'embedding_models ''name'' ü 1', 2, 2, 2, 2);
INSERT INTO embedding_models(n, name, dim, private, queued, chosen) VALUES (3, 'embedding_models ''name'' ü 2', 3, 3, 3, 3);
INSERT INTO embedding_queue(item, claim, due_at, attempts) VALUES (1, 'embedding_queue ''claim'' ü 0', 1, 1);
INSERT INTO embedding_queue(item, claim, due_at, attempts) VALUES (2, 'embedding_queue ''claim'' ü 1', 2, 2);
INSERT INTO embedding_queue(item, claim, due_at, attempts) VALUES (3, 'embedding_queue ''claim'' ü 2', 3, 3);
INSERT INTO embeddings(item, model, scope, seq, content_hash, at, bits, vector) VALUES (1, 1, 1, 1, X'00FF00', 1, X'00FF00', X'00FF00');
INSERT INTO embeddings(item, model, scope, seq, content_hash, at, bits, vector) VALUES (2, 2, 2, 2, X'00FF01', 2, X'00FF01', X'00FF01');
INSERT INTO embeddings(item, model, scope, seq, content_hash, at, bits, vector) VALUES (3, 3, 3, 3, X'00FF02', 3, X'00FF02', X'00FF02');
INSERT INTO entities(id, kind, parent_id, root_id, depth, node_id, agent_type, name, display_name, public_key, enc_public_key, enc_binding, key_seq, sealed_key, capabilities, grants, status, status_by, status_reason, status_at, created_at, expires_at, grace_until, grace_boot, grace_mono, last_seen_at) VALUES ('entities ''id'' ü 0', 'human', 'entities ''id'' ü 0', 'entities ''root_id'' ü 0', 1, 'entities ''node_id'' ü 0', 'claude-code', 'entities ''name'' ü 0', 'entities ''display_name'' ü 0', X'00FF00', X'00FF00', X'00FF00', 1, X'00FF00', 'entities ''capabilities'' ü 0', 'entities ''grants'' ü 0', 'registered', 'entities ''status_by'' ü 0', 'entities ''status_reason'' ü 0', 1, 1, 1, 1, 'entities ''grace_boot'' ü 0', 1, 1);
INSERT INTO entities(id, kind, parent_id, root_id, depth, node_id, agent_type, name, display_name, public_key, enc_public_key, enc_binding, key_seq, sealed_key, capabilities, grants, status, status_by, status_reason, status_at, created_at, expires_at, grace_until, grace_boot, grace_mono, last_seen_at) VALUES ('entities ''id'' ü 1', 'agent', 'entities ''id'' ü 1', 'entities ''root_id'' ü 1', 2, 'entities ''node_id'' ü 1', 'swarm-worker', 'entities ''name'' ü 1', 'entities ''display_name'' ü 1', X'00FF01', X'00FF01', X'00FF01', 2, X'00FF01', 'entities ''capabilities'' ü 1', 'entities ''grants'' ü 1', 'active', 'entities ''status_by'' ü 1', 'entities ''status_reason'' ü 1', 2, 2, 2, 2, 'entities ''grace_boot'' ü 1', 2, 2);
INSERT INTO entities(id, kind, parent_id, root_id, depth, node_id, agent_type, name, display_name, public_key, enc_public_key, enc_binding, key_seq, sealed_key, capabilities, grants, status, status_by, status_reason, status_at, created_at, expires_at, grace_until, grace_boot, grace_mono, last_seen_at) VALUES ('entities ''id'' ü 2', 'human', 'entities ''id'' ü 2', 'entities ''root_id'' ü 2', 3, 'entities ''node_id'' ü 2', 'autonomous', 'entities ''name'' ü 2', 'entities ''display_name'' ü 2', X'00FF02', X'00FF02', X'00FF02', 3, X'00FF02', 'entities ''capabilities'' ü 2', 'entities ''grants'' ü 2', 'suspended', 'entities ''status_by'' ü 2', 'entities ''status_reason'' ü 2', 3, 3, 3, 3, 'entities ''grace_boot'' ü 2', 3, 3);
INSERT INTO entity_keys(entity_id, seq, public_key, enc_public_key, enc_binding, valid_from, valid_to, reason, record) VALUES ('entities ''id'' ü 0', 1, X'00FF00', X'00FF00', X'00FF00', 1, 1, 'entity_keys ''reason'' ü 0', X'00FF00');
INSERT INTO entity_keys(entity_id, seq, public_key, enc_public_key, enc_binding, valid_from, valid_to, reason, record) VALUES ('entities ''id'' ü 1', 2, X'00FF01', X'00FF01', X'00FF01', 2, 2, 'entity_keys ''reason'' ü 1', X'00FF01');
INSERT INTO entity_keys(entity_id, seq, public_key, enc_public_key, enc_binding, valid_from, valid_to, reason, record) VALUES ('entities ''id'' ü 2', 3, X'00FF02', X'00FF02', X'00FF02', 3, 3, 'entity_keys ''reason'' ü 2', X'00FF02');
INSERT INTO events(stream, seq, id, type, source, domain, payload, metadata, at) VALUES ('events ''stream'' ü 0', 1, 'events ''id'' ü 0', 'events ''type'' ü 0', 'events ''source'' ü 0', 'events ''domain'' ü 0', 'events ''payload'' ü 0', 'events ''metadata'' ü 0', 1);
INSERT INTO events(stream, seq, id, type, source, domain, payload, metadata, at) VALUES ('events ''stream'' ü 1', 2, 'events ''id'' ü 1', 'events ''type'' ü 1', 'events ''source'' ü 1', 'events ''domain'' ü 1', 'events ''payload'' ü 1', 'events ''metadata'' ü 1', 2);
INSERT INTO events(stream, seq, id, type, source, domain, payload, metadata, at) VALUES ('events ''stream'' ü 2', 3, 'events ''id'' ü 2', 'events ''type'' ü 2', 'events ''source'' ü 2', 'events ''domain'' ü 2', 'events ''payload'' ü 2', 'events ''metadata'' ü 2', 3);
INSERT INTO groups(id, kind, owner_id, description, culture, emcon, created_at, archived_at, swarm_id) VALUES ('groups ''id'' ü 0', 'normal', 'entities ''id'' ü 0', 'groups ''description'' ü 0', 'groups ''culture'' ü 0', 1, 1, 1, 'groups ''swarm_id'' ü 0');
INSERT INTO groups(id, kind, owner_id, description, culture, emcon, created_at, archived_at, swarm_id) VALUES ('groups ''id'' ü 1', 'swarm', 'entities ''id'' ü 1', 'groups ''description'' ü 1', 'groups ''culture'' ü 1', 2, 2, 2, 'groups ''swarm_id'' ü 1');
INSERT INTO groups(id, kind, owner_id, description, culture, emcon, created_at, archived_at, swarm_id) VALUES ('groups ''id'' ü 2', 'staging', 'entities ''id'' ü 2', 'groups ''description'' ü 2', 'groups ''culture'' ü 2', 3, 3, 3, 'groups ''swarm_id'' ü 2');
INSERT INTO hook_calls(n, item, fence, tool, input, exit, head, tail, at) VALUES (1, 1, 1, 'hook_calls ''tool'' ü 0', 'hook_calls ''input'' ü 0', 1, 'hook_calls ''head'' ü 0', 'hook_calls ''tail'' ü 0', 1);
INSERT INTO hook_calls(n, item, fence, tool, input, exit, head, tail, at) VALUES (2, 2, 2, 'hook_calls ''tool'' ü 1', 'hook_calls ''input'' ü 1', 2, 'hook_calls ''head'' ü 1', 'hook_calls ''tail'' ü 1', 2);
INSERT INTO hook_calls(n, item, fence, tool, input, exit, head, tail, at) VALUES (3, 3, 3, 'hook_calls ''tool'' ü 2', 'hook_calls ''input'' ü 2', 3, 'hook_calls ''head'' ü 2', 'hook_calls ''tail'' ü 2', 3);
INSERT INTO idempotency(entity_id, key, tool, request_hash, result, at) VALUES ('idempotency ''entity_id'' ü 0', 'idempotency ''key'' ü 0', 'idempotency ''tool'' ü 0', X'00FF00', 'idempotency ''result'' ü 0', 1);
INSERT INTO idempotency(entity_id, key, tool, request_hash, result, at) VALUES ('idempotency ''entity_id'' ü 1', 'idempotency ''key'' ü 1', 'idempotency ''tool'' ü 1', X'00FF01', 'idempotency ''result'' ü 1', 2);
INSERT INTO idempotency(entity_id, key, tool, request_hash, result, at) VALUES ('idempotency ''entity_id'' ü 2', 'idempotency ''key'' ü 2', 'idempotency ''tool'' ü 2', X'00FF02', 'idempotency ''result'' ü 2', 3);
INSERT INTO invitations(id, group_id, entity_id, role, inviter, state, at, decided_by, decided_at) VALUES ('invitations ''id'' ü 0', 'groups ''id'' ü 0', 'entities ''id'' ü 0', 'owner', 'entities ''id'' ü 0', 'pending', 1, 'invitations ''decided_by'' ü 0', 1);
INSERT INTO invitations(id, group_id, entity_id, role, inviter, state, at, decided_by, decided_at) VALUES ('invitations ''id'' ü 1', 'groups ''id'' ü 1', 'entities ''id'' ü 1', 'admin', 'entities ''id'' ü 1', 'approved', 2, 'invitations ''decided_by'' ü 1', 2);
INSERT INTO invitations(id, group_id, entity_id, role, inviter, state, at, decided_by, decided_at) VALUES ('invitations ''id'' ü 2', 'groups ''id'' ü 2', 'entities ''id'' ü 2', 'member', 'entities ''id'' ü 2', 'rejected', 3, 'invitations ''decided_by'' ü 2', 3);
INSERT INTO item_bands(scope, band, item) VALUES (1, 1, 1);
INSERT INTO item_bands(scope, band, item) VALUES (2, 2, 2);
INSERT INTO item_bands(scope, band, item) VALUES (3, 3, 3);
INSERT INTO item_links(item, kind, other) VALUES (1, 'derived_from', 'item_links ''other'' ü 0');
INSERT INTO item_links(item, kind, other) VALUES (2, 'duplicate_of', 'item_links ''other'' ü 1');
INSERT INTO item_links(item, kind, other) VALUES (3, 'refines', 'item_links ''other'' ü 2');
INSERT INTO item_versions(item, version, data, subject, key, valid_from, valid_to, confidence, validated, provenance, content_hash, at) VALUES (1, 1, 'item_versions ''data'' ü 0', 'item_versions ''subject'' ü 0', 'item_versions ''key'' ü 0', 1, 1, 1, 1, 'item_versions ''provenance'' ü 0', X'00FF00', 1);
INSERT INTO item_versions(item, version, data, subject, key, valid_from, valid_to, confidence, validated, provenance, content_hash, at) VALUES (2, 2, 'item_versions ''data'' ü 1', 'item_versions ''subject'' ü 1', 'item_versions ''key'' ü 1', 2, 2, 2, 2, 'item_versions ''provenance'' ü 1', X'00FF01', 2);
INSERT INTO item_versions(item, version, data, subject, key, valid_from, valid_to, confidence, validated, provenance, content_hash, at) VALUES (3, 3, 'item_versions ''data'' ü 2', 'item_versions ''subject'' ü 2', 'item_versions ''key'' ü 2', 3, 3, 3, 3, 'item_versions ''provenance'' ü 2', X'00FF02', 3);
INSERT INTO items(n, id, type, owner, author, visibility, group_id, scope, origin, parent, stale, version, name, tags, subject, key, supersedes, superseded_by, valid_from, valid_to, confidence, validated, quarantined, expires_at, source, thread, content_hash, tokens, current, created_at, updated_at, deleted_at, deleted_by, said_by, told_at, shapes, terms, provenance, data) VALUES (1, 'items ''id'' ü 0', 'entity', 'entities ''id'' ü 0', 'items ''author'' ü 0', 'private', 'items ''group_id'' ü 0', 1, 'items ''origin'' ü 0', 'items ''parent'' ü 0', '', 1, 'items ''name'' ü 0', 'items ''tags'' ü 0', 'items ''subject'' ü 0', 'items ''key'' ü 0', 'items ''supersedes'' ü 0', 'items ''superseded_by'' ü 0', 1, 1, 1, 1, 1, 1, 'user', 'items ''thread'' ü 0', X'00FF00', 1, 1, 1, 1, 1, 'items ''deleted_by'' ü 0', 'items ''said_by'' ü 0', 1, 1, 'items ''terms'' ü 0', 'items ''provenance'' ü 0', 'items ''data'' ü 0');
INSERT INTO items(n, id, type, owner, author, visibility, group_id, scope, origin, parent, stale, version, name, tags, subject, key, supersedes, superseded_by, valid_from, valid_to, confidence, validated, quarantined, expires_at, source, thread, content_hash, tokens, current, created_at, updated_at, deleted_at, deleted_by, said_by, told_at, shapes, terms, provenance, data) VALUES (2, 'items ''id'' ü 1', 'session', 'entities ''id'' ü 1', 'items ''author'' ü 1', 'group', 'items ''group_id'' ü 1', 2, 'items ''origin'' ü 1', 'items ''parent'' ü 1', 'corrected', 2, 'items ''name'' ü 1', 'items ''tags'' ü 1', 'items ''subject'' ü 1', 'items ''key'' ü 1', 'items ''supersedes'' ü 1', 'items ''superseded_by'' ü 1', 2, 2, 2, 2, 2, 2, 'agent', 'items ''thread'' ü 1', X'00FF01', 2, 2, 2, 2, 2, 'items ''deleted_by'' ü 1', 'items ''said_by'' ü 1', 2, 2, 'items ''terms'' ü 1', 'items ''provenance'' ü 1', 'items ''data'' ü 1');
INSERT INTO items(n, id, type, owner, author, visibility, group_id, scope, origin, parent, stale, version, name, tags, subject, key, supersedes, superseded_by, valid_from, valid_to, confidence, validated, quarantined, expires_at, source, thread, content_hash, tokens, current, created_at, updated_at, deleted_at, deleted_by, said_by, told_at, shapes, terms, provenance, data) VALUES (3, 'items ''id'' ü 2', 'learning', 'entities ''id'' ü 2', 'items ''author'' ü 2', 'public', 'items ''group_id'' ü 2', 3, 'items ''origin'' ü 2', 'items ''parent'' ü 2', 'refuted', 3, 'items ''name'' ü 2', 'items ''tags'' ü 2', 'items ''subject'' ü 2', 'items ''key'' ü 2', 'items ''supersedes'' ü 2', 'items ''superseded_by'' ü 2', 3, 3, 3, 3, 3, 3, 'tool', 'items ''thread'' ü 2', X'00FF02', 3, 3, 3, 3, 3, 'items ''deleted_by'' ü 2', 'items ''said_by'' ü 2', 3, 3, 'items ''terms'' ü 2', 'items ''provenance'' ü 2', 'items ''data'' ü 2');
INSERT INTO l1(entity_id, doc, doc_hash, updated_at, session_count, session_id, session_start, session_end, chain_hash, previous_hash, content_hash, archived_at) VALUES ('entities ''id'' ü 0', 'l1 ''doc'' ü 0', X'00FF00', 1, 1, 'l1 ''session_id'' ü 0', 1, 1, X'00FF00', X'00FF00', X'00FF00', 1);
INSERT INTO l1(entity_id, doc, doc_hash, updated_at, session_count, session_id, session_start, session_end, chain_hash, previous_hash, content_hash, archived_at) VALUES ('entities ''id'' ü 1', 'l1 ''doc'' ü 1', X'00FF01', 2, 2, 'l1 ''session_id'' ü 1', 2, 2, X'00FF01', X'00FF01', X'00FF01', 2);
INSERT INTO l1(entity_id, doc, doc_hash, updated_at, session_count, session_id, session_start, session_end, chain_hash, previous_hash, content_hash, archived_at) VALUES ('entities ''id'' ü 2', 'l1 ''doc'' ü 2', X'00FF02', 3, 3, 'l1 ''session_id'' ü 2', 3, 3, X'00FF02', X'00FF02', X'00FF02', 3);
INSERT INTO lessons(item, task, kind, content_hash) VALUES (1, 'lessons ''task'' ü 0', 'episodic', X'00FF00');
INSERT INTO lessons(item, task, kind, content_hash) VALUES (2, 'lessons ''task'' ü 1', 'procedural', X'00FF01');
INSERT INTO lessons(item, task, kind, content_hash) VALUES (3, 'lessons ''task'' ü 2', 'episodic', X'00FF02');
INSERT INTO mcp_tasks(id, owner, tool, arguments, state, until, created_at, updated_at, expires_at, result, refusal) VALUES ('mcp_tasks ''id'' ü 0', 'entities ''id'' ü 0', 'mcp_tasks ''tool'' ü 0', 'mcp_tasks ''arguments'' ü 0', 'waiting', 1, 1, 1, 1, 'mcp_tasks ''result'' ü 0', 'mcp_tasks ''refusal'' ü 0');
INSERT INTO mcp_tasks(id, owner, tool, arguments, state, until, created_at, updated_at, expires_at, result, refusal) VALUES ('mcp_tasks ''id'' ü 1', 'entities ''id'' ü 1', 'mcp_tasks ''tool'' ü 1', 'mcp_tasks ''arguments'' ü 1', 'answered', 2, 2, 2, 2, 'mcp_tasks ''result'' ü 1', 'mcp_tasks ''refusal'' ü 1');
INSERT INTO mcp_tasks(id, owner, tool, arguments, state, until, created_at, updated_at, expires_at, result, refusal) VALUES ('mcp_tasks ''id'' ü 2', 'entities ''id'' ü 2', 'mcp_tasks ''tool'' ü 2', 'mcp_tasks ''arguments'' ü 2', 'cancelled', 3, 3, 3, 3, 'mcp_tasks ''result'' ü 2', 'mcp_tasks ''refusal'' ü 2');
INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES ('groups ''id'' ü 0', 'entities ''id'' ü 0', 'owner', 'members ''added_by'' ü 0', 1);
INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES ('groups ''id'' ü 1', 'entities ''id'' ü 1', 'admin', 'members ''added_by'' ü 1', 2);
INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES ('groups ''id'' ü 2', 'entities ''id'' ü 2', 'member', 'members ''added_by'' ü 2', 3);
INSERT INTO mentioned(entity_id, stream, seq) VALUES ('mentioned ''entity_id'' ü 0', 'mentioned ''stream'' ü 0', 1);
INSERT INTO mentioned(entity_id, stream, seq) VALUES ('mentioned ''entity_id'' ü 1', 'mentioned ''stream'' ü 1', 2);
INSERT INTO mentioned(entity_id, stream, seq) VALUES ('mentioned ''entity_id'' ü 2', 'mentioned ''stream'' ü 2', 3);
INSERT INTO node(name, value) VALUES ('node ''name'' ü 0', 'node ''value'' ü 0');
INSERT INTO node(name, value) VALUES ('node ''name'' ü 1', 'node ''value'' ü 1');
INSERT INTO node(name, value) VALUES ('node ''name'' ü 2', 'node ''value'' ü 2');
INSERT INTO predictions(item, agent, check_json, check_hash, due, seen_at, retry_at, outcome, resolved_at, made_at) VALUES ('predictions ''item'' ü 0', 'predictions ''agent'' ü 0', 'predictions ''check_json'' ü 0', X'00FF00', 1, 1, 1, '', 1, 1);
INSERT INTO predictions(item, agent, check_json, check_hash, due, seen_at, retry_at, outcome, resolved_at, made_at) VALUES ('predictions ''item'' ü 1', 'predictions ''agent'' ü 1', 'predictions ''check_json'' ü 1', X'00FF01', 2, 2, 2, 'right', 2, 2);
INSERT INTO predictions(item, agent, check_json, check_hash, due, seen_at, retry_at, outcome, resolved_at, made_at) VALUES ('predictions ''item'' ü 2', 'predictions ''agent'' ü 2', 'predictions ''check_json'' ü 2', X'00FF02', 3, 3, 3, 'wrong', 3, 3);
INSERT INTO proposals(id, author, item, staging, target, supersedes, words, person, added, state, decided_by, decided_at, reason, result, at, over_boot, over_mono) VALUES ('proposals ''id'' ü 0', 'entities ''id'' ü 0', 'proposals ''item'' ü 0', 'proposals ''staging'' ü 0', 'proposals ''target'' ü 0', 'proposals ''supersedes'' ü 0', X'00FF00', 1, 1, 'pending', 'proposals ''decided_by'' ü 0', 1, 'proposals ''reason'' ü 0', 'proposals ''result'' ü 0', 1, 'proposals ''over_boot'' ü 0', 1);
INSERT INTO proposals(id, author, item, staging, target, supersedes, words, person, added, state, decided_by, decided_at, reason, result, at, over_boot, over_mono) VALUES ('proposals ''id'' ü 1', 'entities ''id'' ü 1', 'proposals ''item'' ü 1', 'proposals ''staging'' ü 1', 'proposals ''target'' ü 1', 'proposals ''supersedes'' ü 1', X'00FF01', 2, 2, 'approved', 'proposals ''decided_by'' ü 1', 2, 'proposals ''reason'' ü 1', 'proposals ''result'' ü 1', 2, 'proposals ''over_boot'' ü 1', 2);
INSERT INTO proposals(id, author, item, staging, target, supersedes, words, person, added, state, decided_by, decided_at, reason, result, at, over_boot, over_mono) VALUES ('proposals ''id'' ü 2', 'entities ''id'' ü 2', 'proposals ''item'' ü 2', 'proposals ''staging'' ü 2', 'proposals ''target'' ü 2', 'proposals ''supersedes'' ü 2', X'00FF02', 3, 3, 'rejected', 'proposals ''decided_by'' ü 2', 3, 'proposals ''reason'' ü 2', 'proposals ''result'' ü 2', 3, 'proposals ''over_boot'' ü 2', 3);
INSERT INTO quarantined_items(item, quarantine) VALUES (1, 1);
INSERT INTO quarantined_items(item, quarantine) VALUES (2, 2);
INSERT INTO quarantined_items(item, quarantine) VALUES (3, 3);
INSERT INTO quarantines(n, agent, by, reason, at, lifted_at, lifted_by) VALUES (1, 'quarantines ''agent'' ü 0', 'quarantines ''by'' ü 0', 'quarantines ''reason'' ü 0', 1, 1, 'quarantines ''lifted_by'' ü 0');
INSERT INTO quarantines(n, agent, by, reason, at, lifted_at, lifted_by) VALUES (2, 'quarantines ''agent'' ü 1', 'quarantines ''by'' ü 1', 'quarantines ''reason'' ü 1', 2, 2, 'quarantines ''lifted_by'' ü 1');
INSERT INTO quarantines(n, agent, by, reason, at, lifted_at, lifted_by) VALUES (3, 'quarantines ''agent'' ü 2', 'quarantines ''by'' ü 2', 'quarantines ''reason'' ü 2', 3, 3, 'quarantines ''lifted_by'' ü 2');
INSERT INTO rechecks(item) VALUES (1);
INSERT INTO rechecks(item) VALUES (2);
INSERT INTO rechecks(item) VALUES (3);
INSERT INTO recorded_calls(run, seq, tool, input, exit, head, tail, started_at, ended_at) VALUES (1, 1, 'recorded_calls ''tool'' ü 0', 'recorded_calls ''input'' ü 0', 1, 'recorded_calls ''head'' ü 0', 'recorded_calls ''tail'' ü 0', 1, 1);
INSERT INTO recorded_calls(run, seq, tool, input, exit, head, tail, started_at, ended_at) VALUES (2, 2, 'recorded_calls ''tool'' ü 1', 'recorded_calls ''input'' ü 1', 2, 'recorded_calls ''head'' ü 1', 'recorded_calls ''tail'' ü 1', 2, 2);
INSERT INTO recorded_calls(run, seq, tool, input, exit, head, tail, started_at, ended_at) VALUES (3, 3, 'recorded_calls ''tool'' ü 2', 'recorded_calls ''input'' ü 2', 3, 'recorded_calls ''head'' ü 2', 'recorded_calls ''tail'' ü 2', 3, 3);
INSERT INTO releases(item, content_hash, released, by, at) VALUES (1, X'00FF00', 1, 'releases ''by'' ü 0', 1);
INSERT INTO releases(item, content_hash, released, by, at) VALUES (2, X'00FF01', 2, 'releases ''by'' ü 1', 2);
INSERT INTO releases(item, content_hash, released, by, at) VALUES (3, X'00FF02', 3, 'releases ''by'' ü 2', 3);
INSERT INTO returns(id, agent, group_id, divergence, sessions, session_count, chain_hash, batch_hash, statement, signature, at, closed_at, over_boot, over_mono) VALUES ('returns ''id'' ü 0', 'entities ''id'' ü 0', 'returns ''group_id'' ü 0', 'match', 1, 1, X'00FF00', X'00FF00', X'00FF00', X'00FF00', 1, 1, 'returns ''over_boot'' ü 0', 1);
INSERT INTO returns(id, agent, group_id, divergence, sessions, session_count, chain_hash, batch_hash, statement, signature, at, closed_at, over_boot, over_mono) VALUES ('returns ''id'' ü 1', 'entities ''id'' ü 1', 'returns ''group_id'' ü 1', 'gap', 2, 2, X'00FF01', X'00FF01', X'00FF01', X'00FF01', 2, 2, 'returns ''over_boot'' ü 1', 2);
INSERT INTO returns(id, agent, group_id, divergence, sessions, session_count, chain_hash, batch_hash, statement, signature, at, closed_at, over_boot, over_mono) VALUES ('returns ''id'' ü 2', 'entities ''id'' ü 2', 'returns ''group_id'' ü 2', 'fork', 3, 3, X'00FF02', X'00FF02', X'00FF02', X'00FF02', 3, 3, 'returns ''over_boot'' ü 2', 3);
INSERT INTO reviews(id, return_id, item, target, hash, words, person, state, decided_by, decided_at, reason, result) VALUES ('reviews ''id'' ü 0', 'returns ''id'' ü 0', 'reviews ''item'' ü 0', 'reviews ''target'' ü 0', X'00FF00', X'00FF00', 1, 'pending', 'reviews ''decided_by'' ü 0', 1, 'reviews ''reason'' ü 0', 'reviews ''result'' ü 0');
INSERT INTO reviews(id, return_id, item, target, hash, words, person, state, decided_by, decided_at, reason, result) VALUES ('reviews ''id'' ü 1', 'returns ''id'' ü 1', 'reviews ''item'' ü 1', 'reviews ''target'' ü 1', X'00FF01', X'00FF01', 2, 'approved', 'reviews ''decided_by'' ü 1', 2, 'reviews ''reason'' ü 1', 'reviews ''result'' ü 1');
INSERT INTO reviews(id, return_id, item, target, hash, words, person, state, decided_by, decided_at, reason, result) VALUES ('reviews ''id'' ü 2', 'returns ''id'' ü 2', 'reviews ''item'' ü 2', 'reviews ''target'' ü 2', X'00FF02', X'00FF02', 3, 'rejected', 'reviews ''decided_by'' ü 2', 3, 'reviews ''reason'' ü 2', 'reviews ''result'' ü 2');
INSERT INTO role_asks(id, workspace, kind, agent, asked, decision, title, shows, data, outside, hash, deadline, follows, state, decided_by, decided_at, reason, at) VALUES ('role_asks ''id'' ü 0', 'workspaces ''id'' ü 0', 'escalation', 'entities ''id'' ü 0', 'entities ''id'' ü 0', 1, 'role_asks ''title'' ü 0', 'role_asks ''shows'' ü 0', 'role_asks ''data'' ü 0', 1, 'role_asks ''hash'' ü 0', 1, 'escalate', 'pending', 'role_asks ''decided_by'' ü 0', 1, 'role_asks ''reason'' ü 0', 1);
INSERT INTO role_asks(id, workspace, kind, agent, asked, decision, title, shows, data, outside, hash, deadline, follows, state, decided_by, decided_at, reason, at) VALUES ('role_asks ''id'' ü 1', 'workspaces ''id'' ü 1', 'approval', 'entities ''id'' ü 1', 'entities ''id'' ü 1', 2, 'role_asks ''title'' ü 1', 'role_asks ''shows'' ü 1', 'role_asks ''data'' ü 1', 2, 'role_asks ''hash'' ü 1', 2, 'refuse', 'approved', 'role_asks ''decided_by'' ü 1', 2, 'role_asks ''reason'' ü 1', 2);
INSERT INTO role_asks(id, workspace, kind, agent, asked, decision, title, shows, data, outside, hash, deadline, follows, state, decided_by, decided_at, reason, at) VALUES ('role_asks ''id'' ü 2', 'workspaces ''id'' ü 2', 'request', 'entities ''id'' ü 2', 'entities ''id'' ü 2', 3, 'role_asks ''title'' ü 2', 'role_asks ''shows'' ü 2', 'role_asks ''data'' ü 2', 3, 'role_asks ''hash'' ü 2', 3, 'escalate', 'rejected', 'role_asks ''decided_by'' ü 2', 3, 'role_asks ''reason'' ü 2', 3);
INSERT INTO role_decisions(n, event, agent, hop, action, sandbox, decision, at) VALUES (1, 1, 'role_decisions ''agent'' ü 0', 1, 'delegate', 1, 'role_decisions ''decision'' ü 0', 1);
INSERT INTO role_decisions(n, event, agent, hop, action, sandbox, decision, at) VALUES (2, 2, 'role_decisions ''agent'' ü 1', 2, 'escalate', 2, 'role_decisions ''decision'' ü 1', 2);
INSERT INTO role_decisions(n, event, agent, hop, action, sandbox, decision, at) VALUES (3, 3, 'role_decisions ''agent'' ü 2', 3, 'forward', 3, 'role_decisions ''decision'' ü 2', 3);
INSERT INTO role_deliveries(source, body, id, at) VALUES ('role_deliveries ''source'' ü 0', X'00FF00', 'role_deliveries ''id'' ü 0', 1);
INSERT INTO role_deliveries(source, body, id, at) VALUES ('role_deliveries ''source'' ü 1', X'00FF01', 'role_deliveries ''id'' ü 1', 2);
INSERT INTO role_deliveries(source, body, id, at) VALUES ('role_deliveries ''source'' ü 2', X'00FF02', 'role_deliveries ''id'' ü 2', 3);
INSERT INTO role_drafts(id, workspace, agent, template_id, intent, template, reasoning, ask, at) VALUES ('role_drafts ''id'' ü 0', 'workspaces ''id'' ü 0', 'entities ''id'' ü 0', 'role_drafts ''template_id'' ü 0', 'role_drafts ''intent'' ü 0', 'role_drafts ''template'' ü 0', 'role_drafts ''reasoning'' ü 0', 'role_asks ''id'' ü 0', 1);
INSERT INTO role_drafts(id, workspace, agent, template_id, intent, template, reasoning, ask, at) VALUES ('role_drafts ''id'' ü 1', 'workspaces ''id'' ü 1', 'entities ''id'' ü 1', 'role_drafts ''template_id'' ü 1', 'role_drafts ''intent'' ü 1', 'role_drafts ''template'' ü 1', 'role_drafts ''reasoning'' ü 1', 'role_asks ''id'' ü 1', 2);
INSERT INTO role_drafts(id, workspace, agent, template_id, intent, template, reasoning, ask, at) VALUES ('role_drafts ''id'' ü 2', 'workspaces ''id'' ü 2', 'entities ''id'' ü 2', 'role_drafts ''template_id'' ü 2', 'role_drafts ''intent'' ü 2', 'role_drafts ''template'' ü 2', 'role_drafts ''reasoning'' ü 2', 'role_asks ''id'' ü 2', 3);
INSERT INTO role_episodes(n, decision, event, agent, action, thread, kind, ref, watch, outcome, at, ended_at, due) VALUES (1, 1, 1, 'entities ''id'' ü 0', 'role_episodes ''action'' ü 0', 'role_episodes ''thread'' ü 0', 'work', 'role_episodes ''ref'' ü 0', 'role_episodes ''watch'' ü 0', 'role_episodes ''outcome'' ü 0', 1, 1, 1);
INSERT INTO role_episodes(n, decision, event, agent, action, thread, kind, ref, watch, outcome, at, ended_at, due) VALUES (2, 2, 2, 'entities ''id'' ü 1', 'role_episodes ''action'' ü 1', 'role_episodes ''thread'' ü 1', 'task', 'role_episodes ''ref'' ü 1', 'role_episodes ''watch'' ü 1', 'role_episodes ''outcome'' ü 1', 2, 2, 2);
INSERT INTO role_episodes(n, decision, event, agent, action, thread, kind, ref, watch, outcome, at, ended_at, due) VALUES (3, 3, 3, 'entities ''id'' ü 2', 'role_episodes ''action'' ü 2', 'role_episodes ''thread'' ü 2', 'seat', 'role_episodes ''ref'' ü 2', 'role_episodes ''watch'' ü 2', 'role_episodes ''outcome'' ü 2', 3, 3, 3);
INSERT INTO role_events(n, workspace, source, id, type, domain, said_by, thread, depth, event, hash, at) VALUES (1, 'workspaces ''id'' ü 0', 'role_events ''source'' ü 0', 'role_events ''id'' ü 0', 'role_events ''type'' ü 0', 'role_events ''domain'' ü 0', 'role_events ''said_by'' ü 0', 'role_events ''thread'' ü 0', 1, 'role_events ''event'' ü 0', X'00FF00', 1);
INSERT INTO role_events(n, workspace, source, id, type, domain, said_by, thread, depth, event, hash, at) VALUES (2, 'workspaces ''id'' ü 1', 'role_events ''source'' ü 1', 'role_events ''id'' ü 1', 'role_events ''type'' ü 1', 'role_events ''domain'' ü 1', 'role_events ''said_by'' ü 1', 'role_events ''thread'' ü 1', 2, 'role_events ''event'' ü 1', X'00FF01', 2);
INSERT INTO role_events(n, workspace, source, id, type, domain, said_by, thread, depth, event, hash, at) VALUES (3, 'workspaces ''id'' ü 2', 'role_events ''source'' ü 2', 'role_events ''id'' ü 2', 'role_events ''type'' ü 2', 'role_events ''domain'' ü 2', 'role_events ''said_by'' ü 2', 'role_events ''thread'' ü 2', 3, 'role_events ''event'' ü 2', X'00FF02', 3);
INSERT INTO role_hooks(source, workspace) VALUES ('role_hooks ''source'' ü 0', 'workspaces ''id'' ü 0');
INSERT INTO role_hooks(source, workspace) VALUES ('role_hooks ''source'' ü 1', 'workspaces ''id'' ü 1');
INSERT INTO role_hooks(source, workspace) VALUES ('role_hooks ''source'' ü 2', 'workspaces ''id'' ü 2');
INSERT INTO role_messages(id, workspace, kind, sender, receiver, correlation, content, deadline, late, at, outside) VALUES ('role_messages ''id'' ü 0', 'workspaces ''id'' ü 0', 'request', 'entities ''id'' ü 0', 'entities ''id'' ü 0', 'role_messages ''correlation'' ü 0', 'role_messages ''content'' ü 0', 1, 1, 1, 1);
INSERT INTO role_messages(id, workspace, kind, sender, receiver, correlation, content, deadline, late, at, outside) VALUES ('role_messages ''id'' ü 1', 'workspaces ''id'' ü 1', 'response', 'entities ''id'' ü 1', 'entities ''id'' ü 1', 'role_messages ''correlation'' ü 1', 'role_messages ''content'' ü 1', 2, 2, 2, 2);
INSERT INTO role_messages(id, workspace, kind, sender, receiver, correlation, content, deadline, late, at, outside) VALUES ('role_messages ''id'' ü 2', 'workspaces ''id'' ü 2', 'notification', 'entities ''id'' ü 2', 'entities ''id'' ü 2', 'role_messages ''correlation'' ü 2', 'role_messages ''content'' ü 2', 3, 3, 3, 3);
INSERT INTO role_recommendations(id, agent, template, signal, params, reason, strength, at) VALUES ('role_recommendations ''id'' ü 0', 'entities ''id'' ü 0', 'role_recommendations ''template'' ü 0', 'role_recommendations ''signal'' ü 0', 'role_recommendations ''params'' ü 0', 'role_recommendations ''reason'' ü 0', 0.5, 1);
INSERT INTO role_recommendations(id, agent, template, signal, params, reason, strength, at) VALUES ('role_recommendations ''id'' ü 1', 'entities ''id'' ü 1', 'role_recommendations ''template'' ü 1', 'role_recommendations ''signal'' ü 1', 'role_recommendations ''params'' ü 1', 'role_recommendations ''reason'' ü 1', 1.5, 2);
INSERT INTO role_recommendations(id, agent, template, signal, params, reason, strength, at) VALUES ('role_recommendations ''id'' ü 2', 'entities ''id'' ü 2', 'role_recommendations ''template'' ü 2', 'role_recommendations ''signal'' ü 2', 'role_recommendations ''params'' ü 2', 'role_recommendations ''reason'' ü 2', 2.5, 3);
INSERT INTO role_schedules(agent, n, next_at) VALUES ('entities ''id'' ü 0', 1, 1);
INSERT INTO role_schedules(agent, n, next_at) VALUES ('entities ''id'' ü 1', 2, 2);
INSERT INTO role_schedules(agent, n, next_at) VALUES ('entities ''id'' ü 2', 3, 3);
INSERT INTO role_streams(workspace, stream, seq) VALUES ('workspaces ''id'' ü 0', 'role_streams ''stream'' ü 0', 1);
INSERT INTO role_streams(workspace, stream, seq) VALUES ('workspaces ''id'' ü 1', 'role_streams ''stream'' ü 1', 2);
INSERT INTO role_streams(workspace, stream, seq) VALUES ('workspaces ''id'' ü 2', 'role_streams ''stream'' ü 2', 3);
INSERT INTO role_threads(workspace, alias, thread) VALUES ('workspaces ''id'' ü 0', 'role_threads ''alias'' ü 0', 'role_threads ''thread'' ü 0');
INSERT INTO role_threads(workspace, alias, thread) VALUES ('workspaces ''id'' ü 1', 'role_threads ''alias'' ü 1', 'role_threads ''thread'' ü 1');
INSERT INTO role_threads(workspace, alias, thread) VALUES ('workspaces ''id'' ü 2', 'role_threads ''alias'' ü 2', 'role_threads ''thread'' ü 2');
INSERT INTO roles(agent, workspace, role_id, charter, state, parent, template, created_by, created_at, activated_at, terminated_at, until, reason) VALUES ('entities ''id'' ü 0', 'workspaces ''id'' ü 0', 'roles ''role_id'' ü 0', 'roles ''charter'' ü 0', 'draft', 'roles ''parent'' ü 0', 'roles ''template'' ü 0', 'roles ''created_by'' ü 0', 1, 1, 1, 1, 'roles ''reason'' ü 0');
INSERT INTO roles(agent, workspace, role_id, charter, state, parent, template, created_by, created_at, activated_at, terminated_at, until, reason) VALUES ('entities ''id'' ü 1', 'workspaces ''id'' ü 1', 'roles ''role_id'' ü 1', 'roles ''charter'' ü 1', 'testing', 'roles ''parent'' ü 1', 'roles ''template'' ü 1', 'roles ''created_by'' ü 1', 2, 2, 2, 2, 'roles ''reason'' ü 1');
INSERT INTO roles(agent, workspace, role_id, charter, state, parent, template, created_by, created_at, activated_at, terminated_at, until, reason) VALUES ('entities ''id'' ü 2', 'workspaces ''id'' ü 2', 'roles ''role_id'' ü 2', 'roles ''charter'' ü 2', 'active', 'roles ''parent'' ü 2', 'roles ''template'' ü 2', 'roles ''created_by'' ü 2', 3, 3, 3, 3, 'roles ''reason'' ü 2');
INSERT INTO schema_version(version, name, at) VALUES (1, 'foundation', 1);
INSERT INTO schema_version(version, name, at) VALUES (10, 'tasks', 10);
INSERT INTO schema_version(version, name, at) VALUES (11, 'mcp_tasks', 11);
INSERT INTO schema_version(version, name, at) VALUES (12, 'successors', 12);
INSERT INTO schema_version(version, name, at) VALUES (13, 'invitations', 13);
INSERT INTO schema_version(version, name, at) VALUES (14, 'trust', 14);
INSERT INTO schema_version(version, name, at) VALUES (15, 'capability', 15);
INSERT INTO schema_version(version, name, at) VALUES (16, 'mentioned', 16);
INSERT INTO schema_version(version, name, at) VALUES (17, 'proposals', 17);
INSERT INTO schema_version(version, name, at) VALUES (18, 'gate', 18);
INSERT INTO schema_version(version, name, at) VALUES (19, 'short_ids', 19);
INSERT INTO schema_version(version, name, at) VALUES (2, 'memory', 2);
INSERT INTO schema_version(version, name, at) VALUES (20, 'recorded', 20);
INSERT INTO schema_version(version, name, at) VALUES (21, 'ranks', 21);
INSERT INTO schema_version(version, name, at) VALUES (22, 'held_words', 22);
INSERT INTO schema_version(version, name, at) VALUES (23, 'roles', 23);
INSERT INTO schema_version(version, name, at) VALUES (24, 'hook_calls', 24);
INSERT INTO schema_version(version, name, at) VALUES (25, 'told', 25);
INSERT INTO schema_version(version, name, at) VALUES (26, 'recent', 26);
INSERT INTO schema_version(version, name, at) VALUES (27, 'artefacts', 27);
INSERT INTO schema_version(version, name, at) VALUES (28, 'role_words', 28);
INSERT INTO schema_version(version, name, at) VALUES (29, 'role_due', 29);
INSERT INTO schema_version(version, name, at) VALUES (3, 'embeddings', 3);
INSERT INTO schema_version(version, name, at) VALUES (30, 'listings', 30);
INSERT INTO schema_version(version, name, at) VALUES (31, 'audit_leaf', 31);
INSERT INTO schema_version(version, name, at) VALUES (32, 'plans', 32);
INSERT INTO schema_version(version, name, at) VALUES (33, 'retention', 33);
INSERT INTO schema_version(version, name, at) VALUES (34, 'words', 34);
INSERT INTO schema_version(version, name, at) VALUES (35, 'names', 35);
INSERT INTO schema_version(version, name, at) VALUES (4, 'trust', 4);
INSERT INTO schema_version(version, name, at) VALUES (5, 'work', 5);
INSERT INTO schema_version(version, name, at) VALUES (6, 'provenance', 6);
INSERT INTO schema_version(version, name, at) VALUES (7, 'bindings', 7);
INSERT INTO schema_version(version, name, at) VALUES (8, 'swarm', 8);
INSERT INTO schema_version(version, name, at) VALUES (9, 'review', 9);
INSERT INTO scopes(n, visibility, ref, items) VALUES (1, 'private', 'scopes ''ref'' ü 0', 1);
INSERT INTO scopes(n, visibility, ref, items) VALUES (2, 'group', 'scopes ''ref'' ü 1', 2);
INSERT INTO scopes(n, visibility, ref, items) VALUES (3, 'public', 'scopes ''ref'' ü 2', 3);
INSERT INTO seat_runs(n, item, fence, client, model, payer, outcome, reason, records, input_tokens, cached_tokens, written_tokens, output_tokens, cost, started_at, ended_at) VALUES (1, 1, 1, 'seat_runs ''client'' ü 0', 'seat_runs ''model'' ü 0', 'seat_runs ''payer'' ü 0', 'answered', 'seat_runs ''reason'' ü 0', 1, 1, 1, 1, 1, 1, 1, 1);
INSERT INTO seat_runs(n, item, fence, client, model, payer, outcome, reason, records, input_tokens, cached_tokens, written_tokens, output_tokens, cost, started_at, ended_at) VALUES (2, 2, 2, 'seat_runs ''client'' ü 1', 'seat_runs ''model'' ü 1', 'seat_runs ''payer'' ü 1', 'failed', 'seat_runs ''reason'' ü 1', 2, 2, 2, 2, 2, 2, 2, 2);
INSERT INTO seat_runs(n, item, fence, client, model, payer, outcome, reason, records, input_tokens, cached_tokens, written_tokens, output_tokens, cost, started_at, ended_at) VALUES (3, 3, 3, 'seat_runs ''client'' ü 2', 'seat_runs ''model'' ü 2', 'seat_runs ''payer'' ü 2', 'postponed', 'seat_runs ''reason'' ü 2', 3, 3, 3, 3, 3, 3, 3, 3);
INSERT INTO slots(entity_id, id, expires_at, keeps, process) VALUES ('slots ''entity_id'' ü 0', 'slots ''id'' ü 0', 1, 1, 'slots ''process'' ü 0');
INSERT INTO slots(entity_id, id, expires_at, keeps, process) VALUES ('slots ''entity_id'' ü 1', 'slots ''id'' ü 1', 2, 2, 'slots ''process'' ü 1');
INSERT INTO slots(entity_id, id, expires_at, keeps, process) VALUES ('slots ''entity_id'' ü 2', 'slots ''id'' ü 2', 3, 3, 'slots ''process'' ü 2');
INSERT INTO streams(name, head, removed) VALUES ('streams ''name'' ü 0', 1, 1);
INSERT INTO streams(name, head, removed) VALUES ('streams ''name'' ü 1', 2, 2);
INSERT INTO streams(name, head, removed) VALUES ('streams ''name'' ü 2', 3, 3);
INSERT INTO subscriptions(entity_id, type, group_id) VALUES ('entities ''id'' ü 0', 'subscriptions ''type'' ü 0', 'subscriptions ''group_id'' ü 0');
INSERT INTO subscriptions(entity_id, type, group_id) VALUES ('entities ''id'' ü 1', 'subscriptions ''type'' ü 1', 'subscriptions ''group_id'' ü 1');
INSERT INTO subscriptions(entity_id, type, group_id) VALUES ('entities ''id'' ü 2', 'subscriptions ''type'' ü 2', 'subscriptions ''group_id'' ü 2');
INSERT INTO subtasks(n, id, task, round, sequence, state, attempt, planned, attempted, outcome) VALUES (1, 'subtasks ''id'' ü 0', 1, 1, 1, 'waiting', 1, 'subtasks ''planned'' ü 0', 'subtasks ''attempted'' ü 0', 'subtasks ''outcome'' ü 0');
INSERT INTO subtasks(n, id, task, round, sequence, state, attempt, planned, attempted, outcome) VALUES (2, 'subtasks ''id'' ü 1', 2, 2, 2, 'executing', 2, 'subtasks ''planned'' ü 1', 'subtasks ''attempted'' ü 1', 'subtasks ''outcome'' ü 1');
INSERT INTO subtasks(n, id, task, round, sequence, state, attempt, planned, attempted, outcome) VALUES (3, 'subtasks ''id'' ü 2', 3, 3, 3, 'validating', 3, 'subtasks ''planned'' ü 2', 'subtasks ''attempted'' ü 2', 'subtasks ''outcome'' ü 2');
INSERT INTO swarm_agents(swarm_id, entity_id, n, cell) VALUES ('groups ''id'' ü 0', 'entities ''id'' ü 0', 1, 'swarm_agents ''cell'' ü 0');
INSERT INTO swarm_agents(swarm_id, entity_id, n, cell) VALUES ('groups ''id'' ü 1', 'entities ''id'' ü 1', 2, 'swarm_agents ''cell'' ü 1');
INSERT INTO swarm_agents(swarm_id, entity_id, n, cell) VALUES ('groups ''id'' ü 2', 'entities ''id'' ü 2', 3, 'swarm_agents ''cell'' ü 2');
INSERT INTO swarm_slots(swarm_id, n, slot, agent_type, capabilities, made) VALUES ('groups ''id'' ü 0', 1, 'swarm_slots ''slot'' ü 0', 'swarm_slots ''agent_type'' ü 0', 'swarm_slots ''capabilities'' ü 0', 1);
INSERT INTO swarm_slots(swarm_id, n, slot, agent_type, capabilities, made) VALUES ('groups ''id'' ü 1', 2, 'swarm_slots ''slot'' ü 1', 'swarm_slots ''agent_type'' ü 1', 'swarm_slots ''capabilities'' ü 1', 2);
INSERT INTO swarm_slots(swarm_id, n, slot, agent_type, capabilities, made) VALUES ('groups ''id'' ü 2', 3, 'swarm_slots ''slot'' ü 2', 'swarm_slots ''agent_type'' ü 2', 'swarm_slots ''capabilities'' ü 2', 3);
INSERT INTO swarms(id, goal, strategy, creator, coordinator, created_at, ended_at, answer) VALUES ('groups ''id'' ü 0', 'swarms ''goal'' ü 0', 'broadcast', 'entities ''id'' ü 0', 'swarms ''coordinator'' ü 0', 1, 1, 'swarms ''answer'' ü 0');
INSERT INTO swarms(id, goal, strategy, creator, coordinator, created_at, ended_at, answer) VALUES ('groups ''id'' ü 1', 'swarms ''goal'' ü 1', 'pipeline', 'entities ''id'' ü 1', 'swarms ''coordinator'' ü 1', 2, 2, 'swarms ''answer'' ü 1');
INSERT INTO swarms(id, goal, strategy, creator, coordinator, created_at, ended_at, answer) VALUES ('groups ''id'' ü 2', 'swarms ''goal'' ü 2', 'hierarchical', 'entities ''id'' ü 2', 'swarms ''coordinator'' ü 2', 3, 3, 'swarms ''answer'' ü 2');
INSERT INTO tainted_sessions(entity_id, session, at) VALUES ('tainted_sessions ''entity_id'' ü 0', 'tainted_sessions ''session'' ü 0', 1);
INSERT INTO tainted_sessions(entity_id, session, at) VALUES ('tainted_sessions ''entity_id'' ü 1', 'tainted_sessions ''session'' ü 1', 2);
INSERT INTO tainted_sessions(entity_id, session, at) VALUES ('tainted_sessions ''entity_id'' ü 2', 'tainted_sessions ''session'' ü 2', 3);
INSERT INTO task_artefacts(task, path, sum) VALUES (1, 'task_artefacts ''path'' ü 0', 'task_artefacts ''sum'' ü 0');
INSERT INTO task_artefacts(task, path, sum) VALUES (2, 'task_artefacts ''path'' ü 1', 'task_artefacts ''sum'' ü 1');
INSERT INTO task_artefacts(task, path, sum) VALUES (3, 'task_artefacts ''path'' ü 2', 'task_artefacts ''sum'' ü 2');
INSERT INTO task_messages(n, id, task, round, subtask, sender, receiver, actor, record, message, at) VALUES (1, 'task_messages ''id'' ü 0', 1, 1, 'task_messages ''subtask'' ü 0', 'task_messages ''sender'' ü 0', 'task_messages ''receiver'' ü 0', 'task_messages ''actor'' ü 0', 'task_messages ''record'' ü 0', 'task_messages ''message'' ü 0', 1);
INSERT INTO task_messages(n, id, task, round, subtask, sender, receiver, actor, record, message, at) VALUES (2, 'task_messages ''id'' ü 1', 2, 2, 'task_messages ''subtask'' ü 1', 'task_messages ''sender'' ü 1', 'task_messages ''receiver'' ü 1', 'task_messages ''actor'' ü 1', 'task_messages ''record'' ü 1', 'task_messages ''message'' ü 1', 2);
INSERT INTO task_messages(n, id, task, round, subtask, sender, receiver, actor, record, message, at) VALUES (3, 'task_messages ''id'' ü 2', 3, 3, 'task_messages ''subtask'' ü 2', 'task_messages ''sender'' ü 2', 'task_messages ''receiver'' ü 2', 'task_messages ''actor'' ü 2', 'task_messages ''record'' ü 2', 'task_messages ''message'' ü 2', 3);
INSERT INTO task_rounds(task, round, plan, manifest, constraints, merge, directive) VALUES (1, 1, 'task_rounds ''plan'' ü 0', 'task_rounds ''manifest'' ü 0', 'task_rounds ''constraints'' ü 0', 'task_rounds ''merge'' ü 0', 'task_rounds ''directive'' ü 0');
INSERT INTO task_rounds(task, round, plan, manifest, constraints, merge, directive) VALUES (2, 2, 'task_rounds ''plan'' ü 1', 'task_rounds ''manifest'' ü 1', 'task_rounds ''constraints'' ü 1', 'task_rounds ''merge'' ü 1', 'task_rounds ''directive'' ü 1');
INSERT INTO task_rounds(task, round, plan, manifest, constraints, merge, directive) VALUES (3, 3, 'task_rounds ''plan'' ü 2', 'task_rounds ''manifest'' ü 2', 'task_rounds ''constraints'' ü 2', 'task_rounds ''merge'' ü 2', 'task_rounds ''directive'' ü 2');
INSERT INTO task_seats(item, task, round, subtask, role, attempt, answers, refused, facts, check_by) VALUES (1, 1, 1, 1, 'R1', 1, 1, 'task_seats ''refused'' ü 0', 'task_seats ''facts'' ü 0', 1);
INSERT INTO task_seats(item, task, round, subtask, role, attempt, answers, refused, facts, check_by) VALUES (2, 2, 2, 2, 'R2', 2, 2, 'task_seats ''refused'' ü 1', 'task_seats ''facts'' ü 1', 2);
INSERT INTO task_seats(item, task, round, subtask, role, attempt, answers, refused, facts, check_by) VALUES (3, 3, 3, 3, 'R3', 3, 3, 'task_seats ''refused'' ü 2', 'task_seats ''facts'' ü 2', 3);
INSERT INTO tasks(n, id, submitter, group_id, state, round, replans, clarifications, held, deadline, created_at, updated_at, accepted_at, finished_at, request, spec, questions, tools, settings, trail, result, decide_by) VALUES (1, 'tasks ''id'' ü 0', 'entities ''id'' ü 0', 'tasks ''group_id'' ü 0', 'perceiving', 1, 1, 1, 1, 1, 1, 1, 1, 1, 'tasks ''request'' ü 0', 'tasks ''spec'' ü 0', 'tasks ''questions'' ü 0', 'tasks ''tools'' ü 0', 'tasks ''settings'' ü 0', 'tasks ''trail'' ü 0', 'tasks ''result'' ü 0', 1);
INSERT INTO tasks(n, id, submitter, group_id, state, round, replans, clarifications, held, deadline, created_at, updated_at, accepted_at, finished_at, request, spec, questions, tools, settings, trail, result, decide_by) VALUES (2, 'tasks ''id'' ü 1', 'entities ''id'' ü 1', 'tasks ''group_id'' ü 1', 'clarifying', 2, 2, 2, 2, 2, 2, 2, 2, 2, 'tasks ''request'' ü 1', 'tasks ''spec'' ü 1', 'tasks ''questions'' ü 1', 'tasks ''tools'' ü 1', 'tasks ''settings'' ü 1', 'tasks ''trail'' ü 1', 'tasks ''result'' ü 1', 2);
INSERT INTO tasks(n, id, submitter, group_id, state, round, replans, clarifications, held, deadline, created_at, updated_at, accepted_at, finished_at, request, spec, questions, tools, settings, trail, result, decide_by) VALUES (3, 'tasks ''id'' ü 2', 'entities ''id'' ü 2', 'tasks ''group_id'' ü 2', 'planning', 3, 3, 3, 3, 3, 3, 3, 3, 3, 'tasks ''request'' ü 2', 'tasks ''spec'' ü 2', 'tasks ''questions'' ü 2', 'tasks ''tools'' ü 2', 'tasks ''settings'' ü 2', 'tasks ''trail'' ü 2', 'tasks ''result'' ü 2', 3);
INSERT INTO tokens(hash, entity_id, key_seq, audience, issued_at, expires_at) VALUES (X'00FF00', 'tokens ''entity_id'' ü 0', 1, 'tokens ''audience'' ü 0', 1, 1);
INSERT INTO tokens(hash, entity_id, key_seq, audience, issued_at, expires_at) VALUES (X'00FF01', 'tokens ''entity_id'' ü 1', 2, 'tokens ''audience'' ü 1', 2, 2);
INSERT INTO tokens(hash, entity_id, key_seq, audience, issued_at, expires_at) VALUES (X'00FF02', 'tokens ''entity_id'' ü 2', 3, 'tokens ''audience'' ü 2', 3, 3);
INSERT INTO trust_scores(agent, observer, alpha, beta, steps, observations, rights, confirmed, window_start, window_end, updated_at, tier_alpha, tier_beta, tier_steps, tier, by_person, own_alpha, own_beta, ranks_alpha, ranks_beta) VALUES ('trust_scores ''agent'' ü 0', 'trust_scores ''observer'' ü 0', 1, 1, 'trust_scores ''steps'' ü 0', 1, 1, 1, 1, 1, 1, 1, 1, 'trust_scores ''tier_steps'' ü 0', '', 1, 1, 1, 1, 1);
INSERT INTO trust_scores(agent, observer, alpha, beta, steps, observations, rights, confirmed, window_start, window_end, updated_at, tier_alpha, tier_beta, tier_steps, tier, by_person, own_alpha, own_beta, ranks_alpha, ranks_beta) VALUES ('trust_scores ''agent'' ü 1', 'trust_scores ''observer'' ü 1', 2, 2, 'trust_scores ''steps'' ü 1', 2, 2, 2, 2, 2, 2, 2, 2, 'trust_scores ''tier_steps'' ü 1', 'untrusted', 2, 2, 2, 2, 2);
INSERT INTO trust_scores(agent, observer, alpha, beta, steps, observations, rights, confirmed, window_start, window_end, updated_at, tier_alpha, tier_beta, tier_steps, tier, by_person, own_alpha, own_beta, ranks_alpha, ranks_beta) VALUES ('trust_scores ''agent'' ü 2', 'trust_scores ''observer'' ü 2', 3, 3, 'trust_scores ''steps'' ü 2', 3, 3, 3, 3, 3, 3, 3, 3, 'trust_scores ''tier_steps'' ü 2', 'low', 3, 3, 3, 3, 3);
INSERT INTO work_blockers(item, blocker) VALUES (1, 1);
INSERT INTO work_blockers(item, blocker) VALUES (2, 2);
INSERT INTO work_blockers(item, blocker) VALUES (3, 3);
INSERT INTO work_items(n, id, task_id, group_id, submitter, lane, stage, priority, place, state, depends, blockers, not_before, deadline, holder, fence, attempt, lease, claimed_at, lease_until, expiries, releases, max_expiries, outcome, created_at, updated_at, finished_at, reported_at, result_hash, note, intent, brief, result, evidence, seat) VALUES (1, 'work_items ''id'' ü 0', 'work_items ''task_id'' ü 0', 'work_items ''group_id'' ü 0', 'entities ''id'' ü 0', 1, 1, 1, 1, 'waiting', 1, 1, 1, 1, 'work_items ''holder'' ü 0', 1, 1, 1, 1, 1, 1, 1, 1, 'work_items ''outcome'' ü 0', 1, 1, 1, 1, 'work_items ''result_hash'' ü 0', 'work_items ''note'' ü 0', 'work_items ''intent'' ü 0', 'work_items ''brief'' ü 0', 'work_items ''result'' ü 0', 'work_items ''evidence'' ü 0', 1);
INSERT INTO work_items(n, id, task_id, group_id, submitter, lane, stage, priority, place, state, depends, blockers, not_before, deadline, holder, fence, attempt, lease, claimed_at, lease_until, expiries, releases, max_expiries, outcome, created_at, updated_at, finished_at, reported_at, result_hash, note, intent, brief, result, evidence, seat) VALUES (2, 'work_items ''id'' ü 1', 'work_items ''task_id'' ü 1', 'work_items ''group_id'' ü 1', 'entities ''id'' ü 1', 2, 2, 2, 2, 'ready', 2, 2, 2, 2, 'work_items ''holder'' ü 1', 2, 2, 2, 2, 2, 2, 2, 2, 'work_items ''outcome'' ü 1', 2, 2, 2, 2, 'work_items ''result_hash'' ü 1', 'work_items ''note'' ü 1', 'work_items ''intent'' ü 1', 'work_items ''brief'' ü 1', 'work_items ''result'' ü 1', 'work_items ''evidence'' ü 1', 2);
INSERT INTO work_items(n, id, task_id, group_id, submitter, lane, stage, priority, place, state, depends, blockers, not_before, deadline, holder, fence, attempt, lease, claimed_at, lease_until, expiries, releases, max_expiries, outcome, created_at, updated_at, finished_at, reported_at, result_hash, note, intent, brief, result, evidence, seat) VALUES (3, 'work_items ''id'' ü 2', 'work_items ''task_id'' ü 2', 'work_items ''group_id'' ü 2', 'entities ''id'' ü 2', 3, 3, 3, 3, 'leased', 3, 3, 3, 3, 'work_items ''holder'' ü 2', 3, 3, 3, 3, 3, 3, 3, 3, 'work_items ''outcome'' ü 2', 3, 3, 3, 3, 'work_items ''result_hash'' ü 2', 'work_items ''note'' ü 2', 'work_items ''intent'' ü 2', 'work_items ''brief'' ü 2', 'work_items ''result'' ü 2', 'work_items ''evidence'' ü 2', 3);
INSERT INTO work_lanes(n, pool, role, assigned_to, needs, excluded) VALUES (1, 'work_lanes ''pool'' ü 0', 'work_lanes ''role'' ü 0', 'work_lanes ''assigned_to'' ü 0', 'work_lanes ''needs'' ü 0', 'work_lanes ''excluded'' ü 0');
INSERT INTO work_lanes(n, pool, role, assigned_to, needs, excluded) VALUES (2, 'work_lanes ''pool'' ü 1', 'work_lanes ''role'' ü 1', 'work_lanes ''assigned_to'' ü 1', 'work_lanes ''needs'' ü 1', 'work_lanes ''excluded'' ü 1');
INSERT INTO work_lanes(n, pool, role, assigned_to, needs, excluded) VALUES (3, 'work_lanes ''pool'' ü 2', 'work_lanes ''role'' ü 2', 'work_lanes ''assigned_to'' ü 2', 'work_lanes ''needs'' ü 2', 'work_lanes ''excluded'' ü 2');
INSERT INTO work_leases(item, fence, holder, claimed_at, outcome, hash, state, late_at, late, ended_at) VALUES (1, 1, 'work_leases ''holder'' ü 0', 1, 'work_leases ''outcome'' ü 0', 'work_leases ''hash'' ü 0', 'work_leases ''state'' ü 0', 1, 'work_leases ''late'' ü 0', 1);
INSERT INTO work_leases(item, fence, holder, claimed_at, outcome, hash, state, late_at, late, ended_at) VALUES (2, 2, 'work_leases ''holder'' ü 1', 2, 'work_leases ''outcome'' ü 1', 'work_leases ''hash'' ü 1', 'work_leases ''state'' ü 1', 2, 'work_leases ''late'' ü 1', 2);
INSERT INTO work_leases(item, fence, holder, claimed_at, outcome, hash, state, late_at, late, ended_at) VALUES (3, 3, 'work_leases ''holder'' ü 2', 3, 'work_leases ''outcome'' ü 2', 'work_leases ''hash'' ü 2', 'work_leases ''state'' ü 2', 3, 'work_leases ''late'' ü 2', 3);
INSERT INTO workspaces(id, owner, group_id, spec, version, created_at, updated_at) VALUES ('workspaces ''id'' ü 0', 'entities ''id'' ü 0', 'groups ''id'' ü 0', 'workspaces ''spec'' ü 0', 1, 1, 1);
INSERT INTO workspaces(id, owner, group_id, spec, version, created_at, updated_at) VALUES ('workspaces ''id'' ü 1', 'entities ''id'' ü 1', 'groups ''id'' ü 1', 'workspaces ''spec'' ü 1', 2, 2, 2);
INSERT INTO workspaces(id, owner, group_id, spec, version, created_at, updated_at) VALUES ('workspaces ''id'' ü 2', 'entities ''id'' ü 2', 'groups ''id'' ü 2', 'workspaces ''spec'' ü 2', 3, 3, 3);
INSERT INTO items_fts(rowid, entries) VALUES (1, 'kept entries 0');
INSERT INTO items_fts(rowid, entries) VALUES (2, 'kept entries 1');
INSERT INTO items_fts(rowid, entries) VALUES (3, 'kept entries 2');
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
CREATE UNIQUE INDEX items_content ON items(content_hash, scope, owner) WHERE current = 1;
CREATE INDEX items_subject ON items(scope, subject, key) WHERE current = 1 AND subject <> '';
CREATE INDEX items_owner ON items(owner, n);
CREATE INDEX items_group ON items(group_id, owner, author) WHERE group_id <> '';
CREATE INDEX items_origin ON items(origin, group_id) WHERE origin <> '';
CREATE INDEX items_thread ON items(scope, thread, n) WHERE current = 1 AND thread <> '';
CREATE INDEX item_links_other ON item_links(other, kind);
CREATE INDEX embedding_queue_due ON embedding_queue(due_at, item);
CREATE INDEX embedding_queue_claim ON embedding_queue(claim) WHERE claim <> '';
CREATE INDEX embeddings_scan ON embeddings(model, scope, seq, item, bits);
CREATE TRIGGER items_embedded AFTER UPDATE OF content_hash, scope, deleted_at, quarantined, confidence, validated, source ON items
WHEN EXISTS (SELECT 1 FROM embedding_models)
  AND (OLD.content_hash <> NEW.content_hash OR OLD.scope <> NEW.scope OR (OLD.deleted_at = 0) <> (NEW.deleted_at = 0)
    OR (OLD.quarantined = 0 AND OLD.source <> 'archive' AND (OLD.confidence >= 300 OR OLD.validated = 1))
    <> (NEW.quarantined = 0 AND NEW.source <> 'archive' AND (NEW.confidence >= 300 OR NEW.validated = 1)))
BEGIN
  DELETE FROM embeddings WHERE item = NEW.n;
  INSERT INTO embedding_queue(item) VALUES (NEW.n) ON CONFLICT (item) DO UPDATE SET claim = '', due_at = 0, attempts = 0;
END;
CREATE INDEX assessments_item ON assessments(observer, agent, item, witness, seq);
CREATE INDEX assessments_prior ON assessments(agent) WHERE source = 'prior';
CREATE INDEX assessments_temporal ON assessments(agent, at) WHERE source = 'temporal';
CREATE TRIGGER assessments_no_update BEFORE UPDATE ON assessments BEGIN SELECT RAISE(ABORT, 'the trust ledger is append-only'); END;
CREATE TRIGGER assessments_no_delete BEFORE DELETE ON assessments BEGIN SELECT RAISE(ABORT, 'the trust ledger is append-only'); END;
CREATE UNIQUE INDEX assessments_window ON assessments_counted(observer, agent, seq);
CREATE TRIGGER capability_feedback_no_update BEFORE UPDATE ON capability_feedback BEGIN SELECT RAISE(ABORT, 'the trust ledger is append-only'); END;
CREATE TRIGGER capability_feedback_no_delete BEFORE DELETE ON capability_feedback BEGIN SELECT RAISE(ABORT, 'the trust ledger is append-only'); END;
CREATE INDEX predictions_open ON predictions(retry_at) WHERE outcome = '';
CREATE UNIQUE INDEX predictions_once ON predictions(agent, check_hash) WHERE outcome = '';
CREATE TRIGGER predictions_purged AFTER UPDATE OF data ON items WHEN NEW.data = '' AND OLD.data <> ''
BEGIN UPDATE predictions SET check_json = '' WHERE item = NEW.id; END;
CREATE INDEX work_ready ON work_items(lane, priority DESC, place) WHERE state = 'ready';
CREATE INDEX work_holder ON work_items(holder) WHERE state = 'leased';
CREATE INDEX work_lease ON work_items(lease_until) WHERE state = 'leased';
CREATE INDEX work_due ON work_items(not_before) WHERE state = 'waiting' AND blockers = 0;
CREATE INDEX work_deadline ON work_items(deadline) WHERE deadline > 0 AND state IN ('waiting', 'ready', 'leased', 'blocked');
CREATE INDEX work_task ON work_items(task_id);
CREATE INDEX work_submitter ON work_items(submitter, id);
CREATE INDEX work_group ON work_items(group_id, id) WHERE group_id <> '';
CREATE INDEX work_rare_submitter ON work_items(submitter, state, id) WHERE state IN ('held', 'blocked', 'failed', 'cancelled');
CREATE INDEX work_rare_group ON work_items(group_id, state, id) WHERE group_id <> '' AND state IN ('held', 'blocked', 'failed', 'cancelled');
CREATE INDEX work_blockers_of ON work_blockers(blocker, item);
CREATE INDEX work_leases_late ON work_leases(late_at) WHERE late_at > 0;
CREATE INDEX slots_id ON slots(id);
CREATE INDEX items_held ON items(n) WHERE quarantined = 1;
CREATE UNIQUE INDEX quarantines_in_force ON quarantines(by, agent) WHERE lifted_at = 0;
CREATE INDEX quarantined_items_by ON quarantined_items(quarantine);
CREATE INDEX swarm_agents_entity ON swarm_agents(entity_id);
CREATE INDEX groups_swarm ON groups(swarm_id) WHERE swarm_id <> '';
CREATE INDEX returns_agent ON returns(agent, at);
CREATE INDEX returns_open ON returns(group_id) WHERE closed_at = 0;
CREATE INDEX returns_waiting ON returns(at) WHERE closed_at = 0;
CREATE INDEX reviews_return ON reviews(return_id, state, id);
CREATE INDEX reviews_words ON reviews(words) WHERE state <> 'approved';
CREATE INDEX tasks_submitter ON tasks(submitter, id);
CREATE INDEX tasks_group ON tasks(group_id, id) WHERE group_id <> '';
CREATE INDEX tasks_deadline ON tasks(deadline) WHERE deadline > 0 AND state NOT IN ('accepted', 'abandoned', 'cancelled');
CREATE INDEX tasks_review ON tasks(id) WHERE state = 'review';
CREATE INDEX subtasks_round ON subtasks(task, round, sequence, n);
CREATE INDEX task_seats_task ON task_seats(task, subtask);
CREATE INDEX work_unsettled ON work_items(n) WHERE seat = 1 AND state IN ('done', 'failed', 'cancelled');
CREATE INDEX task_messages_task ON task_messages(task, n);
CREATE INDEX task_messages_at ON task_messages(at);
CREATE TRIGGER task_messages_no_update BEFORE UPDATE ON task_messages BEGIN SELECT RAISE(ABORT, 'messages between roles are append-only'); END;
CREATE TRIGGER task_messages_no_delete BEFORE DELETE ON task_messages BEGIN SELECT RAISE(ABORT, 'messages between roles are append-only'); END;
CREATE INDEX mcp_tasks_owner ON mcp_tasks(owner, expires_at);
CREATE INDEX mcp_tasks_expires ON mcp_tasks(expires_at);
CREATE UNIQUE INDEX invitations_open ON invitations(group_id, entity_id) WHERE state = 'pending';
CREATE INDEX invitations_entity ON invitations(entity_id, state);
CREATE INDEX invitations_inviter ON invitations(inviter, at);
CREATE INDEX invitations_waiting ON invitations(at) WHERE state = 'pending';
CREATE UNIQUE INDEX assessments_tier_window ON assessments_counted(observer, agent, seq) WHERE moves_tier = 1;
CREATE INDEX assessments_relayed ON assessments(observer, agent, witness, at) WHERE source = 'relayed';
CREATE INDEX capability_feedback_about ON capability_feedback(agent, capability, about);
CREATE UNIQUE INDEX proposals_once ON proposals(author, target, supersedes, words) WHERE state = 'pending';
CREATE INDEX proposals_waiting ON proposals(at) WHERE state = 'pending';
CREATE INDEX assessments_words ON assessments(item, seq) WHERE item <> '';
CREATE INDEX tasks_decide ON tasks(decide_by) WHERE decide_by > 0 AND state = 'review';
CREATE INDEX task_seats_check ON task_seats(check_by) WHERE check_by > 0;
CREATE INDEX items_short ON items(substr(id, -8));
CREATE INDEX work_short ON work_items(substr(id, -8));
CREATE INDEX work_task_short ON work_items(substr(task_id, -8));
CREATE INDEX seat_runs_item ON seat_runs(item, fence);
CREATE INDEX seat_runs_started ON seat_runs(started_at);
CREATE UNIQUE INDEX assessments_own_window ON assessments_counted(observer, agent, seq) WHERE own = 1;
CREATE INDEX releases_held ON releases(by, content_hash) WHERE released = 0;
CREATE UNIQUE INDEX roles_name ON roles(workspace, role_id) WHERE state <> 'terminated';
CREATE INDEX roles_until ON roles(until) WHERE until > 0 AND state <> 'terminated';
CREATE INDEX role_events_thread ON role_events(workspace, thread, at) WHERE thread <> '';
CREATE INDEX role_decisions_event ON role_decisions(event, hop);
CREATE INDEX role_decisions_agent ON role_decisions(agent, n) WHERE agent <> '';
CREATE INDEX role_episodes_open ON role_episodes(n) WHERE outcome = '';
CREATE INDEX role_episodes_agent ON role_episodes(agent, at);
CREATE INDEX role_episodes_ref ON role_episodes(ref);
CREATE INDEX role_asks_asked ON role_asks(asked, id) WHERE state = 'pending';
CREATE INDEX role_asks_due ON role_asks(deadline) WHERE state = 'pending';
CREATE INDEX role_asks_agent ON role_asks(agent, state);
CREATE INDEX role_messages_receiver ON role_messages(receiver, id);
CREATE INDEX role_messages_correlation ON role_messages(correlation, id);
CREATE INDEX role_schedules_due ON role_schedules(next_at);
CREATE INDEX hook_calls_item ON hook_calls(item, fence);
CREATE INDEX hook_calls_at ON hook_calls(at);
CREATE INDEX items_told ON items(scope, coalesce(nullif(told_at, 0), nullif(valid_from, 0), created_at)) WHERE current = 1;
CREATE INDEX role_episodes_due ON role_episodes(due, n) WHERE due = 1 AND outcome = '';
CREATE TRIGGER role_work_over AFTER UPDATE OF state ON work_items
WHEN NEW.state IN ('done', 'failed', 'cancelled') AND NEW.seat = 0
BEGIN
  UPDATE role_episodes SET due = 1, ended_at = NEW.finished_at WHERE ref = NEW.id AND outcome = '';
END;
CREATE TRIGGER role_task_over AFTER UPDATE OF state ON tasks
WHEN NEW.state IN ('accepted', 'abandoned', 'cancelled')
BEGIN
  UPDATE role_episodes SET due = 1, ended_at = NEW.finished_at WHERE ref = NEW.id AND outcome = '';
END;
CREATE INDEX role_episodes_ended ON role_episodes(agent, ended_at) WHERE ended_at > 0;
CREATE INDEX role_deliveries_at ON role_deliveries(at);
CREATE INDEX role_episodes_decision ON role_episodes(decision);
CREATE INDEX role_asks_decision ON role_asks(decision) WHERE decision > 0;
CREATE INDEX work_state ON work_items(submitter, state, id, attempt);
CREATE INDEX work_group_state ON work_items(group_id, state, id) WHERE group_id <> '';
CREATE INDEX tasks_state ON tasks(submitter, state, id);
CREATE INDEX tasks_group_state ON tasks(group_id, state, id) WHERE group_id <> '';
CREATE INDEX entities_named ON entities(name) WHERE status <> 'removed';
