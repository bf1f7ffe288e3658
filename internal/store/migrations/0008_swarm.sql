-- Agents that work together. A swarm is a group, with what it is for and who does
-- what in it. Times are UTC microseconds.

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

-- The slots of a manifest in its order, which is that of a pipeline's stages.
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
CREATE INDEX swarm_agents_entity ON swarm_agents(entity_id);

-- A cell is a group that is part of a swarm.
ALTER TABLE groups ADD COLUMN swarm_id TEXT NOT NULL DEFAULT '';
CREATE INDEX groups_swarm ON groups(swarm_id) WHERE swarm_id <> '';
