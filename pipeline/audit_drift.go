package pipeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"cordelia/schemas"
)

// Drift of a role is reported when there are enough cases, now and before, and the rates differ
// by at least driftApart and driftErrors standard errors: by chance alone one measure in 16,000
// does.
const (
	driftCases  = 20
	driftPast   = 50
	driftApart  = 0.1
	driftErrors = 4.0

	maxShown = 10 // messages that a finding about a role names
)

// Behaviour counts what a role did, by measure.
type Behaviour map[string]*Rate

// Rate is how often something happened among how many cases.
type Rate struct {
	Role     schemas.PipelineRole
	What     string // in words
	Hits     int
	Cases    int
	PerCase  bool     // more than one hit can come of a case
	Examples []string // ids of messages, the newest hits
}

// Count adds a message to what its sender did.
func (b Behaviour) Count(e schemas.AuditEvent) {
	refused := e.Record == recordRefused
	if role, answers := answered(e); answers || refused {
		if refused {
			role = e.From
		}
		b.saw(role, "had an answer refused", refused, e)
	}
	switch e.Record {
	case recordClarification, recordTaskSpec:
		b.saw(schemas.Perceiver, "asked the user", e.Record == recordClarification, e)
	case recordManifest:
		b.saw(schemas.Planner, "planned another round", e.Round > 1, e)
	case recordSubTask:
		b.rate(schemas.AgentValidator, "corrected a subtask", true).Cases++
	case recordCorrection:
		b.rate(schemas.AgentValidator, "corrected a subtask", true).hit(e)
	case recordResult:
		var r schemas.ExecutionResult
		json.Unmarshal(e.Message, &r) //nolint:errcheck // what cannot be read did not complete
		b.saw(schemas.Executor, "did not complete a subtask", r.Status != schemas.ExecutionCompleted, e)
	case recordOutcome:
		var o schemas.SubTaskOutcome
		json.Unmarshal(e.Message, &o) //nolint:errcheck // what cannot be read is no match
		b.saw(schemas.AgentValidator, "failed a subtask", o.Failed(), e)
	case recordMerge:
		b.saw(schemas.MetaValidator, "rejected a merge", e.To != "", e)
	case recordDirective:
		var d schemas.PlanDirective
		json.Unmarshal(e.Message, &d) //nolint:errcheck // what cannot be read abandons nothing
		b.saw(schemas.GradientSolver, "abandoned a task", d.Directive == schemas.Abandon, e)
	}
}

// answered tells whose answer a message came of, once for each answer taken.
func answered(e schemas.AuditEvent) (schemas.PipelineRole, bool) {
	switch e.Record {
	case recordTaskSpec, recordClarification, recordManifest, recordResult, recordCorrection, recordOutcome,
		recordMerge:
		return e.From, true
	}
	return "", false
}

func (b Behaviour) rate(role schemas.PipelineRole, what string, perCase bool) *Rate {
	key := string(role) + " " + what
	if b[key] == nil {
		b[key] = &Rate{Role: role, What: what, PerCase: perCase}
	}
	return b[key]
}

func (b Behaviour) saw(role schemas.PipelineRole, what string, hit bool, e schemas.AuditEvent) {
	r := b.rate(role, what, false)
	r.Cases++
	if hit {
		r.hit(e)
	}
}

func (r *Rate) hit(e schemas.AuditEvent) {
	r.Hits++
	r.Examples = append(r.Examples[max(0, len(r.Examples)-maxShown+1):], e.EventID)
}

func (r *Rate) of() float64 { return float64(r.Hits) / float64(r.Cases) }

// deviation is by how many standard errors two rates differ. p is that of both
// together. A share has variance p(1−p), the two-proportion z test; a count for
// each case has variance p, as a Poisson count has.
func (r *Rate) deviation(past *Rate) float64 {
	p := float64(r.Hits+past.Hits) / float64(r.Cases+past.Cases)
	variance := p * (1 - p)
	if r.PerCase {
		variance = p
	}
	if variance <= 0 {
		return 0
	}
	return (r.of() - past.of()) / math.Sqrt(variance*(1/float64(r.Cases)+1/float64(past.Cases)))
}

// Drifted finds roles that behave otherwise than they did before (pipeline v0.7,
// R6: role drift).
func Drifted(past, now Behaviour) (out []schemas.AuditFinding) {
	for _, role := range schemas.PipelineRoles() {
		for _, key := range slices.Sorted(maps.Keys(now)) {
			is, was := now[key], past[key]
			if is.Role != role || was == nil || is.Cases < driftCases || was.Cases < driftPast {
				continue
			}
			z := is.deviation(was)
			if math.Abs(is.of()-was.of()) < driftApart || math.Abs(z) < driftErrors {
				continue
			}
			out = append(out, schemas.AuditFinding{Detection: schemas.DetectRoleDrift, Accountable: role,
				EventIDs: append([]string{}, is.Examples...),
				Finding: fmt.Sprintf(
					"%s %s %.2f times in a case (%d of %d), and %.2f in the time before (%d of %d): %.1f standard "+
						"errors apart",
					role, is.What, is.of(), is.Hits, is.Cases, was.of(), was.Hits, was.Cases, z)})
		}
	}
	return out
}
