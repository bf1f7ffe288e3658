// Package swarm lets agents work together on one goal (seed §4): it makes them,
// the groups they share and their first work, says how they stand, and ends them.
//
// Invariants:
//   - INV-SWARM-WHOLE: a swarm is there with its groups, agents, memberships and
//     first work, or not at all; it ends the same way, and ending it again changes
//     nothing.
//   - INV-CELL: what a member of a cell writes is read by its cell, the coordinator
//     and who made the swarm; what it reports on a subtask, by its judge too.
//   - INV-STAGE: a stage of a pipeline gets from the stage before it the results of
//     items that are done, with copies of the memory those name as it was when they
//     were reported, and nothing else from any other but what it judges.
//
// The strategies differ in groups and memberships, so that the authorizer decides which agent
// sees what, and not a habit:
//
//	broadcast     all agents are members of the swarm's one group
//	pipeline      each stage has a cell, a group of its own; in the swarm's group
//	              stages only look on
//	hierarchical  each worker has a cell; the coordinator is in all of them, assigns
//	              work there, and shares what others should know
//
// The creator of the swarm owns every group, the coordinator runs them. Arrange sends work offered to
// a swarm to where it belongs; Receive hands results on at the claim, once the items that an
// item builds on are accepted.
//
// Teams gives the task pipeline a swarm's rules and its present members.
//
// The package makes no agent and ends none by itself: registration and deactivation
// touch memory and trust as well, and are functions it is given.
package swarm
