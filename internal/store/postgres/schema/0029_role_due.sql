-- Delegations whose work or task is over are found without a look at those that are open.
ALTER TABLE role_episodes ADD COLUMN due BIGINT NOT NULL DEFAULT 0; -- 1 = what it led to is over
CREATE INDEX role_episodes_due ON role_episodes(due, n) WHERE due = 1 AND outcome = '';
UPDATE role_episodes SET due = 1 WHERE outcome = '' AND (
  ref IN (SELECT id FROM work_items WHERE state IN ('done', 'failed', 'cancelled'))
  OR ref IN (SELECT id FROM tasks WHERE state IN ('accepted', 'abandoned', 'cancelled')));

CREATE FUNCTION role_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE role_episodes SET due = 1, ended_at = NEW.finished_at WHERE ref = NEW.id AND outcome = '';
  RETURN NULL;
END $$;
CREATE TRIGGER role_work_over AFTER UPDATE OF state ON work_items FOR EACH ROW
  WHEN (NEW.state IN ('done', 'failed', 'cancelled') AND NEW.seat = 0) EXECUTE FUNCTION role_due();
CREATE TRIGGER role_task_over AFTER UPDATE OF state ON tasks FOR EACH ROW
  WHEN (NEW.state IN ('accepted', 'abandoned', 'cancelled')) EXECUTE FUNCTION role_due();

-- What a role worked on last: what it sends afterwards follows from that, too.
CREATE INDEX role_episodes_ended ON role_episodes(agent, ended_at) WHERE ended_at > 0;

-- Which bodies are kept no longer.
CREATE INDEX role_deliveries_at ON role_deliveries(at);

-- What followed from a decision.
CREATE INDEX role_episodes_decision ON role_episodes(decision);
CREATE INDEX role_asks_decision ON role_asks(decision) WHERE decision > 0;
