// Package work keeps the queue of work items. Agents claim an item for a time and report on it;
// they lose it when the time or their right ends.
//
// Invariants:
//   - INV-FENCE: a report counts only from the holder of the item, with the fence of that
//     lease; fences of an item only rise, and no two leases share one. The same report again
//     gets the same answer and changes nothing.
//   - INV-LEASE: the transaction that takes from an agent, or from an ancestor of it, a right
//     that its lease requires ends the lease, and the item can be claimed again.
//   - INV-WORK-CHECKED: work that names commands is done only if the node ran each of them on its
//     result and they exited 0; if the node ran none, a person decides.
//   - INV-WORK-EDGE: an item changes its state only along schemas.WorkEdges.
//
// Items with the same requirements share an eligibility class (table work_lanes): the pool they
// were put into (the writers of a group, its readers, or an entity with all its descendants),
// the agent they are assigned to, their role, the tools they need, the agents whose relatives
// may not take them. A claim finds the classes the caller is eligible for and takes their first
// ready item from an index, so its cost does not grow with the number of items.
//
// Leases last by the wall clock. An item whose lease is over can be claimed by others at once,
// and until then still be reported by its last holder. A clock that jumps forward ends leases
// early, which the fence makes harmless. One that jumps back would make them last for as long
// as it jumped: what ends later than the longest lease from now is over.
//
// The package decides nothing about access: it asks the grant. What a swarm's
// strategy wants lies in the items: assignment, stage, and what each builds on.
package work
