// Package controller keeps the tasks of the pipeline and moves them on: it opens
// the seats of roles that need judgement as work items, judges what comes back with
// package pipeline, and does what follows, in the transaction the answer commits in.
//
// A task goes R1 → R2 → (R3 → R4a) for each subtask → R4b, and through R7 back to R2 while a
// round fails (pipeline v0.7). R1, R2, R3, R4a and R4b are seats; R5 and R7 are code. All state
// of a task is in the database, so any process continues where another ended.
//
// In a group that works by rules (Assigner) the seats follow them. Where members see their own
// part alone, the coordinator sits in R1, R2 and R4b, R3 sits where the plan sends the subtask.
// An agent of the group that takes another seat is shown the brief of that seat; the group is
// shown nothing else of the task.
//
// Invariants:
//   - INV-TASK-EDGE: a task and its subtasks change their state only along
//     schemas.TaskEdges and schemas.SubTaskEdges.
//   - INV-SETTLED: what follows from the end of a seat happens once, in the transaction that
//     records it, in any process; until then every task that is not over and waits for no
//     person has an open seat.
//   - INV-DUTIES: no agent judges a subtask that it, or an agent above or below it, executed in
//     any attempt, nor executes one that it judged, nor merges a round in which it or such an
//     agent executed, unless the operator allows it. Code is related to no agent.
//   - INV-BUS: every record between roles is a row of the bus, written with the change
//     it belongs to, and its hash is in the audit record.
//
// It refuses answers that do not hold, with what is wrong; the lease stays, and the refusal
// counts: after three the seat goes to others, if there are any. It opens no judge's seat where
// code decides: a failed report, a criterion with a machine check, a round with a failure.
package controller
