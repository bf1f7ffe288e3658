-- How reliable agents proved, as each observer saw it. Weights and scores are
-- integers, in thousandths, so that adding them up again gives the same anywhere.

-- Every verdict and every prior, as counted at the time; the scores follow from it.
CREATE TABLE assessments (
  seq          INTEGER PRIMARY KEY,                 -- 1, 2, 3 … without gaps
  observer     TEXT NOT NULL,                       -- whose book
  agent        TEXT NOT NULL,                       -- about whom
  source       TEXT NOT NULL CHECK (source IN ('prior', 'user', 'owner', 'temporal', 'relayed', 'cross_reference', 'peer')),
  verdict      TEXT NOT NULL CHECK (verdict IN ('', 'right', 'wrong')),
  item         TEXT NOT NULL,                       -- the first of its line; '' for a prior
  version      INTEGER NOT NULL,
  content_hash BLOB NOT NULL,
  assessor     TEXT NOT NULL,
  witness      TEXT NOT NULL,                       -- on whose reliability it rests
  basis        TEXT NOT NULL,                       -- the other item of a cross-reference
  alpha        INTEGER NOT NULL CHECK (alpha >= 0),
  beta         INTEGER NOT NULL CHECK (beta >= 0),
  at           INTEGER NOT NULL
) STRICT;
CREATE INDEX assessments_item ON assessments(observer, agent, item, witness, seq);
CREATE INDEX assessments_prior ON assessments(agent) WHERE source = 'prior';
CREATE INDEX assessments_temporal ON assessments(agent, at) WHERE source = 'temporal';
CREATE TRIGGER assessments_no_update BEFORE UPDATE ON assessments BEGIN SELECT RAISE(ABORT, 'the trust ledger is append-only'); END;
CREATE TRIGGER assessments_no_delete BEFORE DELETE ON assessments BEGIN SELECT RAISE(ABORT, 'the trust ledger is append-only'); END;

-- Which verdicts count now: one for each item, except that independent witnesses
-- stand side by side. Derived.
CREATE TABLE assessments_counted (
  observer TEXT NOT NULL,
  agent    TEXT NOT NULL,
  item     TEXT NOT NULL,
  witness  TEXT NOT NULL,
  seq      INTEGER NOT NULL REFERENCES assessments(seq),
  PRIMARY KEY (observer, agent, item, witness)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX assessments_window ON assessments_counted(observer, agent, seq);

-- The score as of the newest evidence, and how far it comes down by when if no
-- more comes. Derived.
CREATE TABLE trust_scores (
  agent        TEXT NOT NULL,
  observer     TEXT NOT NULL,
  alpha        INTEGER NOT NULL,
  beta         INTEGER NOT NULL,
  steps        TEXT NOT NULL,                       -- [[at, alpha, beta], …]
  observations INTEGER NOT NULL,
  rights       INTEGER NOT NULL,
  confirmed    INTEGER NOT NULL,
  window_start INTEGER NOT NULL,
  window_end   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  PRIMARY KEY (agent, observer)
) STRICT, WITHOUT ROWID;

-- What was said of an agent's work with a capability: a seat or a class of tools.
CREATE TABLE capability_feedback (
  seq        INTEGER PRIMARY KEY,                   -- 1, 2, 3 … without gaps
  agent      TEXT NOT NULL,
  capability TEXT NOT NULL,
  success    INTEGER NOT NULL,                      -- 1 = the work was accepted
  feedback   TEXT NOT NULL CHECK (feedback IN ('', 'good', 'bad')),
  said_by    TEXT NOT NULL,
  at         INTEGER NOT NULL
) STRICT;
CREATE TRIGGER capability_feedback_no_update BEFORE UPDATE ON capability_feedback BEGIN SELECT RAISE(ABORT, 'the trust ledger is append-only'); END;
CREATE TRIGGER capability_feedback_no_delete BEFORE DELETE ON capability_feedback BEGIN SELECT RAISE(ABORT, 'the trust ledger is append-only'); END;

-- Derived.
CREATE TABLE capability_trust (
  agent      TEXT NOT NULL,
  capability TEXT NOT NULL,
  hundredths INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (agent, capability)
) STRICT, WITHOUT ROWID;

-- Predictions with a check the node can make, as first written: what becomes of
-- the item withdraws nothing.
CREATE TABLE predictions (
  item         TEXT PRIMARY KEY,
  agent        TEXT NOT NULL,
  check_json   TEXT NOT NULL,                       -- '' once resolved, or when the item was purged
  check_hash   BLOB NOT NULL,
  due          INTEGER NOT NULL,
  seen_at      INTEGER NOT NULL DEFAULT 0,          -- when it was first tried, and did not hold
  retry_at     INTEGER NOT NULL,                    -- when it is tried next
  outcome      TEXT NOT NULL DEFAULT '' CHECK (outcome IN ('', 'right', 'wrong', 'void')),
  resolved_at  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX predictions_open ON predictions(retry_at) WHERE outcome = '';
CREATE UNIQUE INDEX predictions_once ON predictions(agent, check_hash) WHERE outcome = '';
CREATE TRIGGER predictions_purged AFTER UPDATE OF data ON items WHEN NEW.data = '' AND OLD.data <> ''
BEGIN UPDATE predictions SET check_json = '' WHERE item = NEW.id; END;
