// Package review keeps what waits for a decision: memories that an autonomous agent brings back
// (seed §6), what agents propose, invitations to groups, and results that are held.
//
// In reading order: batch.go (what a returning agent hands in), return.go (how it is compared and staged),
// gate.go (when nothing needs to wait), kinds.go (what kinds of things wait; a new kind is a line there),
// proposal.go and proposal_list.go, invitation.go, list.go and diff.go (what a reviewer sees), decide.go (what
// a decision does), expire.go (what ends without a decision).
//
// Invariants:
//   - INV-RETURN: a return is proven by the agent's own key, over a challenge that
//     is good once, its chain and all that it brings; and it is made in person.
//   - INV-STAGED: what a returning agent brings reaches a group by a decision, or
//     through the gate for merging, and in no other way; until then nothing finds it.
//   - INV-PROPOSAL: what an agent of tier Low writes to a group, and an item that is to
//     supersede what its writer may not, takes effect by a decision alone; at most 20 of
//     an agent wait, equal words once, for 14 days.
//   - INV-REVIEWER: an approval is by the author's parent or the human above, in
//     person; never by the author, nor by who stands beside or below it.
//   - INV-PERSON: what instructs, comes from outside, or is looked at in a session
//     that has read what does, is approved by a person.
//   - INV-SHOWN: an approval counts for the content it names by its hash, and no other.
//   - INV-REVIEW-EDGE: a review changes its state only along schemas.ReviewEdges.
//
// It refuses memories for a place the agent cannot read, a fourth return while
// three wait, and half of a call: all of what one call decides happens, or none.
//
// Its limits: a chain ahead of the node's is the agent's word, since the node saw
// none of it. That is why it only ever makes the gate stricter.
package review
