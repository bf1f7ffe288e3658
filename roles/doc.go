// Package roles gives agents a charter: a workspace, domains, authority, goals, a budget, and a
// role or person to report to. Events come in, a role decides over them without asking a model,
// and what follows is work that is claimed, proven and judged like any other, or a question to
// a person.
//
// In reading order: yaml.go and check.go (a workspace's file), plan.go and apply.go (how it
// takes effect), world.go (a workspace as decisions see it), handle.go (a role's decision:
// pure), known.go (what it needs to know of the store), deliver.go (an event's way through the
// roles), effect.go (what a decision leads
// to), ask.go (what waits for a person or a role), settle.go (what time and ended work make
// due), spawn.go, draft.go and signal.go (how roles come to be), end.go (how they end),
// message.go.
//
// Invariants:
//   - INV-ROLE-DECIDED: every event that was taken has a decision with its reason, in the
//     transaction that took it; the same delivery again gets the same and changes nothing.
//   - INV-ROLE-ASK: what a role asks is decided by the person or role that was asked, or an
//     ancestor of it, never by the role itself or those below it; no deadline approves.
//   - INV-ROLE-CEILING: a spawned role's authority, domains, operators, clearance, trust and
//     budget lie inside both its template and its parent.
//   - INV-ROLE-EDGE: a role changes its state only along schemas.RoleEdges.
//   - INV-ROLE-LOOP: an event is forwarded at most 8 times and to no role twice, causes at
//     most 8 events in a row, and a thread wakes a role at most 20 times an hour.
//   - INV-HOOK-SIGNED: of a request to a webhook nothing is read before its signature over the
//     whole body was found right; a body counts once, with any id.
//   - INV-ROLE-SANDBOX: from a decision of a role in testing nothing follows.
//
// It refuses a file with a key it does not know, and an event of a workspace that its sender
// does not belong to, as if there were none.
package roles
