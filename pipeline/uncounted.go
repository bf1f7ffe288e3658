package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"cordelia/schemas"
)

// maxUncounted is how many calls one note names.
const maxUncounted = 5

// Uncounted says to an executor which of the calls that it reported are no evidence, and why.
func Uncounted(s schemas.PlannedSubTask, r schemas.ExecutionResult, rules EvidenceRules) (notes []string) {
	switch {
	case r.Recorded != nil:
		return nil
	case rules.RequireRecorded && len(r.ToolCalls)+len(r.Unplanned) > 0:
		return []string{"none of the calls is evidence: this task takes what the node recorded alone"}
	}
	if len(r.Unplanned) > 0 {
		notes = append(notes, fmt.Sprintf("no evidence, for the plan names only %s: %s; what they changed counts where "+
			"they stand", schemas.Shorten(strings.Join(s.Tools, ", "), 200), targets(r.Unplanned)))
	}
	var missing []schemas.Evidence
	for _, m := range Unrecorded(r) {
		missing = append(missing, m.Evidence)
	}
	if missing != nil {
		notes = append(notes, fmt.Sprintf("no evidence, for the hooks of your client reported other calls: %s",
			targets(missing)))
	}
	return notes
}

// targets names calls, the first few of them.
func targets(calls []schemas.Evidence) string {
	var names []string
	for _, e := range calls[:min(len(calls), maxUncounted)] {
		names = append(names, quote(e.Target()))
	}
	if more := len(calls) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// Unlisted lists the verdicts on what is none of the criteria.
func Unlisted(criteria []schemas.Criterion, given []schemas.JudgedCriterion) (bad []schemas.Violation) {
	for i, j := range given {
		if place(criteria, j.Criterion) < 0 {
			bad = append(bad, schemas.Violation{Path: fmt.Sprintf("/verdicts/%d/criterion", i),
				Msg: quote(j.Criterion) + " is none of the criteria"})
		}
	}
	return first(bad)
}

// Bounds of the criteria that a refusal names.
const (
	maxNamed = 8
	allNamed = 320 // bytes of all of them
)

// Named names the criteria that a judge decides, in few words.
func Named(criteria []schemas.Criterion) string {
	var names []string
	for _, c := range criteria {
		if c.Check == nil {
			names = append(names, c.Criterion)
		}
	}
	if names == nil {
		return "no verdict, for a machine check decides each"
	}
	more := len(names) - maxNamed
	names = names[:min(len(names), maxNamed)]
	for i, name := range names {
		names[i] = fmt.Sprintf("%q", schemas.Shorten(name, allNamed/len(names)))
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("and %d more of the brief", more))
	}
	return "each word for word: " + strings.Join(names, ", ")
}

// Misnamed lists the verdicts that name a call which is none of those that the judge was shown.
func (p Proof) Misnamed(given []schemas.JudgedCriterion) (bad []schemas.Violation) {
	var shown []int
	for i, c := range p.Calls {
		if !c.Unplanned {
			shown = append(shown, i+1)
		}
	}
	for i, j := range given {
		if j.Call == 0 || slices.Contains(shown, j.Call) {
			continue
		}
		msg := fmt.Sprintf("there is no call %d: the calls are %s", j.Call,
			strings.Trim(strings.ReplaceAll(fmt.Sprint(shown), " ", ", "), "[]"))
		if shown == nil {
			msg = "there are no calls: leave it out"
		}
		bad = append(bad, schemas.Violation{Path: fmt.Sprintf("/verdicts/%d/call", i), Msg: msg})
	}
	return bad
}
