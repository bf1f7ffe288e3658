-- What items mean, as a model the operator chose sees it. All of it is derived:
-- it can be made anew, is never exported, and goes with the item it is of.

-- The models used so far; the one chosen last is the node's.
CREATE TABLE embedding_models (
  n       INTEGER PRIMARY KEY,
  name    TEXT NOT NULL UNIQUE,                     -- with what else makes its vectors different
  dim     INTEGER NOT NULL DEFAULT 0,               -- numbers in a vector, 0 before the first
  private INTEGER NOT NULL,                         -- 1 = it is sent private items too
  queued  INTEGER NOT NULL DEFAULT 0,               -- items up to this n were put into the queue
  chosen  INTEGER NOT NULL                          -- rises with every choice
) STRICT;

-- Items to look at. A claim keeps other processes away until due_at.
CREATE TABLE embedding_queue (
  item     INTEGER PRIMARY KEY REFERENCES items(n),
  claim    TEXT NOT NULL DEFAULT '',
  due_at   INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX embedding_queue_due ON embedding_queue(due_at, item);
CREATE INDEX embedding_queue_claim ON embedding_queue(claim) WHERE claim <> '';

-- seq rises in commit order and is never used twice, so a reader that remembers
-- the last one it saw learns what is new.
CREATE TABLE embeddings (
  item         INTEGER PRIMARY KEY REFERENCES items(n),
  model        INTEGER NOT NULL REFERENCES embedding_models(n),
  scope        INTEGER NOT NULL REFERENCES scopes(n),
  seq          INTEGER NOT NULL,
  content_hash BLOB NOT NULL,                       -- of the text it is of
  at           INTEGER NOT NULL,
  bits         BLOB NOT NULL,                       -- the signs, 64 to a little-endian word
  vector       BLOB NOT NULL                        -- unit length, little-endian float32
) STRICT;
CREATE INDEX embeddings_scan ON embeddings(model, scope, seq, item, bits);
INSERT INTO counters(name, value) VALUES ('embeddings', 0);

-- Whoever changes what an item says, where it lies or whether it surfaces need
-- not know of vectors, and a program with embeddings off leaves no stale one.
CREATE TRIGGER items_embedded AFTER UPDATE OF content_hash, scope, deleted_at, quarantined, confidence, validated, source ON items
WHEN EXISTS (SELECT 1 FROM embedding_models)
  AND (OLD.content_hash <> NEW.content_hash OR OLD.scope <> NEW.scope OR (OLD.deleted_at = 0) <> (NEW.deleted_at = 0)
    OR (OLD.quarantined = 0 AND OLD.source <> 'archive' AND (OLD.confidence >= 300 OR OLD.validated = 1))
    <> (NEW.quarantined = 0 AND NEW.source <> 'archive' AND (NEW.confidence >= 300 OR NEW.validated = 1)))
BEGIN
  DELETE FROM embeddings WHERE item = NEW.n;
  INSERT INTO embedding_queue(item) VALUES (NEW.n) ON CONFLICT (item) DO UPDATE SET claim = '', due_at = 0, attempts = 0;
END;
