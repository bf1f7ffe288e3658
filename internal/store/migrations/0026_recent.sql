-- What an author's words rank by in a search: the prior and the observer's own verdicts, all of
-- them or the recent ones, whichever is lower. It takes the place of own_alpha and own_beta, and is
-- filled from the ledger when a row is first read or written.
ALTER TABLE trust_scores ADD COLUMN ranks_alpha INTEGER NOT NULL DEFAULT 0; -- 0 with ranks_beta 0 = not derived yet
ALTER TABLE trust_scores ADD COLUMN ranks_beta INTEGER NOT NULL DEFAULT 0;
