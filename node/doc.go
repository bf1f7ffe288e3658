// Package node is one installation: who its person and their agents are, whose keys lie
// on this machine, what time makes due, backup and restore, and whether the audit record
// is whole. What one change of an agent takes in several domains (a registration, a
// lifecycle move) is here too, because it spans them in one transaction.
//
// A node knows the operations by the names it was opened with, and calls none. What only
// a person may ask of an installation takes the principal of the person.
//
// Invariants:
//   - INV-AUDITOR: what the auditor sees and reports is a person's alone: no agent
//     reads, filters or sets up any of it.
//   - INV-DEEP: every item's words, membership, capability and release in force is what
//     an entry of the audit record says, or a deep verification names it.
//   - INV-MESSAGE: a message between roles that was changed, removed, put in or moved
//     since its audit entry was written is found, and named.
//   - INV-RESTORE: a restore brings back memory, never a right: what was revoked,
//     narrowed or rotated since the backup stays so.
//
// It refuses a home whose keys and database do not belong together, and a key that is not
// the present one of its entity.
package node
