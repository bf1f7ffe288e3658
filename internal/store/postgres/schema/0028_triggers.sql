-- Logs that nothing may change.
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql
  AS $$ BEGIN RAISE EXCEPTION '% is append-only', TG_ARGV[0]; END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit
  FOR EACH ROW EXECUTE FUNCTION append_only('the audit log');
CREATE TRIGGER assessments_append_only BEFORE UPDATE OR DELETE ON assessments
  FOR EACH ROW EXECUTE FUNCTION append_only('the trust ledger');
CREATE TRIGGER capability_feedback_append_only BEFORE UPDATE OR DELETE ON capability_feedback
  FOR EACH ROW EXECUTE FUNCTION append_only('the trust ledger');
CREATE TRIGGER task_messages_append_only BEFORE UPDATE OR DELETE ON task_messages
  FOR EACH ROW EXECUTE FUNCTION append_only('the log of messages between roles');

CREATE FUNCTION item_embedded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT 1 FROM embedding_models) THEN
    DELETE FROM embeddings WHERE item = NEW.n;
    INSERT INTO embedding_queue(item) VALUES (NEW.n)
      ON CONFLICT (item) DO UPDATE SET claim = '', due_at = 0, attempts = 0;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER items_embedded
  AFTER UPDATE OF content_hash, scope, deleted_at, quarantined, confidence, validated, source ON items FOR EACH ROW
  WHEN (OLD.content_hash <> NEW.content_hash OR OLD.scope <> NEW.scope OR (OLD.deleted_at = 0) <> (NEW.deleted_at = 0)
    OR (OLD.quarantined = 0 AND OLD.source <> 'archive' AND (OLD.confidence >= 300 OR OLD.validated = 1))
    <> (NEW.quarantined = 0 AND NEW.source <> 'archive' AND (NEW.confidence >= 300 OR NEW.validated = 1)))
  EXECUTE FUNCTION item_embedded();
CREATE FUNCTION prediction_purged() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE predictions SET check_json = '' WHERE item = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER predictions_purged AFTER UPDATE OF data ON items FOR EACH ROW
  WHEN (NEW.data = '' AND OLD.data <> '') EXECUTE FUNCTION prediction_purged();

-- INV-SOVEREIGN: cordelia.acting lists whose rows the running transaction may change
-- (Tx.Act), one id after another with spaces between; '*' is all. The setting ends with the
-- transaction, and where there is none nobody's rows may be changed.
CREATE FUNCTION acts_for(owner text) RETURNS boolean LANGUAGE sql STABLE
  AS $$ SELECT owner = ANY (list) OR '*' = ANY (list)
    FROM (SELECT string_to_array(coalesce(current_setting('cordelia.acting', true), ''), ' ') AS list) AS acting $$;
CREATE FUNCTION not_sovereign() RETURNS trigger LANGUAGE plpgsql
  AS $$ BEGIN RAISE EXCEPTION 'INV-SOVEREIGN: not the owner of this %', TG_ARGV[0]; END $$;
CREATE TRIGGER l1_insert BEFORE INSERT ON l1 FOR EACH ROW
  WHEN (NOT acts_for(NEW.entity_id)) EXECUTE FUNCTION not_sovereign('L1 entry');
CREATE TRIGGER l1_update BEFORE UPDATE ON l1 FOR EACH ROW
  WHEN (NOT acts_for(OLD.entity_id) OR OLD.entity_id <> NEW.entity_id) EXECUTE FUNCTION not_sovereign('L1 entry');
CREATE TRIGGER l1_delete BEFORE DELETE ON l1 FOR EACH ROW
  WHEN (NOT acts_for(OLD.entity_id)) EXECUTE FUNCTION not_sovereign('L1 entry');

-- Private items. Rows of groups and of the public are guarded by access alone.
-- A group's item may come home to its owner if nothing but its place changes.
CREATE TRIGGER items_insert BEFORE INSERT ON items FOR EACH ROW
  WHEN (NEW.visibility = 'private' AND NOT acts_for(NEW.owner)) EXECUTE FUNCTION not_sovereign('private item');
CREATE TRIGGER items_update BEFORE UPDATE ON items FOR EACH ROW
  WHEN (OLD.visibility = 'private' AND (OLD.owner <> NEW.owner OR NOT acts_for(OLD.owner)))
  EXECUTE FUNCTION not_sovereign('private item');
CREATE TRIGGER items_home BEFORE UPDATE ON items FOR EACH ROW
  WHEN (OLD.visibility <> 'private' AND NEW.visibility = 'private' AND NOT acts_for(NEW.owner)
    AND (OLD.owner <> NEW.owner OR OLD.content_hash <> NEW.content_hash OR OLD.data <> NEW.data
      OR OLD.author <> NEW.author))
  EXECUTE FUNCTION not_sovereign('private item');
CREATE TRIGGER items_delete BEFORE DELETE ON items FOR EACH ROW
  WHEN (OLD.visibility = 'private' AND NOT acts_for(OLD.owner)) EXECUTE FUNCTION not_sovereign('private item');
-- TRUNCATE fires no trigger of a row.
CREATE TRIGGER l1_truncate BEFORE TRUNCATE ON l1 EXECUTE FUNCTION not_sovereign('L1 entry');
CREATE TRIGGER items_truncate BEFORE TRUNCATE ON items EXECUTE FUNCTION not_sovereign('private item');
CREATE TRIGGER audit_truncate BEFORE TRUNCATE ON audit EXECUTE FUNCTION append_only('the audit log');
CREATE TRIGGER assessments_truncate BEFORE TRUNCATE ON assessments EXECUTE FUNCTION append_only('the trust ledger');
CREATE TRIGGER capability_feedback_truncate BEFORE TRUNCATE ON capability_feedback
  EXECUTE FUNCTION append_only('the trust ledger');
CREATE TRIGGER task_messages_truncate BEFORE TRUNCATE ON task_messages
  EXECUTE FUNCTION append_only('the log of messages between roles');
