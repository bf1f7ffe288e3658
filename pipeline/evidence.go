package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"cordelia/schemas"
)

// EvidenceRules say which tool calls prove a verifiable criterion. They are the
// operator's settings; the zero value is the default.
type EvidenceRules struct {
	RequireRecorded bool     `json:",omitempty"` // a call that only the executor claims proves nothing
	JudgeCalls      bool     `json:",omitempty"` // where no call of an executor proves it, a call of the judge does
	Reading         []string `json:",omitempty"` // tools that change nothing, beside those this package knows
}

// Call is a tool call that counts as evidence, with its place in the order of a round.
type Call struct {
	schemas.Evidence
	By        schemas.Basis
	Stage     int  // the sequence of its subtask
	Run       int  // which subtask made it; the calls of one run are in order
	Unplanned bool // of a tool that the subtask did not plan: no proof, and its change counts
}

// Counted gives the calls of an attempt that count. Once a record of the attempt exists, the
// record alone counts; what the executor claims counts while there is none, unless the operator
// demands a record. If a hook of the client reported the call, the claim counts with the hook's
// result.
func Counted(r schemas.ExecutionResult, rules EvidenceRules, stage, run int) (calls []Call) {
	switch {
	case r.Recorded != nil:
		for _, e := range r.Recorded {
			calls = append(calls, Call{e, schemas.ByRecord, stage, run, slices.Contains(r.Unplanned, e)})
		}
		return calls
	case rules.RequireRecorded:
		return nil
	}
	for _, c := range claimed(r) {
		c.Stage, c.Run = stage, run
		if reported := hooked(r, c.Evidence); !c.Unplanned && reported != nil {
			c.By = schemas.ByHook
			if c.Exit == 0 {
				input := c.Input // as it was made: without it what looked like a secret is missing
				c.Evidence = *reported
				c.Input = input
			}
		} else if !c.Unplanned && unreported(r, c.Evidence) {
			continue
		}
		calls = append(calls, c)
	}
	return calls
}

// claimed are the calls that a result claims, in the order in which they were reported. Where an
// earlier version did not keep the places of the unplanned ones, those come last.
func claimed(r schemas.ExecutionResult) (calls []Call) {
	planned, others := r.ToolCalls, r.Unplanned
	for i := range len(planned) + len(others) {
		at := len(r.Unplanned) - len(others)
		if len(planned) == 0 || at < min(len(r.Unplanned), len(r.UnplannedAt)) && r.UnplannedAt[at] == i {
			calls = append(calls, Call{Evidence: others[0], By: schemas.ByClaim, Unplanned: true})
			others = others[1:]
		} else {
			calls = append(calls, Call{Evidence: planned[0], By: schemas.ByClaim})
			planned = planned[1:]
		}
	}
	return calls
}

// hooked is the last report of the client's hooks on a call, nil if there is none.
func hooked(r schemas.ExecutionResult, claimed schemas.Evidence) *schemas.Evidence {
	for i := range slices.Backward(r.Hooked) {
		if e := &r.Hooked[i]; ToolName(e.Tool) == ToolName(claimed.Tool) && masked(e.Input, claimed.Input) {
			return e
		}
	}
	return nil
}

// unreported reports whether hooks of the client reported calls of an attempt, but not this
// shell call, which is claimed to have worked.
func unreported(r schemas.ExecutionResult, claimed schemas.Evidence) bool {
	return r.Recorded == nil && len(r.Hooked) > 0 && claimed.Exit == 0 && claimed.Input != "" &&
		listed(shellTools, ToolName(claimed.Tool)) && hooked(r, claimed) == nil &&
		!slices.ContainsFunc(r.Hooked, func(e schemas.Evidence) bool { return e.Exit == 0 && matches(e, claimed) })
}

// masked reports whether the input of a call may be the one that a hook reported, which leaves
// out text that looked like a secret.
func masked(reported, input string) bool {
	reported, input = squeeze(reported), squeeze(input)
	first, rest, cut := strings.Cut(reported, schemas.LeftOut)
	if !cut {
		return reported == input
	}
	input, ok := strings.CutPrefix(input, first)
	parts := strings.Split(rest, schemas.LeftOut)
	for i, part := range parts {
		at := strings.Index(input, part)
		if i == len(parts)-1 && strings.HasSuffix(input, part) {
			return ok
		}
		if at < 0 {
			return false
		}
		input = input[at+len(part):]
	}
	return false
}

// Unrecorded lists the calls that a result claims to have made with success, and that its
// record does not have: the node's record or, without one, the reports of the client's hooks.
func Unrecorded(r schemas.ExecutionResult) (list []Missing) {
	for _, claimed := range r.ToolCalls {
		made := func(e schemas.Evidence) bool { return matches(e, claimed) }
		switch {
		case unreported(r, claimed):
			list = append(list, Missing{claimed, schemas.ByHook})
		case r.Recorded != nil && claimed.Exit == 0 && claimed.Input != "" && !slices.ContainsFunc(r.Recorded, made):
			list = append(list, Missing{claimed, schemas.ByRecord})
		}
	}
	return list
}

// Missing is a claimed call that By does not have.
type Missing struct {
	schemas.Evidence
	By schemas.Basis
}

// where says what does not have it.
func (m Missing) where() string {
	if m.By == schemas.ByHook {
		return "the client's hooks reported other calls, not this one"
	}
	return "the record of the calls does not have it"
}

// Proof is what stands beside the words of a judge.
type Proof struct {
	Found      []schemas.JudgedCriterion // the findings of machine checks
	Calls      []Call                    // of the executors
	Unrecorded []Missing                 // claimed by the executors
	Own        []schemas.Evidence        // of the judge
	Rules      EvidenceRules
}

// prove decides on a verifiable criterion that the judge lets pass. It passes with a
// call that the criterion or the judge names, that exited 0, and after which nothing
// was changed. If the last such call failed, or the judge's own run of the command, the
// criterion fails. Without any the criterion is held for a person, unless a call of the
// judge decides.
func (p Proof) prove(c schemas.Criterion, j schemas.JudgedCriterion, named []bool) schemas.CriterionVerdict {
	v := schemas.CriterionVerdict{Criterion: c.Criterion, Mode: c.Mode, Verdict: schemas.Held,
		Evidence: "no call of the executor that exited 0 is named for it"}
	last := -1
	for i := range p.Calls {
		if p.names(c, j, i) && (last < 0 || p.mayFollow(i, last)) {
			last = i
		}
	}
	own := p.ownRun(c)
	switch {
	case own != nil && own.Exit != 0: // over any call of an executor, who may have prepared what it ran in
		return failedCall(v, Call{Evidence: *own, By: schemas.ByJudgeCall})
	case last >= 0 && p.Calls[last].Exit != 0:
		return failedCall(v, p.Calls[last])
	case last < 0 && p.missing(c) != nil:
		m := p.missing(c)
		v.Verdict, v.By, v.FailureClass = schemas.Fail, m.By, schemas.Logical
		v.Evidence = fmt.Sprintf("the executor says that it ran %s, and %s", quote(c.Command), m.where())
		return v
	case last < 0 && c.Command == "" && p.lastFailed() != nil:
		return failedCall(v, *p.lastFailed())
	case last < 0 && c.Command != "":
		v.Evidence = fmt.Sprintf("no call ran %s", quote(c.Command))
	case last >= 0:
		at := p.changeAfter(last, named)
		if at < 0 {
			v.Verdict, v.By, v.Evidence = schemas.Pass, p.Calls[last].By, j.Evidence
			if !strings.Contains(v.Evidence, p.Calls[last].Target()) {
				v.Evidence = strings.TrimSpace(p.Calls[last].String() + "; " + v.Evidence)
			}
			return v
		}
		v.Evidence = fmt.Sprintf("%s exited 0, and %s may have changed something after it",
			quote(p.Calls[last].Target()), quote(p.Calls[at].Target()))
	}
	if p.Rules.JudgeCalls {
		return p.proveOwn(c, j, v)
	}
	return v
}

// missing is a claimed run of the command that a criterion names, which nothing shows.
func (p Proof) missing(c schemas.Criterion) *Missing {
	for i := range p.Unrecorded {
		if c.Command != "" && runs(p.Unrecorded[i].Evidence, c.Command) {
			return &p.Unrecorded[i]
		}
	}
	return nil
}

// lastFailed is the last planned call of all if it failed, else nil.
func (p Proof) lastFailed() *Call {
	for i := range slices.Backward(p.Calls) {
		if c := &p.Calls[i]; !c.Unplanned {
			if c.Exit == 0 {
				return nil
			}
			return c
		}
	}
	return nil
}

// ownRun is the judge's last run of the command that a criterion names, nil if there is none.
func (p Proof) ownRun(c schemas.Criterion) *schemas.Evidence {
	for i := range slices.Backward(p.Own) {
		if c.Command != "" && runs(p.Own[i], c.Command) {
			return &p.Own[i]
		}
	}
	return nil
}

// proveOwn lets the last call of the judge that is named for a criterion decide.
func (p Proof) proveOwn(c schemas.Criterion, j schemas.JudgedCriterion,
	v schemas.CriterionVerdict) schemas.CriterionVerdict {
	for _, e := range slices.Backward(p.Own) {
		if c.Command != "" && !runs(e, c.Command) || c.Command == "" && !strings.Contains(j.Evidence, e.Target()) {
			continue
		}
		if e.Exit != 0 {
			return failedCall(v, Call{Evidence: e, By: schemas.ByJudgeCall})
		}
		v.Verdict, v.By, v.Evidence = schemas.Pass, schemas.ByJudgeCall, e.String()
		break
	}
	return v
}

// Exits that say that a program could not be started, as shells give them.
const (
	exitNoStart = 126
	exitMissing = 127
)

func failedCall(v schemas.CriterionVerdict, c Call) schemas.CriterionVerdict {
	v.Verdict, v.By, v.FailureClass = schemas.Fail, c.By, schemas.Logical
	if c.Exit == exitNoStart || c.Exit == exitMissing {
		v.FailureClass = schemas.Environmental
	}
	v.Evidence = "the last call that could show it failed: " + c.String()
	return v
}

// names reports whether call i is one that shows the criterion: it runs the command
// the criterion names or, if that names none, the judge names the call, by its number
// or its text. The same call made again is named too.
func (p Proof) names(c schemas.Criterion, j schemas.JudgedCriterion, i int) bool {
	if p.Calls[i].Unplanned {
		return false
	}
	if c.Command != "" {
		return runs(p.Calls[i].Evidence, c.Command)
	}
	target := p.Calls[i].Target()
	if j.Call > 0 && j.Call <= len(p.Calls) && p.Calls[j.Call-1].Target() == target {
		return true
	}
	return p.Calls[i].Input != "" && strings.Contains(j.Evidence, target)
}

// mayFollow reports whether call i came after call j. The order of two subtasks that run at
// once is unknown, so each may have come after the other.
func (p Proof) mayFollow(i, j int) bool {
	a, b := p.Calls[i], p.Calls[j]
	if a.Run == b.Run {
		return i > j
	}
	return a.Stage >= b.Stage
}

// changeAfter finds a call after call at that may have changed something, -1 if there
// is none.
func (p Proof) changeAfter(at int, named []bool) int {
	for i := range p.Calls {
		if i != at && p.mayFollow(i, at) && p.Rules.changes(p.Calls[i].Evidence, named[i]) {
			return i
		}
	}
	return -1
}

// named marks the calls that some criterion or verdict names: they are checks.
func (p Proof) named(criteria []schemas.Criterion, given map[int]schemas.JudgedCriterion) []bool {
	out := make([]bool, len(p.Calls))
	for i := range out {
		for k, c := range criteria {
			out[i] = out[i] || c.Check == nil && p.names(c, given[k], i)
		}
	}
	return out
}

// runs reports whether a call runs a command and nothing beside it: a shell's, whose text
// is the command, but for spaces. A longer text may keep it from running, give it another
// meaning or replace its exit code, and a tool that is no shell only holds its words.
func runs(e schemas.Evidence, command string) bool {
	return listed(shellTools, ToolName(e.Tool)) && squeeze(e.Input) == squeeze(command)
}

// matches reports whether a call, or one of its steps, is the claimed call.
func matches(e, claimed schemas.Evidence) bool {
	want := squeeze(claimed.Input)
	return ToolName(e.Tool) == ToolName(claimed.Tool) &&
		(squeeze(e.Input) == want || slices.ContainsFunc(steps(e.Input), func(step string) bool {
			return step == want || strings.HasPrefix(step, want+" ")
		}))
}

// steps splits a shell text into its commands, as far as it can.
func steps(text string) (list []string) {
	for _, step := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("&|;\n", r) }) {
		list = append(list, squeeze(step))
	}
	return list
}

// squeeze makes every run of spaces one space. A line's end is none: it ends a command.
func squeeze(s string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(s)) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// Unproven says of each criterion that names a command why a pass would not count.
// It is for the brief of a judge, who may send the executor back instead.
func (p Proof) Unproven(criteria []schemas.Criterion) (list []string) {
	named := p.named(criteria, nil)
	for _, c := range criteria {
		if c.Check != nil || c.Command == "" {
			continue
		}
		if v := p.prove(c, schemas.JudgedCriterion{}, named); v.Verdict != schemas.Pass {
			list = append(list, fmt.Sprintf("%s: a pass would not count: %s", quote(c.Criterion), v.Evidence))
		}
	}
	return list
}
