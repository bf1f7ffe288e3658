package main

import (
	"slices"

	"cordelia/schemas"
)

// round is a part of a run as a policy meets it.
type round struct {
	step    int // after which it ends
	calls   []schemas.Evidence
	passed  []string // criteria
	missed  []string
	class   schemas.FailureClass // of what was missed
	stalled bool                 // as the run's own ledger says
}

// failed reports whether a policy is asked after the round.
func (r round) failed() bool { return len(r.missed) > 0 }

// The criteria that records give. A round fails if it misses one of those that its source
// has; a round that misses none ends the episode, and policies begin anew.
const (
	progresses = "makes progress"
	noLoop     = "is in no loop"
	runs       = "its calls work"
	isNew      = "was not tried before"
)

// outside are the mechanical errors that blame the world and not the approach.
func outside(err string) bool {
	return slices.Contains([]string{"network", "blocked", "timeout", "missing"}, err)
}

func (r *round) judge(criterion string, passed bool) {
	if passed {
		r.passed = append(r.passed, criterion)
	} else {
		r.missed = append(r.missed, criterion)
	}
}

// callOf is an action as a tool call: the agent is the tool, its normalised action the input.
func callOf(a action) schemas.Evidence {
	e := schemas.Evidence{Tool: a.Agent, Input: a.Sig}
	if a.failed() {
		e.Exit = 1
	}
	return e
}

// rounds of a failed run. With an orchestrator a round lasts from one progress ledger to
// the next, and the later one judges it; rounds without an action are none. In a generated
// team every execution is a round; code that a terminal runs counts once, by the terminal.
func (l log) rounds() (list []round) {
	if len(l.Ledger) == 0 {
		return l.executions()
	}
	for i, entry := range l.Ledger {
		if i == 0 {
			continue
		}
		r := round{step: entry.Step, class: schemas.Logical, stalled: !entry.Progress || entry.Loop}
		worked := true
		for _, a := range l.Actions {
			if a.Step <= l.Ledger[i-1].Step || a.Step >= entry.Step || a.Agent == "Orchestrator" {
				continue
			}
			r.calls = append(r.calls, callOf(a))
			if a.failed() {
				worked = false
				if outside(a.Err) {
					r.class = schemas.Environmental
				}
			}
		}
		if len(r.calls) == 0 {
			continue
		}
		r.judge(progresses, entry.Progress)
		r.judge(noLoop, !entry.Loop)
		if r.failed() || worked { // a call that fails while the run gets on is no failed round
			r.judge(runs, worked)
		}
		list = append(list, r)
	}
	return list
}

func (l log) executions() (list []round) {
	seen := map[string]bool{}
	for _, a := range l.Actions {
		if a.Kind != "tool" && a.Kind != "browse" || a.OK == nil {
			continue
		}
		r := round{step: a.Step, calls: []schemas.Evidence{callOf(a)}, class: schemas.Logical}
		if outside(a.Err) {
			r.class = schemas.Environmental
		}
		r.judge(runs, !a.failed())
		r.judge(isNew, !seen[a.Sig])
		seen[a.Sig] = true
		list = append(list, r)
	}
	return list
}

// rounds of a run with tools: every call is one. An error of a tool says nothing of whom
// to blame, and counts as the approach's.
func (t trajectory) rounds() (list []round) {
	seen := map[string]bool{}
	for i, sig := range t.Sigs {
		bad := slices.Contains(t.Errors, i)
		e := schemas.Evidence{Tool: t.Tools[i], Input: sig}
		if bad {
			e.Exit = 1
		}
		r := round{step: i, calls: []schemas.Evidence{e}, class: schemas.Logical}
		r.judge(runs, !bad)
		r.judge(isNew, !seen[sig])
		seen[sig] = true
		list = append(list, r)
	}
	return list
}
