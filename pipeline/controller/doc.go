// Package controller keeps the tasks of the pipeline and moves them on: it opens
// the seats of roles that need judgement as work items, judges what comes back with
// package pipeline, and does what follows, in the transaction the answer commits in.
//
// A task goes R1 → R2 → (R3 → R4a) for each subtask → R4b, and through R7 back to R2
// while a round fails (pipeline v0.7). R1, R2, R3, R4a and R4b are seats; R5 and R7
// are code. Everything a task is lies in rows, so any process goes on where another
// ended.
//
// In a group that works by rules (Assigner) the seats follow them. Where members see
// their own part alone, the coordinator sits in R1, R2 and R4b, R3 sits where the plan
// sends the subtask, and of the rest of a task nobody else of the group is shown
// anything but who takes a seat: the brief of that seat.
//
// Invariants:
//   - INV-TASK-EDGE: a task and its subtasks change their state only along
//     schemas.TaskEdges and schemas.SubTaskEdges.
//   - INV-SETTLED: what the end of a seat leads to happens once, in the transaction
//     that notes it, whoever finds it; until then every task that is not over and
//     waits for no person has an open seat.
//   - INV-DUTIES: no agent judges a subtask that it, or an agent above or below it,
//     executed in any attempt, nor executes one that it judged, nor merges a round in
//     which it or such an agent executed, unless the operator allows it. Code is related
//     to nobody.
//   - INV-BUS: every record between roles is a row of the bus, written with the change
//     it belongs to, and its hash is in the audit record.
//
// It refuses answers that do not hold, with what is wrong; the lease stays, and the
// refusal counts: after three the seat goes to others, if there are any. It never asks
// a judge where code decided: a failed report, a criterion with a machine check, a
// round with a failure.
package controller
