package pipeline

import (
	"slices"

	"cordelia/schemas"
)

// GateState is what the outcomes of a round so far allow.
type GateState string

// The states of the gate.
const (
	GateWaiting GateState = "waiting" // for outcomes that are missing
	GateShut    GateState = "shut"    // all are in and some failed: to R7, no judge is asked
	GateOpen    GateState = "open"    // all are in and none failed: merge and judge
)

// Gathered is what fan-in makes of outcomes.
type Gathered struct {
	State   GateState
	Counted []schemas.SubTaskOutcome // in the order of the manifest
	Missing []string                 // ids of subtasks
	Failed  []string
}

// FanIn gathers outcomes, in the order they came, for the round of a manifest
// (pipeline v0.7, R4b). A second outcome that failed where the first matched is no
// duplicate but a contradiction: it is not counted, and the subtask failed.
func FanIn(m schemas.DispatchManifest, outcomes []schemas.SubTaskOutcome) Gathered {
	first, doubted := firstOutcomes(m, outcomes)
	var g Gathered
	for i, id := range m.SubTaskIDs {
		if slices.Contains(m.SubTaskIDs[:i], id) {
			continue
		}
		o, in := first[id]
		if !in {
			g.Missing = append(g.Missing, id)
			continue
		}
		if doubted[id] && !o.Failed() {
			o.Status, o.FailureReason = schemas.OutcomeFailed, "it was reported as matched and as failed"
		}
		// A status this does not know, or one that its verdicts do not bear out, is no match.
		if o.Failed() || !NoneFailed(o.CriteriaVerdicts) || o.Status == schemas.Matched &&
			!AllPass(o.CriteriaVerdicts) {
			g.Failed = append(g.Failed, id)
			o.Status = schemas.OutcomeFailed
		}
		g.Counted = append(g.Counted, o)
	}
	switch { // (INV-GATE)
	case len(g.Missing) > 0:
		g.State = GateWaiting
	case len(g.Failed) > 0 || len(g.Counted) == 0:
		g.State = GateShut
	default:
		g.State = GateOpen
	}
	return g
}

// firstOutcomes gives the first outcome of each subtask of the round, and the subtasks of which
// a later outcome contradicts the first.
func firstOutcomes(m schemas.DispatchManifest, outcomes []schemas.SubTaskOutcome) (
	first map[string]schemas.SubTaskOutcome, doubted map[string]bool) {
	first, doubted = map[string]schemas.SubTaskOutcome{}, map[string]bool{}
	for _, o := range outcomes { // (INV-FANIN)
		if o.ParentTaskID != m.TaskID || o.Round != m.Round || !slices.Contains(m.SubTaskIDs, o.SubTaskID) {
			continue
		}
		if before, known := first[o.SubTaskID]; !known {
			first[o.SubTaskID] = o
		} else if o.Status != before.Status {
			doubted[o.SubTaskID] = true
		}
	}
	return first, doubted
}
