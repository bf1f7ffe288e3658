-- Writes of agents that wait for a decision: an item that is to supersede another one,
-- or what an agent of tier Low would write to a group.

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
CREATE UNIQUE INDEX proposals_once ON proposals(author, target, supersedes, words) WHERE state = 'pending';
CREATE INDEX proposals_waiting ON proposals(at) WHERE state = 'pending';

-- What was said of an item, for every view of it.
CREATE INDEX assessments_words ON assessments(item, seq) WHERE item <> '';

-- A quarantine covers the agents below the one it names, and what was derived from theirs.
WITH RECURSIVE
  hidden(quarantine, id) AS (
    SELECT n, agent FROM quarantines WHERE lifted_at = 0
    UNION SELECT h.quarantine, e.id FROM hidden h JOIN entities e ON e.parent_id = h.id),
  down(quarantine, n) AS (
    SELECT h.quarantine, l.item FROM hidden h JOIN items a ON a.owner = h.id JOIN item_links l ON l.other = a.id AND l.kind = 'derived_from'
    UNION SELECT d.quarantine, l.item FROM down d JOIN items i ON i.n = d.n JOIN item_links l ON l.other = i.id AND l.kind = 'derived_from')
INSERT OR IGNORE INTO quarantined_items(item, quarantine)
  SELECT i.n, d.quarantine FROM down d JOIN items i ON i.n = d.n
  WHERE NOT EXISTS (SELECT 1 FROM hidden h WHERE h.quarantine = d.quarantine AND h.id = i.owner);
