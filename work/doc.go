// Package work keeps what there is to do: items that agents claim for a time,
// report, and lose when the time or their right ends.
//
// Invariants:
//   - INV-FENCE: a report counts only from who holds the item, with the fence of
//     that lease; fences of an item only rise, and no two leases share one. The
//     same report again gets the same answer and changes nothing.
//   - INV-LEASE: the transaction that takes from an agent, or from anyone above it,
//     what its lease rests on ends the lease, and the item can be claimed again.
//   - INV-WORK-EDGE: an item changes its state only along schemas.WorkEdges.
//
// Who may take an item is a property of its lane: the pool it was put into (who writes
// to a group, who reads one, an entity with all below it), whom
// it was assigned to, its role, the tools it needs, whose relatives may not take it. A
// claim works out which lanes are the caller's and takes the first ready item of
// those from an index, however many items there are.
//
// Leases last by the wall clock. One that is over can be claimed by others at
// once, and still be reported until someone does. A clock that jumps forward ends
// leases early, which the fence makes harmless. One that jumps back would make
// them last for as long as it jumped: what ends later than the longest lease from
// now is over.
//
// The package decides nothing about access: it asks the grant. What a swarm's
// strategy wants lies in the items: assignment, stage, and what each builds on.
package work
