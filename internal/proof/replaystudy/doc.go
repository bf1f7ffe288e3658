// Command replaystudy replays recorded agent runs before policies of replanning and says
// when each would have stopped or changed course: how long after the decisive mistake of
// runs that failed, and how often on runs that succeeded.
//
// A record is no experiment: nobody knows what a run would have done after another
// directive. The study shows who notices, and not who would have solved.
//
// How records become rounds and criteria is in mapping.go and was fixed before the first
// run. The records are in testdata, with their notices; -data names other files of the
// same form.
package main
