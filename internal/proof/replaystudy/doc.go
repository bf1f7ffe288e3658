// Command replaystudy replays recorded agent runs before policies of replanning and says
// when each would have stopped or changed course: how long after the decisive mistake of
// runs that failed, and how often on runs that succeeded.
//
// A record is no experiment: what a run would have done after another directive is unknown. The
// study shows which policy notices a mistake, not which would have solved the task.
//
// How records become rounds and criteria is in mapping.go and was fixed before the first
// run. The records are in testdata, with their notices; -data names other files of the
// same form.
package main
