// Package pipeline decides what happens to a task. Its decisions are pure functions: they keep
// no state, make no calls and do not read the clock.
//
// Decode finds an answer in a model's text. CheckPlan checks a plan against what the task has
// learnt, Calibrate derives that from memory: which approaches (a tool and what it is used on)
// failed or worked in earlier tasks. Aggregate makes a subtask's outcome of verdicts, FanIn
// gathers the outcomes of a round, and Solve turns a failed round into a directive (pipeline
// v0.7, R1 … R7). Detect and Drifted are for the auditor: they return what they find in the
// messages between roles. Which state of a task follows which is in schemas.
//
// Invariants:
//   - INV-IDS: no id that a model or an agent made up is taken over.
//   - INV-ALLPASS: a subtask matched only if it was reported as completed and each
//     of its criteria passed, with evidence.
//   - INV-PROOF: a verifiable criterion passes only by a machine check, or by a named
//     call that exited 0 after the last change; if the last such call failed, it fails.
//     With neither, a person decides.
//   - INV-FANIN: fan-in counts distinct subtasks of the current round, each by its
//     first outcome; what repeats it or comes from another round does not count.
//   - INV-GATE: with one failed outcome of the current round the gate stays shut, in any order
//     of outcomes, and no judge is asked.
//   - INV-MUSTNOT: a plan that uses what memory or a directive forbids, or that was
//     tried in this task already, is not dispatched.
//   - INV-GGS-ABANDON: with the budget used up, after the last round allowed, or without a tool
//     left, the directive is abandon, in each table.
//   - INV-GGS-NO-ACCEPT: no row of any table accepts a result.
//
// It refuses ambiguous answers: one with two objects that match, and a broken object that could
// be repaired in two ways.
package pipeline
