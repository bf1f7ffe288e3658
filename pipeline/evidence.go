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

// Counted gives the calls of an attempt that count. Once a record of the attempt
// exists, the record alone counts; what the executor claims counts while there is
// none, unless the operator demands a record.
func Counted(r schemas.ExecutionResult, rules EvidenceRules, stage, run int) (calls []Call) {
	list, by := r.ToolCalls, schemas.ByClaim
	switch {
	case r.Recorded != nil:
		list, by = r.Recorded, schemas.ByRecord
	case rules.RequireRecorded:
		return nil
	}
	for _, e := range list {
		calls = append(calls, Call{e, by, stage, run, r.Recorded != nil && slices.Contains(r.Unplanned, e)})
	}
	if r.Recorded != nil { // they stand among the others, in order
		return calls
	}
	for _, e := range r.Unplanned { // after the others: when they were made is not known
		calls = append(calls, Call{e, by, stage, run, true})
	}
	return calls
}

// Unrecorded lists the calls that a result claims to have made with success, and that its
// record does not have. Without a record there are none.
func Unrecorded(r schemas.ExecutionResult) (list []schemas.Evidence) {
	for _, claimed := range r.ToolCalls {
		made := func(e schemas.Evidence) bool {
			return ToolName(e.Tool) == ToolName(claimed.Tool) &&
				(squeeze(e.Input) == squeeze(claimed.Input) || runs(e, claimed.Input))
		}
		if r.Recorded != nil && claimed.Exit == 0 && claimed.Input != "" && !slices.ContainsFunc(r.Recorded, made) {
			list = append(list, claimed)
		}
	}
	return list
}

// Proof is what stands beside the words of a judge.
type Proof struct {
	Found      []schemas.JudgedCriterion // the findings of machine checks
	Calls      []Call                    // of the executors
	Unrecorded []schemas.Evidence        // claimed by the executors, and not in their record
	Own        []schemas.Evidence        // of the judge
	Rules      EvidenceRules
}

// prove decides on a verifiable criterion that the judge lets pass. It passes with a
// call that the criterion or the judge names, that exited 0, and after which nothing
// was changed. If the last such call failed, the criterion fails. Without any the
// criterion is held for a person, unless a call of the judge decides.
func (p Proof) prove(c schemas.Criterion, j schemas.JudgedCriterion, named []bool) schemas.CriterionVerdict {
	v := schemas.CriterionVerdict{Criterion: c.Criterion, Mode: c.Mode, Verdict: schemas.Held,
		Evidence: "no call of the executor that exited 0 is named for it"}
	last := -1
	for i := range p.Calls {
		if p.names(c, j, i) && (last < 0 || p.mayFollow(i, last)) {
			last = i
		}
	}
	switch {
	case last >= 0 && p.Calls[last].Exit != 0:
		return failedCall(v, p.Calls[last])
	case last < 0 && c.Command != "" && slices.ContainsFunc(p.Unrecorded,
		func(e schemas.Evidence) bool { return runs(e, c.Command) }):
		v.Verdict, v.By, v.FailureClass = schemas.Fail, schemas.ByRecord, schemas.Logical
		v.Evidence = fmt.Sprintf("the executor says that it ran %s, and the record of its calls does not have it",
			quote(c.Command))
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

// mayFollow reports whether call i came after call j. Of two subtasks that run at once
// nobody knows, so each may have come after the other.
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

// runs reports whether a call runs a command: as the whole of its input, or as one
// step of steps joined by &&, with more arguments or without. A command whose exit
// code another one replaces (with |, ||, ; or &) does not count, and no command behind
// a step that may keep it from running although the call exits 0.
func runs(e schemas.Evidence, command string) bool {
	want := squeeze(command)
	for _, text := range []string{e.Input, e.Tool + " " + e.Input} {
		if squeeze(text) == want {
			return true
		}
		if strings.ContainsAny(strings.ReplaceAll(text, "&&", ""), "|;&\n") {
			continue
		}
		for step := range strings.SplitSeq(text, "&&") {
			step = squeeze(step)
			if step == want || strings.HasPrefix(step, want+" ") && quotesClosed(step) {
				return true
			}
			if !goesOn(step) {
				break
			}
		}
	}
	return false
}

// goesOn reports whether a shell that has run a step with success surely runs the one
// behind it: the && is not inside quotes or a comment, and the step neither ends the shell
// nor gives a name another meaning.
func goesOn(step string) bool {
	if !quotesClosed(step) || strings.HasPrefix(step, "#") || strings.Contains(step, " #") ||
		strings.Contains(strings.ReplaceAll(step, " ", ""), "()") {
		return false
	}
	const ends = " exit exec return logout eval trap function alias hash "
	bare := strings.NewReplacer(`"`, "", "'", "", `\`, "", "(", " ", "{", " ").Replace(step)
	return !slices.ContainsFunc(strings.Fields(bare), func(word string) bool { return listed(ends, word) })
}

// quotesClosed reports whether each quotation mark of a step has its second one.
func quotesClosed(step string) bool {
	return strings.Count(step, `"`)%2 == 0 && strings.Count(step, "'")%2 == 0 && strings.Count(step, "`")%2 == 0
}

// squeeze makes every run of spaces one space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

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
