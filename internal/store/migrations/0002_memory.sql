-- What agents know. The owner of the data-definition of L2 is package memory;
-- l1 and items carry the columns the sovereignty triggers look at.

CREATE TABLE l1 (
  entity_id     TEXT PRIMARY KEY REFERENCES entities(id),
  doc           TEXT NOT NULL,                      -- the entity's part of the context, canonical JSON
  doc_hash      BLOB NOT NULL,                      -- SHA-256 of doc as it was last written
  updated_at    INTEGER NOT NULL,                   -- rises with every write
  session_count INTEGER NOT NULL DEFAULT 0,         -- sessions ended
  session_id    TEXT NOT NULL DEFAULT '',           -- the client's name for the open session
  session_start INTEGER NOT NULL DEFAULT 0,         -- of the open session, 0 = none is open
  session_end   INTEGER NOT NULL DEFAULT 0,         -- of the last session, 0 = none yet
  chain_hash    BLOB NOT NULL,                      -- as of the last session end; genesis before the first
  previous_hash BLOB NOT NULL,
  content_hash  BLOB NOT NULL,                      -- what chain_hash covers; zeros before the first end
  archived_at   INTEGER NOT NULL DEFAULT 0          -- while deactivated
) STRICT;

-- One number for each audience of items: short enough to sit in the full-text
-- index as a word, so that a search never walks what others own.
CREATE TABLE scopes (
  n          INTEGER PRIMARY KEY,
  visibility TEXT NOT NULL CHECK (visibility IN ('private', 'group', 'public')),
  ref        TEXT NOT NULL,                         -- owner, group, or '' for public
  items      INTEGER NOT NULL DEFAULT 0,            -- how many are searchable
  UNIQUE (visibility, ref)
) STRICT;

-- The current version of every item. Tombstones keep their row until purged of
-- text; n never leaves the node, because gaps in it tell of other people's items.
CREATE TABLE items (
  n             INTEGER PRIMARY KEY,
  id            TEXT NOT NULL UNIQUE,
  type          TEXT NOT NULL CHECK (type IN ('entity', 'session', 'learning')),
  owner         TEXT NOT NULL REFERENCES entities(id),
  author        TEXT NOT NULL,                      -- whose words they are
  visibility    TEXT NOT NULL CHECK (visibility IN ('private', 'group', 'public')),
  group_id      TEXT NOT NULL DEFAULT '',
  scope         INTEGER NOT NULL REFERENCES scopes(n),
  origin        TEXT NOT NULL DEFAULT '',           -- of a copy: the first item of its line
  parent        TEXT NOT NULL DEFAULT '',           -- of a copy: the item it was made from
  stale         TEXT NOT NULL DEFAULT '' CHECK (stale IN ('', 'corrected', 'refuted', 'deleted')),
  version       INTEGER NOT NULL,
  name          TEXT NOT NULL,
  tags          TEXT NOT NULL DEFAULT '[]',
  subject       TEXT NOT NULL DEFAULT '',
  key           TEXT NOT NULL DEFAULT '',
  supersedes    TEXT NOT NULL DEFAULT '',
  superseded_by TEXT NOT NULL DEFAULT '',
  valid_from    INTEGER NOT NULL DEFAULT 0,         -- 0 = always was
  valid_to      INTEGER NOT NULL DEFAULT 0,         -- 0 = still is
  confidence    INTEGER NOT NULL CHECK (confidence BETWEEN 0 AND 1000),
  validated     INTEGER NOT NULL DEFAULT 0,
  quarantined   INTEGER NOT NULL DEFAULT 0,         -- 1 = by decision, whatever the confidence
  expires_at    INTEGER NOT NULL DEFAULT 0,         -- by its own ttl; a group's is applied on reading
  source        TEXT NOT NULL CHECK (source IN ('user', 'agent', 'tool', 'external', 'archive')),
  thread        TEXT NOT NULL DEFAULT '',           -- the session it belongs to, for neighbours
  content_hash  BLOB NOT NULL,
  tokens        INTEGER NOT NULL,
  current       INTEGER NOT NULL DEFAULT 1,         -- 0 = superseded or deleted
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  deleted_at    INTEGER NOT NULL DEFAULT 0,
  deleted_by    TEXT NOT NULL DEFAULT '',
  said_by       TEXT NOT NULL DEFAULT '',           -- stems of the speaker the text names
  told_at       INTEGER NOT NULL DEFAULT 0,         -- the date the text bears, 0 = none
  shapes        INTEGER NOT NULL DEFAULT 0,         -- the kinds of questions it could answer, as bits
  -- The long columns are last: what is before them is read without them.
  terms         TEXT NOT NULL,                      -- stems in order, as indexed
  provenance    TEXT NOT NULL,
  data          TEXT NOT NULL                       -- '' once purged
) STRICT;
CREATE UNIQUE INDEX items_content ON items(content_hash, scope, owner) WHERE current = 1;
CREATE INDEX items_subject ON items(scope, subject, key) WHERE current = 1 AND subject <> '';
CREATE INDEX items_owner ON items(owner, n);
CREATE INDEX items_group ON items(group_id, owner, author) WHERE group_id <> '';
CREATE INDEX items_origin ON items(origin, group_id) WHERE origin <> '';
CREATE INDEX items_thread ON items(scope, thread, n) WHERE current = 1 AND thread <> '';

-- Earlier versions, as they were.
CREATE TABLE item_versions (
  item         INTEGER NOT NULL REFERENCES items(n),
  version      INTEGER NOT NULL,
  data         TEXT NOT NULL,
  subject      TEXT NOT NULL,
  key          TEXT NOT NULL,
  valid_from   INTEGER NOT NULL,
  valid_to     INTEGER NOT NULL,
  confidence   INTEGER NOT NULL,
  validated    INTEGER NOT NULL,
  provenance   TEXT NOT NULL,
  content_hash BLOB NOT NULL,
  at           INTEGER NOT NULL,
  PRIMARY KEY (item, version)
) STRICT, WITHOUT ROWID;

-- What an item has to do with others.
CREATE TABLE item_links (
  item  INTEGER NOT NULL REFERENCES items(n),
  kind  TEXT NOT NULL CHECK (kind IN ('derived_from', 'duplicate_of', 'refines', 'conflicts_with')),
  other TEXT NOT NULL,
  PRIMARY KEY (item, kind, other)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_links_other ON item_links(other, kind);

-- Signatures of the set of stems: two items that share a band are probably alike.
CREATE TABLE item_bands (
  scope INTEGER NOT NULL,
  band  INTEGER NOT NULL,
  item  INTEGER NOT NULL REFERENCES items(n),
  PRIMARY KEY (scope, band, item)
) STRICT, WITHOUT ROWID;

-- The entries are made by package memory; SQLite only splits them at blanks. Each
-- begins with its audience, so that a search walks what its reader may see. Which
-- rows have an entry is all that is kept: words are counted in items.terms.
CREATE VIRTUAL TABLE items_fts USING fts5(entries, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');
