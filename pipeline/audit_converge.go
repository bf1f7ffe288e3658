package pipeline

import "cordelia/schemas"

// Thresholds of the auditor (pipeline v0.7, R6).
const (
	manyCorrections = 5 // correction signals for one subtask
	inARow          = 2 // rises of the loss, or broken symmetries without effect
)

// drift: a subtask is corrected again and again.
func (l *taskLog) drift(Watch) {
	signals := map[string][]schemas.AuditEvent{}
	for _, e := range l.of(recordCorrection) {
		if signals[e.SubTaskID] = append(signals[e.SubTaskID], e); len(signals[e.SubTaskID]) == manyCorrections {
			l.report(schemas.AgentValidator, e.SubTaskID, signals[e.SubTaskID], "the subtask was corrected %d times and the gap did not close", manyCorrections)
		}
	}
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
			l.report(schemas.GradientSolver, "", rising, "the loss rose by more than %g %d times in a row, at last by %.3f to %.3f", w.epsilon(l.task), inARow, d.body.GradL, d.body.Loss.L)
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
			l.report(schemas.GradientSolver, "", stuck, "symmetry was broken %d times in a row, and D is still %.2f", inARow, last)
		}
	}
}
