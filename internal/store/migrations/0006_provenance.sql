-- Where words come from, which of them may instruct, and what is hidden with its
-- author.

-- Sessions that were shown what a tool printed or what was read outside: what they
-- write is second-hand from then on.
CREATE TABLE tainted_sessions (
  entity_id TEXT NOT NULL,
  session   TEXT NOT NULL,
  at        INTEGER NOT NULL,                       -- of the reading, or of the token the mark was handed on to
  PRIMARY KEY (entity_id, session)
) STRICT, WITHOUT ROWID;

-- What people decided of items that instruct: the last word, and about which words.
CREATE TABLE releases (
  item         INTEGER PRIMARY KEY REFERENCES items(n),
  content_hash BLOB NOT NULL,
  released     INTEGER NOT NULL,                    -- 0 = taken back
  by           TEXT NOT NULL,
  at           INTEGER NOT NULL
) STRICT;
CREATE INDEX items_held ON items(n) WHERE quarantined = 1;

-- Agents whose memory is hidden in the places of who decided so: its own and those
-- of all below it. One row hides and shows again; no item changes.
CREATE TABLE quarantines (
  n         INTEGER PRIMARY KEY,
  agent     TEXT NOT NULL,
  by        TEXT NOT NULL,
  reason    TEXT NOT NULL DEFAULT '',
  at        INTEGER NOT NULL,
  lifted_at INTEGER NOT NULL DEFAULT 0,             -- 0 = in force
  lifted_by TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX quarantines_in_force ON quarantines(by, agent) WHERE lifted_at = 0;

-- What others derived from what a hidden agent wrote, all the way down.
CREATE TABLE quarantined_items (
  item       INTEGER NOT NULL REFERENCES items(n),
  quarantine INTEGER NOT NULL REFERENCES quarantines(n),
  PRIMARY KEY (item, quarantine)
) STRICT, WITHOUT ROWID;
CREATE INDEX quarantined_items_by ON quarantined_items(quarantine);
