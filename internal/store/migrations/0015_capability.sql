-- Who or what said how a result came out, and which result: each counts once.

ALTER TABLE capability_feedback ADD COLUMN proof TEXT NOT NULL DEFAULT '' -- '' = before this was kept
  CHECK (proof IN ('', 'person', 'machine_check', 'recorded_exit', 'code', 'agent'));
ALTER TABLE capability_feedback ADD COLUMN about TEXT NOT NULL DEFAULT ''; -- the result, e.g. a work item; '' = none
CREATE INDEX capability_feedback_about ON capability_feedback(agent, capability, about);
