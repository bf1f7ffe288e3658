-- Calls that wait: what a client was given a task for. Times are UTC microseconds.

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
CREATE INDEX mcp_tasks_owner ON mcp_tasks(owner, expires_at);
CREATE INDEX mcp_tasks_expires ON mcp_tasks(expires_at);
