-- A tier follows from the observer's own verdicts and from due predictions alone. The
-- columns of trust_scores are filled from the ledger when a row is first read or written.

ALTER TABLE trust_scores ADD COLUMN tier_alpha INTEGER NOT NULL DEFAULT 0; -- the sum the tier follows
ALTER TABLE trust_scores ADD COLUMN tier_beta INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trust_scores ADD COLUMN tier_steps TEXT NOT NULL DEFAULT '[]'; -- as steps
ALTER TABLE trust_scores ADD COLUMN tier TEXT NOT NULL DEFAULT ''          -- in force; '' = not derived yet
  CHECK (tier IN ('', 'untrusted', 'low', 'medium', 'high'));
ALTER TABLE trust_scores ADD COLUMN by_person INTEGER NOT NULL DEFAULT 0;  -- verdicts of the observer

-- Whether a verdict moves a tier. Its window is its own: other evidence pushes none out.
ALTER TABLE assessments_counted ADD COLUMN moves_tier INTEGER NOT NULL DEFAULT 0;
UPDATE assessments_counted SET moves_tier = 1
  WHERE (SELECT source FROM assessments a WHERE a.seq = assessments_counted.seq) IN ('user', 'owner', 'temporal');
CREATE UNIQUE INDEX assessments_tier_window ON assessments_counted(observer, agent, seq) WHERE moves_tier = 1;

-- The words of the user that an agent relayed about another.
CREATE INDEX assessments_relayed ON assessments(observer, agent, witness, at) WHERE source = 'relayed';

-- When a prediction was entered, UTC µs; 0 = before this was kept.
ALTER TABLE predictions ADD COLUMN made_at INTEGER NOT NULL DEFAULT 0;
