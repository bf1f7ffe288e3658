-- Workspaces, their roles, what came in, what was decided and what followed. Times are UTC
-- microseconds.

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
CREATE UNIQUE INDEX roles_name ON roles(workspace, role_id) WHERE state <> 'terminated';
CREATE INDEX roles_until ON roles(until) WHERE until > 0 AND state <> 'terminated';

-- Events that were taken. source and id make a delivery the same as one before.
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
CREATE INDEX role_events_thread ON role_events(workspace, thread, at) WHERE thread <> '';

-- What each role on an event's way decided.
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
CREATE INDEX role_decisions_event ON role_decisions(event, hop);
CREATE INDEX role_decisions_agent ON role_decisions(agent, n) WHERE agent <> '';

-- Delegations, and what became of them.
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
) STRICT;
CREATE INDEX role_episodes_open ON role_episodes(n) WHERE outcome = '';
CREATE INDEX role_episodes_agent ON role_episodes(agent, at);
CREATE INDEX role_episodes_ref ON role_episodes(ref);

-- What waits for a person or a role.
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
CREATE INDEX role_asks_asked ON role_asks(asked, id) WHERE state = 'pending';
CREATE INDEX role_asks_due ON role_asks(deadline) WHERE state = 'pending';
CREATE INDEX role_asks_agent ON role_asks(agent, state);

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
) STRICT;
CREATE INDEX role_messages_receiver ON role_messages(receiver, id);
CREATE INDEX role_messages_correlation ON role_messages(correlation, id);

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

-- When each schedule of a role comes next.
CREATE TABLE role_schedules (
  agent   TEXT NOT NULL REFERENCES entities(id),
  n       INTEGER NOT NULL,                         -- its place in the charter
  next_at INTEGER NOT NULL,
  PRIMARY KEY (agent, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX role_schedules_due ON role_schedules(next_at);

-- Which workspace the requests of a source are for.
CREATE TABLE role_hooks (
  source    TEXT PRIMARY KEY,
  workspace TEXT NOT NULL REFERENCES workspaces(id)
) STRICT, WITHOUT ROWID;

-- Bodies that came, by their hash, with the id of the first delivery: that id is not signed.
CREATE TABLE role_deliveries (
  source TEXT NOT NULL,
  body   BLOB NOT NULL,
  id     TEXT NOT NULL,
  at     INTEGER NOT NULL,
  PRIMARY KEY (source, body)
) STRICT, WITHOUT ROWID;

-- What belongs to another thread, as a pull request to the issue it closes.
CREATE TABLE role_threads (
  workspace TEXT NOT NULL REFERENCES workspaces(id),
  alias     TEXT NOT NULL,
  thread    TEXT NOT NULL,
  PRIMARY KEY (workspace, alias)
) STRICT, WITHOUT ROWID;

-- Children that a role's episodes speak for.
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

-- How far a workspace has read the events of the node that it wants.
CREATE TABLE role_streams (
  workspace TEXT NOT NULL REFERENCES workspaces(id),
  stream    TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (workspace, stream)
) STRICT, WITHOUT ROWID;
