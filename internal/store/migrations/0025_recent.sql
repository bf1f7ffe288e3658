-- The sum of a person's own verdicts now counts the recent ones more: 0 has each row derived
-- anew from the ledger.
UPDATE trust_scores SET own_alpha = 0, own_beta = 0;
