package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"cordelia/schemas"
)

const (
	// TooOften is how many times one call is made until it is a suspicion.
	TooOften = 10

	maxSuspicions = 10
	maxSuspect    = 200 // bytes of a record's own words that a suspicion quotes
	maxToolName   = 100 // bytes
)

// Suspicion is what the record of an attempt shows against its claim. It decides nothing: a
// failed call may be what was wanted. The validator and the auditor see it.
type Suspicion struct {
	Detection schemas.Detection `json:"detection"`
	Text      string            `json:"text"`
}

// Suspicions lists what a result betrays, at most ten. What they quote of the record
// stands in quotes, for it is its executor's or its planner's.
func Suspicions(s schemas.SubTask, r schemas.ExecutionResult) []Suspicion {
	l := suspicions{}
	for _, e := range r.Checks {
		if e.Stale() {
			l.add(schemas.DetectStaleArtefact, "%s", outdated(e))
		}
	}
	for _, e := range Unrecorded(r) {
		l.add(schemas.DetectUnrecorded, "%s is claimed, and %s", quote(e.Target()), e.where())
	}
	l.addHooked(r)
	made := r.ToolCalls
	if r.Recorded != nil {
		made = r.Recorded
	}
	completed := r.Status == schemas.ExecutionCompleted
	if completed && len(made) == 0 && slices.ContainsFunc(s.SuccessCriteria, needsEvidence) {
		l.add(schemas.DetectNoEvidence, "reported as completed without a single tool call, and there are criteria "+
			"that only tool output shows")
	}
	l.addCalls(made, completed)
	return l
}

// addHooked compares the claimed calls with the reports of the client's hooks.
func (l *suspicions) addHooked(r schemas.ExecutionResult) {
	for _, e := range r.ToolCalls {
		reported := hooked(r, e)
		if r.Recorded == nil && e.Exit == 0 && reported != nil && reported.Exit != 0 {
			l.add(schemas.DetectUnrecorded, "%s is claimed to have worked, and the client's hooks reported that it failed",
				quote(e.Target()))
		}
	}
}

// addCalls looks at the calls of an attempt, those with the same target as one.
func (l *suspicions) addCalls(made []schemas.Evidence, completed bool) {
	last, times := map[string]schemas.Evidence{}, map[string]int{}
	var targets []string
	for _, call := range made {
		target := call.Target()
		if times[target] == 0 {
			targets = append(targets, target)
		}
		times[target]++
		last[target] = call
	}
	for _, target := range targets {
		call := last[target]
		if completed && call.Exit != 0 {
			l.add(schemas.DetectFailedTool, "reported as completed, though the last call of %s ended with exit %d",
				quote(target), call.Exit)
		}
		if times[target] >= TooOften {
			l.add(schemas.DetectRepetition, "%s was called %d times", quote(target), times[target])
		}
		if inProse(call) {
			l.add(schemas.DetectUnstructured,
				"%s is no call of a tool: it does not say which tool got which input", quote(target))
		}
	}
}

// outdated words what a machine check found of a file from before.
func outdated(e schemas.Evidence) string { return quote(e.Input) + ": " + e.Head }

type suspicions []Suspicion

func (l *suspicions) add(d schemas.Detection, format string, args ...any) {
	if len(*l) < maxSuspicions {
		*l = append(*l, Suspicion{d, fmt.Sprintf(format, args...)})
	}
}

// needsEvidence reports a criterion that only tool calls of the executor can show.
func needsEvidence(c schemas.Criterion) bool { return c.Mode == schemas.Verifiable && c.Check == nil }

// inProse reports a call that is a sentence, or the seed's one-line form in one of
// the fields.
func inProse(call schemas.Evidence) bool {
	name := strings.TrimSpace(call.Tool)
	return normal(name) == "" || len(name) > maxToolName || strings.ContainsAny(name, "→\n") ||
		call.Input == "" && strings.Contains(name, ":") || strings.Contains(call.Input, " → ")
}

// quote is the beginning of a text in quotes, on one line.
func quote(s string) string {
	if len(s) > maxSuspect {
		s = strings.ToValidUTF8(s[:maxSuspect], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}
