-- temp.acting lists whose rows the running transaction may change (Tx.Act).
-- The triggers are the connection's, not the file's: they bind this program.

CREATE TEMP TRIGGER l1_insert BEFORE INSERT ON main.l1
WHEN NOT EXISTS (SELECT 1 FROM temp.acting WHERE owner IN (NEW.entity_id, '*'))
BEGIN SELECT RAISE(ABORT, 'INV-SOVEREIGN: not the owner of this L1 entry'); END;
CREATE TEMP TRIGGER l1_update BEFORE UPDATE ON main.l1
WHEN NOT EXISTS (SELECT 1 FROM temp.acting WHERE owner IN (OLD.entity_id, '*')) OR OLD.entity_id <> NEW.entity_id
BEGIN SELECT RAISE(ABORT, 'INV-SOVEREIGN: not the owner of this L1 entry'); END;
CREATE TEMP TRIGGER l1_delete BEFORE DELETE ON main.l1
WHEN NOT EXISTS (SELECT 1 FROM temp.acting WHERE owner IN (OLD.entity_id, '*'))
BEGIN SELECT RAISE(ABORT, 'INV-SOVEREIGN: not the owner of this L1 entry'); END;

-- Private items. Rows of groups and of the public are guarded by access alone.
-- A group's item may come home to its owner if nothing but its place changes.
CREATE TEMP TRIGGER items_insert BEFORE INSERT ON main.items
WHEN NEW.visibility = 'private' AND NOT EXISTS (SELECT 1 FROM temp.acting WHERE owner IN (NEW.owner, '*'))
BEGIN SELECT RAISE(ABORT, 'INV-SOVEREIGN: not the owner of this private item'); END;
CREATE TEMP TRIGGER items_update BEFORE UPDATE ON main.items
WHEN OLD.visibility = 'private'
  AND (OLD.owner <> NEW.owner OR NOT EXISTS (SELECT 1 FROM temp.acting WHERE owner IN (OLD.owner, '*')))
BEGIN SELECT RAISE(ABORT, 'INV-SOVEREIGN: not the owner of this private item'); END;
CREATE TEMP TRIGGER items_home BEFORE UPDATE ON main.items
WHEN OLD.visibility <> 'private' AND NEW.visibility = 'private'
  AND (OLD.owner <> NEW.owner OR OLD.content_hash <> NEW.content_hash OR OLD.data <> NEW.data OR OLD.author <> NEW.author)
  AND NOT EXISTS (SELECT 1 FROM temp.acting WHERE owner IN (NEW.owner, '*'))
BEGIN SELECT RAISE(ABORT, 'INV-SOVEREIGN: not the owner of this private item'); END;
CREATE TEMP TRIGGER items_delete BEFORE DELETE ON main.items
WHEN OLD.visibility = 'private' AND NOT EXISTS (SELECT 1 FROM temp.acting WHERE owner IN (OLD.owner, '*'))
BEGIN SELECT RAISE(ABORT, 'INV-SOVEREIGN: not the owner of this private item'); END;
