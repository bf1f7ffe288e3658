-- What clients really did in seats that the node had them fill: each time one was
-- started, what it took, and each of its tool calls as the node saw it. What the holder
-- of an item claims is in work_items. Times are UTC microseconds.

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
CREATE INDEX seat_runs_item ON seat_runs(item, fence);
CREATE INDEX seat_runs_started ON seat_runs(started_at);

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
