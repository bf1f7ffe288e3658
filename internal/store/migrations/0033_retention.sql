-- Old events are removed from the beginning of their stream, and the stream says how far.
ALTER TABLE streams ADD COLUMN removed INTEGER NOT NULL DEFAULT 0; -- events up to this seq are gone
