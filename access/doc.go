// Package access decides who may do what, and is the only place that does.
//
// The decision has two halves, and both must say yes:
//
//	access = effective capability ∧ scoping matrix
//
// The effective capability is what an agent declared and every ancestor up to
// the human still allows. The scoping matrix (seed §7) is what the agent's type,
// trust tier and its parent's explicit grants open by default. Trust and grants
// add inside capabilities, never beyond them.
//
// The half without storage is pure and reads in this order:
//
//   - pattern.go: group patterns and when one lies inside another;
//   - capability.go: an untrusted declaration, decoded and validated;
//   - order.go: the order between declarations, checked at registration;
//   - effective.go: one concrete operation along a live chain;
//   - matrix.go: the scoping matrix as a table, and its decision.
//
// The other half, from authorizer.go on, finds out in the transaction who is
// calling and what they touch, asks the pure half, and hands out a Grant.
//
// Invariants:
//
//   - INV-ATTENUATE: an accepted child may do nothing its parent may not.
//   - INV-CHAIN: an operation is allowed only when every agent from the human
//     down to the caller allows it, is active and is not expired. No
//     intersection of capabilities is ever stored.
//   - INV-RESERVED: no pattern reaches a staging or system group.
//   - INV-PUBLIC: no agent writes public memory.
//   - INV-GRANT: nothing reaches the store but through Authorizer.Do, and
//     nothing of a domain moves without the Grant it hands out.
//   - INV-REVOKE: once the transaction that took a right has committed, nothing
//     that needed it commits and no read that needed it answers.
//   - INV-CLOSED: zero values open nothing: neither a zero Boundary, an empty
//     chain, an unknown tier nor an unknown role.
//
// It refuses to guess: an unknown tool, a wildcard among tools, an unknown or
// repeated field, and a value of the wrong type are errors, all reported at once.
package access
