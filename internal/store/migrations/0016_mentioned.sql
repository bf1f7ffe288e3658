-- How far a reader's unread events were mentioned to it by a hook: each is mentioned once,
-- whatever sessions it begins before it reads them.
CREATE TABLE mentioned (
  entity_id TEXT NOT NULL,
  stream    TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (entity_id, stream)
) STRICT, WITHOUT ROWID;
