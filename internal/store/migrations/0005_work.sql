-- Work that agents claim, hold for a time and report. Times are UTC microseconds.

-- A lane is what decides who may take an item. Whoever claims works out once which
-- lanes are theirs, and takes the first ready item of those from an index.
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
) STRICT;
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

CREATE TABLE work_blockers (
  item    INTEGER NOT NULL REFERENCES work_items(n),
  blocker INTEGER NOT NULL REFERENCES work_items(n),
  PRIMARY KEY (item, blocker)
) STRICT, WITHOUT ROWID;
CREATE INDEX work_blockers_of ON work_blockers(blocker, item);

-- Every lease there was, and how it was reported. The payload is kept of reports
-- that came too late, for the operator.
CREATE TABLE work_leases (
  item       INTEGER NOT NULL REFERENCES work_items(n),
  fence      INTEGER NOT NULL,
  holder     TEXT NOT NULL,
  claimed_at INTEGER NOT NULL,
  outcome    TEXT NOT NULL DEFAULT '',              -- as reported in time
  hash       TEXT NOT NULL DEFAULT '',              -- of that report
  state      TEXT NOT NULL DEFAULT '',              -- that it led to
  late_at    INTEGER NOT NULL DEFAULT 0,            -- when a report came too late
  late       TEXT NOT NULL DEFAULT '',              -- that report
  PRIMARY KEY (item, fence)
) STRICT, WITHOUT ROWID;
CREATE INDEX work_leases_late ON work_leases(late_at) WHERE late_at > 0;

-- A lease takes slots as a wait does, and may keep them for longer.
ALTER TABLE slots ADD COLUMN keeps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE slots ADD COLUMN process TEXT NOT NULL DEFAULT '';  -- it ends with this one
CREATE INDEX slots_id ON slots(id);
