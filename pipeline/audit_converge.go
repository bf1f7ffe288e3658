package pipeline

import (
	"slices"

	"cordelia/schemas"
)

// Thresholds of the auditor (pipeline v0.7, R6).
const (
	manyCorrections = 5 // correction signals within a task
	inARow          = 2 // rises of the loss, or broken symmetries without effect
)

// drift: a task is corrected again and again, in whichever rounds and subtasks: a
// subtask alone has fewer attempts than that.
func (l *taskLog) drift(Watch) {
	signals := l.of(recordCorrection)
	if len(signals) < manyCorrections {
		return
	}
	last := signals[len(signals)-1]
	subtask := last.SubTaskID
	if slices.ContainsFunc(signals, func(e schemas.AuditEvent) bool { return e.SubTaskID != subtask }) {
		subtask = ""
	}
	l.report(schemas.AgentValidator, subtask, signals[:min(len(signals), maxShown)],
		"the task was corrected %d times, up to round %d", len(signals), last.Round)
}

// divergence: the loss rises by more than ε in rounds that follow each other.
func (l *taskLog) divergence(w Watch) {
	var rising []schemas.AuditEvent
	for _, d := range each[schemas.PlanDirective](l, recordDirective) {
		if !above(d.body.GradL, w.epsilon(l.task)) {
			rising = nil
			continue
		}
		if rising = append(rising, d.AuditEvent); len(rising) == inARow {
			l.report(schemas.GradientSolver, "", rising,
				"the loss rose by more than %g %d times in a row, at last by %.3f to %.3f", w.epsilon(l.task), inARow,
				d.body.GradL, d.body.Loss.L)
		}
	}
}

// thrashing: symmetry is broken again and D does not fall.
func (l *taskLog) thrashing(Watch) {
	var stuck []schemas.AuditEvent
	var last float64
	for _, d := range each[schemas.PlanDirective](l, recordDirective) {
		switch {
		case d.body.Directive != schemas.BreakSymmetry:
			stuck = nil
		case len(stuck) > 0 && !atLeast(d.body.Loss.D, last): // it helped
			stuck = []schemas.AuditEvent{d.AuditEvent}
		default:
			stuck = append(stuck, d.AuditEvent)
		}
		last = d.body.Loss.D
		if len(stuck) == inARow {
			l.report(schemas.GradientSolver, "", stuck, "symmetry was broken %d times in a row, and D is still %.2f",
				inARow, last)
		}
	}
}
