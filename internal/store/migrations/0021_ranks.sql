-- What an author's words rank by in a search: the prior and the observer's own verdicts, without
-- predictions. Filled from the ledger when a row is first read or written.
ALTER TABLE trust_scores ADD COLUMN own_alpha INTEGER NOT NULL DEFAULT 0; -- 0 with own_beta 0 = not derived yet
ALTER TABLE trust_scores ADD COLUMN own_beta INTEGER NOT NULL DEFAULT 0;

-- The window of these verdicts is its own: predictions push none out.
ALTER TABLE assessments_counted ADD COLUMN own INTEGER NOT NULL DEFAULT 0;
UPDATE assessments_counted SET own = 1
  WHERE (SELECT source FROM assessments a WHERE a.seq = assessments_counted.seq) IN ('user', 'owner');
CREATE UNIQUE INDEX assessments_own_window ON assessments_counted(observer, agent, seq) WHERE own = 1;
