// Command gatesim puts seeded faults before the gate of a real node and counts what
// it lets through and what it turns away, beside a gate that accepts by one overall
// score of the same evidence.
//
// Each trial is a task of one subtask, submitted, planned, executed, judged and
// merged through the operations of the catalogue, on a SQLite file, with files and
// machine checks. Only who sits in the seats is scripted: what the executor leaves in
// the files and says about them, and how a judge who errs reads that.
//
// Faults, judge, thresholds, shares and seeds are constants of fault.go and judge.go,
// fixed before the first run. There are no options.
package main
