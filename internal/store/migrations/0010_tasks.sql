-- Tasks of the pipeline: what was asked, each round of it, its subtasks, who fills
-- which role, and every message between roles. Times are UTC microseconds.

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
) STRICT;
CREATE INDEX tasks_submitter ON tasks(submitter, id);
CREATE INDEX tasks_group ON tasks(group_id, id) WHERE group_id <> '';
CREATE INDEX tasks_deadline ON tasks(deadline) WHERE deadline > 0 AND state NOT IN ('accepted', 'abandoned', 'cancelled');
CREATE INDEX tasks_review ON tasks(id) WHERE state = 'review';

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
CREATE INDEX subtasks_round ON subtasks(task, round, sequence, n);

-- A seat is a role that an agent fills by doing a work item.
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
) STRICT;
CREATE INDEX task_seats_task ON task_seats(task, subtask);

-- 0 = no seat, 1 = a seat, 2 = a seat, and what its end leads to has been done.
ALTER TABLE work_items ADD COLUMN seat INTEGER NOT NULL DEFAULT 0;
CREATE INDEX work_unsettled ON work_items(n) WHERE seat = 1 AND state IN ('done', 'failed', 'cancelled');
ALTER TABLE work_leases ADD COLUMN ended_at INTEGER NOT NULL DEFAULT 0; -- 0 = it goes on, or was lost with a backup

-- Every message between roles, written with the change it belongs to. The audit
-- record has the hash of each.
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
CREATE INDEX task_messages_task ON task_messages(task, n);
CREATE INDEX task_messages_at ON task_messages(at);
CREATE TRIGGER task_messages_no_update BEFORE UPDATE ON task_messages BEGIN SELECT RAISE(ABORT, 'messages between roles are append-only'); END;
CREATE TRIGGER task_messages_no_delete BEFORE DELETE ON task_messages BEGIN SELECT RAISE(ABORT, 'messages between roles are append-only'); END;

-- What the node wrote into memory from the verdicts of a task: which item, and the
-- words it had then.
CREATE TABLE lessons (
  item         INTEGER PRIMARY KEY REFERENCES items(n),
  task         TEXT NOT NULL,                       -- its id
  kind         TEXT NOT NULL CHECK (kind IN ('episodic', 'procedural')),
  content_hash BLOB NOT NULL
) STRICT;

-- Reports that the auditor made by itself, one for each span of time.
CREATE TABLE audit_reports (
  until   INTEGER PRIMARY KEY,                      -- where the next one goes on
  since   INTEGER NOT NULL,
  id      TEXT NOT NULL UNIQUE,
  report  TEXT NOT NULL                             -- AuditReport
) STRICT;
