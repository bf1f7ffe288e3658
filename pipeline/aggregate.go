package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"cordelia/schemas"
)

// RetryBudget is how many correction signals a subtask gets by default: three
// attempts.
const RetryBudget = 2

// Verdicts makes verdicts on record of what was said and shown about criteria: one for
// each, in their order, with the mode that was planned. A machine check decides its
// criterion. Of any other, a missing verdict, or a pass without evidence, is a failure;
// of two verdicts the failure counts; and a verifiable one passes with proof alone
// (INV-PROOF). Notes name what was passed over.
func Verdicts(criteria []schemas.Criterion, given []schemas.JudgedCriterion,
	p Proof) (verdicts []schemas.CriterionVerdict, notes []string) {
	byPlace := map[int]schemas.JudgedCriterion{}
	for _, j := range given {
		at := place(criteria, j.Criterion)
		switch {
		case at < 0:
			notes = append(notes, fmt.Sprintf("a verdict on %q, which is no criterion, was passed over", j.Criterion))
			continue
		case criteria[at].Check != nil:
			notes = append(notes, fmt.Sprintf("a verdict on %q was passed over: a machine check decides it",
				j.Criterion))
			continue
		}
		before, twice := byPlace[at]
		if twice {
			notes = append(notes, fmt.Sprintf("two verdicts on %q", j.Criterion))
		}
		if !twice || before.Verdict == schemas.Pass {
			byPlace[at] = j
		}
	}
	named := p.named(criteria, byPlace)
	for i, c := range criteria {
		j, judged := byPlace[i]
		switch {
		case c.Check != nil:
			verdicts = append(verdicts, p.checked(c))
		case judged:
			verdicts = append(verdicts, p.verdict(c, j, named))
		default:
			verdicts = append(verdicts, failedVerdict(c, "no verdict on it came", "", ""))
		}
	}
	return verdicts, notes
}

func failedVerdict(c schemas.Criterion, evidence string, class schemas.FailureClass,
	by schemas.Basis) schemas.CriterionVerdict {
	return schemas.CriterionVerdict{Criterion: c.Criterion, Mode: c.Mode, Verdict: schemas.Fail, FailureClass: class,
		Evidence: evidence, By: by}
}

// checked is the verdict of a machine check; a criterion that no machine looked at
// failed.
func (p Proof) checked(c schemas.Criterion) schemas.CriterionVerdict {
	at := slices.IndexFunc(p.Found, func(j schemas.JudgedCriterion) bool { return j.Criterion == c.Criterion })
	if at < 0 {
		return failedVerdict(c, "the machine check was not run", schemas.Environmental, "")
	}
	f := p.Found[at]
	return schemas.CriterionVerdict{Criterion: c.Criterion, Mode: c.Mode, Verdict: f.Verdict,
		FailureClass: f.FailureClass, Evidence: f.Evidence, By: schemas.ByCheck}
}

// verdict is what becomes of the word of a judge.
func (p Proof) verdict(c schemas.Criterion, j schemas.JudgedCriterion, named []bool) schemas.CriterionVerdict {
	switch {
	case j.Verdict != schemas.Pass:
		return failedVerdict(c, j.Evidence, j.FailureClass, schemas.ByJudge)
	case strings.TrimSpace(j.Evidence) == "":
		return failedVerdict(c, "said to pass, without evidence", "", schemas.ByJudge)
	case c.Mode == schemas.Verifiable:
		return p.prove(c, j, named)
	}
	return schemas.CriterionVerdict{Criterion: c.Criterion, Mode: c.Mode, Verdict: schemas.Pass, Evidence: j.Evidence,
		By: schemas.ByJudge}
}

// ByMachine follows a criterion in a brief that a machine check decides.
const ByMachine = " (a machine check decides)"

// place finds the criterion a validator means: the one it wrote out, also as a brief has it, or
// the only one that differs from that in punctuation.
func place(criteria []schemas.Criterion, text string) int {
	for _, text := range []string{text, strings.TrimSuffix(text, ByMachine)} {
		for _, same := range []func(string) string{exact, normal} {
			is := func(c schemas.Criterion) bool { return same(c.Criterion) == same(text) }
			at := slices.IndexFunc(criteria, is)
			if at >= 0 && !slices.ContainsFunc(criteria[at+1:], is) {
				return at
			}
		}
	}
	return -1
}

// AllPass reports whether there are verdicts and all of them pass.
func AllPass(verdicts []schemas.CriterionVerdict) bool {
	return len(verdicts) > 0 && !slices.ContainsFunc(verdicts,
		func(v schemas.CriterionVerdict) bool { return v.Verdict != schemas.Pass })
}

// NoneFailed reports whether there are verdicts and none of them failed: each passes or
// waits for a person.
func NoneFailed(verdicts []schemas.CriterionVerdict) bool {
	return len(verdicts) > 0 && !slices.ContainsFunc(verdicts, schemas.CriterionVerdict.Failed)
}

// Unproven lists the verdicts that wait for a person.
func Unproven(verdicts []schemas.CriterionVerdict) []schemas.CriterionVerdict {
	return slices.DeleteFunc(slices.Clone(verdicts),
		func(v schemas.CriterionVerdict) bool { return v.Verdict != schemas.Held })
}

// Aggregate makes the outcome of an attempt (pipeline v0.7, R4a). A result that did not
// complete fails on every criterion, unclassed, also if a judge passed it. earlier are the gaps
// and tool calls of the attempts before.
func Aggregate(s schemas.SubTask, r schemas.ExecutionResult, given []schemas.JudgedCriterion, p Proof,
	earlier schemas.SubTaskOutcome) (schemas.SubTaskOutcome, []string) {
	verdicts, notes := Verdicts(s.SuccessCriteria, given, p)
	reason := ""
	if r.Status != schemas.ExecutionCompleted {
		reason = r.Reason
		if reason == "" {
			reason = "the executor reported no success"
		}
		for i, c := range s.SuccessCriteria {
			verdicts[i] = failedVerdict(c, reason, "", "")
		}
	}
	gap := schemas.Gap{Attempt: r.Attempt, FailedCriteria: []schemas.FailedCriterion{}}
	for _, v := range verdicts {
		if v.Failed() {
			gap.FailedCriteria = append(gap.FailedCriteria,
				schemas.FailedCriterion{Criterion: v.Criterion, FailureClass: v.FailureClass})
			if reason == "" {
				reason = fmt.Sprintf("%q: %s", v.Criterion, v.Evidence)
			}
		}
	}
	o := schemas.SubTaskOutcome{
		SubTaskID: s.SubTaskID, ParentTaskID: s.ParentTaskID, Round: s.Round,
		Status: schemas.OutcomeFailed, Output: r.Output, CriteriaVerdicts: verdicts,
		GapTrajectory: append(slices.Clone(earlier.GapTrajectory), gap),
		ToolCalls:     slices.Concat([]schemas.Evidence{}, earlier.ToolCalls, r.ToolCalls),
	}
	switch { // (INV-ALLPASS)
	case AllPass(verdicts):
		o.Status = schemas.Matched
	case NoneFailed(verdicts):
		o.Status = schemas.OutcomeHeld
	case reason == "":
		o.FailureReason = "there is no criterion to pass"
	default:
		o.FailureReason = schemas.FailureReason(reason)
	}
	return o, notes
}

// Correct gives the correction signal for an outcome, ok = false if it matched or
// budget correction signals have gone out. whatToDo is the validator's advice.
func Correct(o schemas.SubTaskOutcome, budget int, whatToDo string) (c schemas.CorrectionSignal, ok bool) {
	attempts := len(o.GapTrajectory)
	if o.Status != schemas.OutcomeFailed || attempts > budget {
		return c, false
	}
	c = schemas.CorrectionSignal{TaskID: o.ParentTaskID, SubTaskID: o.SubTaskID, Round: o.Round,
		AttemptNumber: attempts,
		WhatWasWrong:  string(o.FailureReason), WhatToDo: whatToDo}
	for _, v := range o.CriteriaVerdicts {
		if v.Failed() {
			c.FailedCriterion, c.FailureClass, c.WhatWasWrong = v.Criterion, v.FailureClass, v.Evidence
			break
		}
	}
	if strings.TrimSpace(c.WhatToDo) == "" {
		c.WhatToDo = "make this criterion pass, and show with a tool call that it does: " + c.FailedCriterion
	}
	return c, true
}
