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

// Hold makes verdicts on record of what a validator said about criteria: one for
// each, in their order, with the mode that was planned. Without a verdict, or
// without evidence for a pass, a criterion failed; of two verdicts the failure
// counts. Notes name what was passed over.
func Hold(criteria []schemas.Criterion, said []schemas.JudgedCriterion) (verdicts []schemas.CriterionVerdict, notes []string) {
	byPlace := map[int]schemas.JudgedCriterion{}
	for _, j := range said {
		at := place(criteria, j.Criterion)
		if at < 0 {
			notes = append(notes, fmt.Sprintf("a verdict on %q, which is no criterion, was passed over", j.Criterion))
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
	for i, c := range criteria {
		v := schemas.CriterionVerdict{Criterion: c.Criterion, Mode: c.Mode, Verdict: schemas.Fail}
		j, judged := byPlace[i]
		switch {
		case !judged:
			v.Evidence = "nobody judged it"
		case j.Verdict == schemas.Pass && strings.TrimSpace(j.Evidence) == "":
			v.Evidence = "said to pass, without evidence"
		case j.Verdict == schemas.Pass:
			v.Verdict, v.Evidence = schemas.Pass, j.Evidence
		default:
			v.FailureClass, v.Evidence = j.FailureClass, j.Evidence
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, notes
}

// place finds the criterion a validator means: the one it wrote out, or the only
// one that differs from that in punctuation.
func place(criteria []schemas.Criterion, text string) int {
	for _, same := range []func(string) string{exact, normal} {
		is := func(c schemas.Criterion) bool { return same(c.Criterion) == same(text) }
		at := slices.IndexFunc(criteria, is)
		if at >= 0 && !slices.ContainsFunc(criteria[at+1:], is) {
			return at
		}
	}
	return -1
}

// AllPass reports whether there are verdicts and all of them pass.
func AllPass(verdicts []schemas.CriterionVerdict) bool {
	return len(verdicts) > 0 && !slices.ContainsFunc(verdicts, func(v schemas.CriterionVerdict) bool { return v.Verdict != schemas.Pass })
}

// Aggregate makes the outcome of an attempt (pipeline v0.7, R4a). A result that
// did not complete failed on every criterion, unclassed, whatever was said.
// earlier are the gaps and tool calls of the attempts before.
func Aggregate(s schemas.SubTask, r schemas.ExecutionResult, said []schemas.JudgedCriterion, earlier schemas.SubTaskOutcome) (schemas.SubTaskOutcome, []string) {
	verdicts, notes := Hold(s.SuccessCriteria, said)
	reason := ""
	if r.Status != schemas.ExecutionCompleted {
		reason = r.Reason
		if reason == "" {
			reason = "the executor reported no success"
		}
		for i := range verdicts {
			verdicts[i] = schemas.CriterionVerdict{Criterion: verdicts[i].Criterion, Mode: verdicts[i].Mode, Verdict: schemas.Fail, Evidence: reason}
		}
	}
	gap := schemas.Gap{Attempt: r.Attempt, FailedCriteria: []schemas.FailedCriterion{}}
	for _, v := range verdicts {
		if v.Verdict != schemas.Pass {
			gap.FailedCriteria = append(gap.FailedCriteria, schemas.FailedCriterion{Criterion: v.Criterion, FailureClass: v.FailureClass})
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
	case reason == "":
		o.FailureReason = "there is no criterion to pass"
	default:
		o.FailureReason = reason
	}
	return o, notes
}

// Correct gives the correction signal for an outcome, ok = false if it matched or
// budget correction signals have gone out. whatToDo is the validator's advice.
func Correct(o schemas.SubTaskOutcome, budget int, whatToDo string) (c schemas.CorrectionSignal, ok bool) {
	attempts := len(o.GapTrajectory)
	if o.Status == schemas.Matched || attempts > budget {
		return c, false
	}
	c = schemas.CorrectionSignal{TaskID: o.ParentTaskID, SubTaskID: o.SubTaskID, Round: o.Round, AttemptNumber: attempts,
		WhatWasWrong: o.FailureReason, WhatToDo: whatToDo}
	for _, v := range o.CriteriaVerdicts {
		if v.Verdict != schemas.Pass {
			c.FailedCriterion, c.FailureClass, c.WhatWasWrong = v.Criterion, v.FailureClass, v.Evidence
			break
		}
	}
	if strings.TrimSpace(c.WhatToDo) == "" {
		c.WhatToDo = "make this criterion pass, and show with a tool call that it does: " + c.FailedCriterion
	}
	return c, true
}
