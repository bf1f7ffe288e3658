-- Agents that came back from autonomous work, and what waits for a decision.

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
CREATE INDEX returns_agent ON returns(agent, at);
CREATE INDEX returns_open ON returns(group_id) WHERE closed_at = 0;
CREATE INDEX returns_waiting ON returns(at) WHERE closed_at = 0;

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
CREATE INDEX reviews_return ON reviews(return_id, state, id);
CREATE INDEX reviews_words ON reviews(words) WHERE state <> 'approved';
