package pipeline

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func outcome(id string, round int, status schemas.OutcomeStatus) schemas.SubTaskOutcome {
	verdict := schemas.Pass
	if status != schemas.Matched {
		verdict = schemas.Fail
	}
	return schemas.SubTaskOutcome{SubTaskID: id, ParentTaskID: "t", Round: round, Status: status,
		CriteriaVerdicts: []schemas.CriterionVerdict{{Criterion: "c", Verdict: verdict}}}
}

var manifest = schemas.DispatchManifest{TaskID: "t", Round: 2, SubTaskIDs: []string{"s1", "s2"}}

func TestFanInCountsDistinctSubtasks_INV_FANIN(t *testing.T) {
	s1, s2 := outcome("s1", 2, schemas.Matched), outcome("s2", 2, schemas.Matched)
	other := s2
	other.ParentTaskID = "another"
	for name, tt := range map[string]struct {
		outcomes []schemas.SubTaskOutcome
		state    GateState
		missing  []string
	}{
		"none":                 {nil, GateWaiting, []string{"s1", "s2"}},
		"a duplicate is no s2": {[]schemas.SubTaskOutcome{s1, s1, s1}, GateWaiting, []string{"s2"}},
		"nor is an earlier s2": {[]schemas.SubTaskOutcome{s1, outcome("s2", 1, schemas.Matched)}, GateWaiting,
			[]string{"s2"}},
		"nor is one to come": {[]schemas.SubTaskOutcome{s1, outcome("s2", 3, schemas.Matched)}, GateWaiting,
			[]string{"s2"}},
		"nor that of a stranger": {[]schemas.SubTaskOutcome{s1, outcome("s3", 2, schemas.Matched), other}, GateWaiting,
			[]string{"s2"}},
		"both":           {[]schemas.SubTaskOutcome{s2, s1}, GateOpen, nil},
		"a late failure": {[]schemas.SubTaskOutcome{s2, outcome("s1", 1, schemas.OutcomeFailed), s1}, GateOpen, nil},
	} {
		g := FanIn(manifest, tt.outcomes)
		require.Equal(t, tt.state, g.State, name)
		require.Equal(t, tt.missing, g.Missing, name)
	}
	require.Equal(t, GateShut, FanIn(schemas.DispatchManifest{TaskID: "t"}, nil).State, "nothing matched")
}

func TestAContradictionFails(t *testing.T) {
	good, bad := outcome("s1", 2, schemas.Matched), outcome("s1", 2, schemas.OutcomeFailed)
	for _, list := range [][]schemas.SubTaskOutcome{{good, bad}, {bad, good}} {
		g := FanIn(manifest, append(list, outcome("s2", 2, schemas.Matched)))
		require.Equal(t, GateShut, g.State)
		require.Equal(t, []string{"s1"}, g.Failed)
		require.Positive(t, Measure(Weigh(schemas.ReplanRequest{Outcomes: g.Counted})).D)
	}
}

// Whatever arrives in whatever order: with a failed outcome of the round the gate
// is not open, and it is open only if every subtask matched.
func TestNoSequenceWithAFailureOpensTheGate_INV_GATE(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	states := map[GateState]int{}
	for range 20_000 {
		m := schemas.DispatchManifest{TaskID: "t", Round: 1 + rng.IntN(2)}
		for i := range 1 + rng.IntN(4) {
			m.SubTaskIDs = append(m.SubTaskIDs, fmt.Sprint("s", i))
		}
		var list []schemas.SubTaskOutcome
		failed, matched := false, map[string]bool{}
		for range rng.IntN(10) {
			o := outcome(fmt.Sprint("s", rng.IntN(5)), 1+rng.IntN(2), schemas.Matched)
			switch rng.IntN(12) {
			case 0:
				o.Status = schemas.OutcomeFailed
			case 1:
				o.Status = "done" // no status there is
			case 2:
				o.CriteriaVerdicts = nil // matched, and nobody judged anything
			}
			list = append(list, o)
			if o.Round == m.Round && slices.Contains(m.SubTaskIDs, o.SubTaskID) {
				failed = failed || o.Status == schemas.OutcomeFailed
				matched[o.SubTaskID] = matched[o.SubTaskID] || o.Status == schemas.Matched
			}
		}
		g := FanIn(m, list)
		states[g.State]++
		if failed {
			require.NotEqual(t, GateOpen, g.State, "%v", list)
		}
		if g.State == GateOpen {
			for _, id := range m.SubTaskIDs {
				require.True(t, matched[id], "%v", list)
			}
			require.Len(t, g.Counted, len(m.SubTaskIDs))
		}
	}
	require.Len(t, states, 3)
	for _, n := range states {
		require.Greater(t, n, 100)
	}
}

var task = schemas.SubTask{SubTaskID: "s", ParentTaskID: "t", Round: 1, PlannedSubTask: schemas.PlannedSubTask{
	Intent: "build", SuccessCriteria: []schemas.Criterion{{Criterion: "It builds.", Mode: schemas.Verifiable},
		{Criterion: "読みやすい", Mode: schemas.Plausible}}}}

func said(first, second schemas.Verdict) []schemas.JudgedCriterion {
	return []schemas.JudgedCriterion{{Criterion: "it builds", Verdict: first, Evidence: "bash:make → ok"},
		{Criterion: "読みやすい", Verdict: second, Evidence: "読んだ", FailureClass: schemas.Logical}}
}

func completed(attempt int) schemas.ExecutionResult {
	return schemas.ExecutionResult{SubTaskID: "s", Attempt: attempt,
		ExecutionReport: schemas.ExecutionReport{Status: schemas.ExecutionCompleted,
			Output: json.RawMessage(`"x"`), ToolCalls: []schemas.Evidence{{Tool: "bash", Input: "make"}}}}
}

// callsOf is the proof that the calls of a result are.
func callsOf(r schemas.ExecutionResult) Proof {
	return Proof{Calls: Counted(r, EvidenceRules{}, 1, 1)}
}

func TestEveryCriterionMustPass_INV_ALLPASS(t *testing.T) {
	ok, notes := Aggregate(task, completed(1), said(schemas.Pass, schemas.Pass), callsOf(completed(1)),
		schemas.SubTaskOutcome{})
	require.Equal(t, schemas.Matched, ok.Status)
	require.Empty(t, notes)
	require.Empty(t, ok.FailureReason)
	require.Empty(t, ok.GapTrajectory[0].FailedCriteria)
	require.Equal(t, schemas.Plausible, ok.CriteriaVerdicts[1].Mode)

	silent := said(schemas.Pass, schemas.Pass)
	silent[1].Evidence = " "
	unplanned := schemas.SubTask{}
	for name, tt := range map[string]struct {
		task  schemas.SubTask
		r     schemas.ExecutionResult
		said  []schemas.JudgedCriterion
		class schemas.FailureClass
		why   string
	}{
		"one failed":  {task, completed(1), said(schemas.Pass, schemas.Fail), schemas.Logical, "読んだ"},
		"one missing": {task, completed(1), said(schemas.Pass, schemas.Pass)[:1], "", "no verdict on it came"},
		"no evidence": {task, completed(1), silent, "", "without evidence"},
		"both passed and not": {task, completed(1), append(said(schemas.Pass, schemas.Fail),
			said(schemas.Pass, schemas.Pass)...), schemas.Logical, "読んだ"},
		"not and both passed": {task, completed(1), append(said(schemas.Pass, schemas.Pass),
			said(schemas.Pass, schemas.Fail)...), schemas.Logical, "読んだ"},
		"an unknown verdict": {task, completed(1), said(schemas.Pass, "mostly"), schemas.Logical, "読んだ"},
		"it failed, it is said": {task, schemas.ExecutionResult{Attempt: 1,
			ExecutionReport: schemas.ExecutionReport{Status: schemas.ExecutionFailed, Reason: "timed out"}},
			said(schemas.Pass, schemas.Pass), "", "timed out"},
		"it is not said how": {task, schemas.ExecutionResult{Attempt: 1}, said(schemas.Pass, schemas.Pass), "",
			"reported no success"},
		"nothing to pass": {unplanned, completed(1), nil, "", "no criterion"},
	} {
		o, _ := Aggregate(tt.task, tt.r, tt.said, callsOf(tt.r), schemas.SubTaskOutcome{})
		require.Equal(t, schemas.OutcomeFailed, o.Status, name)
		require.Contains(t, o.FailureReason, tt.why, name)
		if len(tt.task.SuccessCriteria) > 0 {
			require.Len(t, o.CriteriaVerdicts, 2)
			require.Equal(t, tt.class, o.CriteriaVerdicts[1].FailureClass, name)
		}
		require.Equal(t, GateShut, FanIn(schemas.DispatchManifest{TaskID: tt.task.ParentTaskID, Round: tt.task.Round,
			SubTaskIDs: []string{tt.task.SubTaskID}}, []schemas.SubTaskOutcome{o}).State)
		require.Positive(t, Measure(Weigh(schemas.ReplanRequest{Outcomes: []schemas.SubTaskOutcome{o}})).D)
	}
	_, notes = Verdicts(task.SuccessCriteria,
		[]schemas.JudgedCriterion{{Criterion: "it is pretty", Verdict: schemas.Pass, Evidence: "e"}}, Proof{})
	require.Len(t, notes, 1)
}

func TestCorrectionsAreBounded(t *testing.T) {
	var o schemas.SubTaskOutcome
	signals := 0
	for attempt := 1; ; attempt++ {
		class := schemas.Fail
		o, _ = Aggregate(task, completed(attempt), said(schemas.Pass, class), callsOf(completed(attempt)), o)
		c, again := Correct(o, RetryBudget, "")
		if !again {
			break
		}
		signals++
		require.Equal(t, attempt, c.AttemptNumber)
		require.Equal(t, "読みやすい", c.FailedCriterion)
		require.Equal(t, schemas.Logical, c.FailureClass)
		require.Contains(t, c.WhatToDo, "読みやすい")
	}
	require.Equal(t, RetryBudget, signals)
	require.Len(t, o.GapTrajectory, RetryBudget+1)
	require.Len(t, o.ToolCalls, RetryBudget+1)
	o, _ = Aggregate(task, completed(1), said(schemas.Pass, schemas.Pass), callsOf(completed(1)),
		schemas.SubTaskOutcome{})
	_, again := Correct(o, RetryBudget, "")
	require.False(t, again)
}

func TestAPlausibleFailureWeighsItsShareOfAttempts(t *testing.T) {
	o, _ := Aggregate(task, completed(1), said(schemas.Fail, schemas.Pass), callsOf(completed(1)),
		schemas.SubTaskOutcome{})
	o, _ = Aggregate(task, completed(2), said(schemas.Pass, schemas.Fail), callsOf(completed(2)), o)
	f := Measure(Weigh(schemas.ReplanRequest{Outcomes: []schemas.SubTaskOutcome{o}}))
	require.InDelta(t, 0.25, f.D, tolerance) // 1 of 2 attempts, 1 of 2 criteria
}

func TestVerdictsFindTheirCriterion(t *testing.T) {
	list := []schemas.Criterion{{Criterion: "exit code = 0"}, {Criterion: "exit code != 0"}, {Criterion: "It's there."}}
	for text, want := range map[string]int{"Exit code = 0": 0, "exit  code != 0.": 1, "exit code 0": -1,
		"it s there": 2, "ｉｔ's there": 2, "": -1} {
		require.Equal(t, want, place(list, text), text)
	}
}

// A refusal of verdicts on what is no criterion names what there is, in a bounded length.
func TestUnlistedVerdictsAreBounded(t *testing.T) {
	var list []schemas.Criterion
	var given []schemas.JudgedCriterion
	for i := range MaxCriteria {
		long := strings.Repeat(fmt.Sprint(i, " "), MaxCriterion/4)
		list = append(list, schemas.Criterion{Criterion: long})
		given = append(given, schemas.JudgedCriterion{Criterion: "not " + long}, schemas.JudgedCriterion{Criterion: long})
	}
	bad := Unlisted(list, given)
	require.Len(t, bad, MaxCriteria)
	require.Equal(t, "/verdicts/2/criterion", bad[1].Path)
	require.Contains(t, bad[1].Msg, `"not 1 1`)
	require.Less(t, len(bad[1].Msg), 500)
	require.Len(t, Unlisted(list, append(given, given...)), maxWrongs+1)
	require.Less(t, len(Named(list)), 500)
	require.Contains(t, Named(list), "and 12 more")
	list[0].Check = &schemas.Check{}
	require.Equal(t, "no verdict, for a machine check decides each", Named(list[:1]))
}

func TestTheGateTrustsVerdictsNotTheStatus(t *testing.T) {
	hollow, s2 := outcome("s1", 2, schemas.Matched), outcome("s2", 2, schemas.Matched)
	for _, verdicts := range [][]schemas.CriterionVerdict{nil, {{Verdict: schemas.Fail}}} {
		hollow.CriteriaVerdicts = verdicts
		require.Equal(t, []string{"s1"}, FanIn(manifest, []schemas.SubTaskOutcome{hollow, s2}).Failed)
	}
	twice := manifest
	twice.SubTaskIDs = []string{"s1", "s2", "s1"}
	require.Len(t, FanIn(twice, []schemas.SubTaskOutcome{s2, outcome("s1", 2, schemas.Matched)}).Counted, 2)
}
