-- Invitations to groups: whom an agent outside their lineage wants as a member. Until
-- the invited agent's parent, or the person, accepts one, it gives no right at all.

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
CREATE UNIQUE INDEX invitations_open ON invitations(group_id, entity_id) WHERE state = 'pending';
CREATE INDEX invitations_entity ON invitations(entity_id, state);
CREATE INDEX invitations_inviter ON invitations(inviter, at);
CREATE INDEX invitations_waiting ON invitations(at) WHERE state = 'pending';
