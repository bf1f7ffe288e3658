-- Folders of this machine bound to a group, for a person and all below them.
CREATE TABLE bindings (
  root_id  TEXT NOT NULL REFERENCES entities(id),
  dir      TEXT NOT NULL,                           -- absolute, links resolved, / between names
  group_id TEXT NOT NULL REFERENCES groups(id),
  made_at  INTEGER NOT NULL,
  PRIMARY KEY (root_id, dir)
) STRICT, WITHOUT ROWID;
