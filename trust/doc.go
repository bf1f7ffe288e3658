// Package trust is how reliable agents proved: two scores that are never
// converted into each other.
//
// Accuracy trust says what memory an agent may touch. For each observer and agent there is a
// trust record: verdicts on what the agent wrote, summed up as Beta posteriors (seed §5). The
// score is of all evidence; the tier follows a second sum, of the observer's own verdicts and
// due predictions. The tier the authorizer uses is the lower of what the owner of the memory
// and the human above the agent hold. In reading order: score.go and beta.go (a score), tier.go
// (what follows), prior.go (where it starts), book.go (how verdicts move it), ledger.go (what
// is stored), assess.go, relayed.go and predict.go (where verdicts come from), read.go, gate.go
// and weight.go (what they are used for), verify.go.
//
// Capability trust says who watches (role seed §4.8): for each agent and
// capability a number of hundredths, in capability.go.
//
// Weights, in thousandths: the observer's own word and a prediction that the
// node resolved 1000, half of that where the predictor could write the file; the
// user's word, as an agent relays it, 500 for all it relays about one agent; another
// item that says the same 500 and another agent's judgement 250, times the lower 5 %
// bound of whom it rests on, and together at most 500 for an item.
//
// Invariants:
//   - INV-TRUST-TIME: time alone never promotes. Until new evidence comes a score
//     only falls; a wrong verdict raises none, and one without weight changes none.
//   - INV-TRUST-LEDGER: every verdict, and what an agent started with, is a row of an
//     append-only ledger, with the weight it had then and its hash in the audit
//     record; scores are what replaying the ledger gives, bit for bit.
//   - INV-TIER: only the observer's own verdicts and due predictions move a tier; it
//     falls 0.1 below its beginning and rises by a right verdict alone.
//   - INV-RANKS: what an agent wrote stands below what others wrote while the mean of the
//     user's own verdicts on it, all or the recent ones, or its tier, is below Medium; no prediction and no
//     agent's word holds it up.
//   - INV-EARNED: capability trust rises by each result once, and never by the word of
//     the agent itself or of its lineage.
//   - INV-RELATED: an agent's accuracy never changes by its own verdict, nor by one of its
//     ancestors, its descendants, or its siblings under one agent.
//   - INV-FORESIGHT: a prediction counts as first written, once, if an hour or more
//     lay before it and it did not hold yet when the node first tried it.
//
// It refuses verdicts on people, on what the assessor may not read (that reads
// the same as what does not exist), and capability feedback from agents.
//
// Its limits: an agent that may write a file that is checked can make its own prediction come
// true, which is why no folder is checked unless the operator names it and such a
// prediction weighs half; and an agent learns from its score whether its checks held.
package trust
