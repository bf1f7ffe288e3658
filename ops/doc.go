// Package ops is the catalogue: every operation once, one file each, whatever
// face it is called from. A file declares the operation's name, description,
// effect, typed input and output, and its handler; MCP, the command line and
// the console render it. The node's own routines live here too, because they
// span the domain packages.
//
// Invariants:
//   - INV-CATALOGUE: a tool that is not in Catalogue does not exist for anyone,
//     and its name there is the name capabilities grant.
//   - INV-ONCE: a mutating call repeated with its idempotency key changes nothing
//     again and gets the recorded answer, if the caller may still use the tool.
//   - INV-KEPT: a kept call is its caller's alone, and its wait ends once: with what
//     it did, in that transaction, with a refusal, or with its cancellation.
//   - INV-AUDITOR: what the auditor sees and reports is a person's alone: no agent
//     reads, filters or sets up any of it.
//   - INV-DEEP: every item's words, membership, capability and release in force is what
//     an entry of the audit record says, or a deep verification names it.
//   - INV-MESSAGE: a message between roles that was changed, removed, put in or moved
//     since its audit entry was written is found, and named.
//   - INV-RESTORE: a restore brings back memory, never a right: what was revoked,
//     narrowed or rotated since the backup stays so.
//
// It refuses input that does not match the published schema, naming every
// violation, before anything is opened.
package ops
