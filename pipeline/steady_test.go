package pipeline

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func steady(t *testing.T) Parameters {
	t.Helper()
	p, ok := Policy(SteadyPolicy)
	require.True(t, ok)
	p.TimeBudgetMS, p.MaxReplans = AgentBudgetMS, 8
	return p
}

// steered plays rounds of one failed call each and gives the directives.
func steered(t *testing.T, p Parameters, tools []string,
	rounds ...schemas.ReplanRequest) (list []schemas.PlanDirective) {
	t.Helper()
	var trail Trail
	for i, r := range rounds {
		r.Round, r.ReplanCount = i+1, i+1
		d, next, err := Solve(p, r, trail, tools)
		require.NoError(t, err)
		raw, err := json.Marshal(next) // a trail is kept between rounds as JSON
		require.NoError(t, err)
		trail = Trail{}
		require.NoError(t, json.Unmarshal(raw, &trail))
		require.Equal(t, next, trail)
		list = append(list, d)
	}
	return list
}

func directives(list []schemas.PlanDirective) (out []schemas.Directive) {
	for _, d := range list {
		out = append(out, d.Directive)
	}
	return out
}

// The first approach has four tries, any later one two; progress gives it as many again.
func TestTriesThatBringNothing(t *testing.T) {
	p, tools := steady(t), []string{"helm", "kubectl", "scp"}
	failed := func(tool string, half bool) schemas.ReplanRequest {
		return shown(1, schemas.Logical, half, schemas.Evidence{Tool: tool, Input: "a"})
	}
	list := steered(t, p, tools, failed("kubectl", false), failed("kubectl", false), failed("kubectl", true),
		failed("kubectl", true), failed("kubectl", true), failed("kubectl", true), failed("helm", true),
		failed("helm", true))
	const keep, leave = schemas.Refine, schemas.BreakSymmetry
	require.Equal(t, []schemas.Directive{keep, keep, keep, keep, keep, leave, keep, leave}, directives(list))
	require.Contains(t, list[0].Rationale, "It is the first approach")
	require.Contains(t, list[2].Rationale, "Fewer criteria fail than before")
	require.Contains(t, list[4].Rationale, "after 2 more tries")
	require.Equal(t, []string{"kubectl"}, list[5].BlockedTools)
	require.Contains(t, list[6].Rationale, "It is a new approach")
	require.Equal(t, []string{"helm", "kubectl"}, list[7].BlockedTools)
}

// A round of three attempts counts as three tries.
func TestAttemptsAreTries(t *testing.T) {
	r := shown(1, schemas.Logical, false, schemas.Evidence{Tool: "kubectl", Input: "a"})
	r.Outcomes[0].GapTrajectory = []schemas.Gap{{Attempt: 1}, {Attempt: 2}, {Attempt: 3}}
	list := steered(t, steady(t), []string{"helm", "kubectl"}, r, r)
	require.Equal(t, []schemas.Directive{schemas.Refine, schemas.BreakSymmetry}, directives(list))
}

// A later step that never began says nothing of how often the step before it was tried.
func TestStepsThatNeverBeganAreNoTries(t *testing.T) {
	r := shown(1, schemas.Logical, false, schemas.Evidence{Tool: "kubectl", Input: "a"})
	r.Outcomes[0].GapTrajectory = []schemas.Gap{{Attempt: 1}, {Attempt: 2}, {Attempt: 3}}
	later := shown(1, "", false).Outcomes[0]
	later.SubTaskID, later.GapTrajectory = "later", []schemas.Gap{}
	r.Outcomes = append(r.Outcomes, later)
	require.Equal(t, 2, sinceLeast(r))
}

// Attempts that fail less and less within a round keep an approach; and of what class a round's
// failures are, most of its attempts say, not the last one.
func TestEachAttemptIsEvidence(t *testing.T) {
	p, tools := steady(t), []string{"helm", "kubectl"}
	attempts := func(tool string, class schemas.FailureClass, failed ...int) schemas.ReplanRequest {
		r := shown(1, schemas.Logical, true, schemas.Evidence{Tool: tool, Input: "a"})
		for _, n := range failed {
			gap := schemas.Gap{FailedCriteria: make([]schemas.FailedCriterion, n)}
			for i := range gap.FailedCriteria {
				gap.FailedCriteria[i].FailureClass = class
			}
			r.Outcomes[0].GapTrajectory = append(r.Outcomes[0].GapTrajectory, gap)
		}
		return r
	}
	stuck := attempts("kubectl", schemas.Logical, 2, 2, 2)
	for name, tt := range map[string]struct {
		later schemas.ReplanRequest
		then  schemas.Directive
	}{
		"it moved":        {attempts("helm", schemas.Logical, 3, 2, 1), schemas.Refine},
		"it moved once":   {attempts("helm", schemas.Logical, 2, 1, 1), schemas.BreakSymmetry},
		"it did not move": {attempts("helm", schemas.Logical, 1, 1, 1), schemas.BreakSymmetry},
		"from outside":    {attempts("helm", schemas.Environmental, 1, 1), schemas.ChangePath},
	} {
		list := steered(t, p, tools, stuck, stuck, tt.later)
		require.Equal(t, []schemas.Directive{schemas.Refine, schemas.BreakSymmetry, tt.then}, directives(list), name)
	}
	// The whole was rejected though the subtask had matched in the end: then its gaps say nothing.
	whole := attempts("kubectl", schemas.Environmental, 2, 2, 0)
	whole.Outcomes[0].Status, whole.Outcomes[0].CriteriaVerdicts = schemas.Matched, nil
	whole.Outcomes[0].ToolCalls[0].Exit = 1
	whole.TaskVerdicts = []schemas.CriterionVerdict{{Criterion: "all", Verdict: schemas.Fail,
		FailureClass: schemas.Logical}}
	require.Equal(t, schemas.Refine, steered(t, p, tools, whole)[0].Directive)
}

// Where all that a round shows points outside the target is left at once; where only the
// class says so, after as many tries as an approach has.
func TestWhatPointsOutside(t *testing.T) {
	p, tools := steady(t), []string{"helm", "kubectl"}
	broke := schemas.Evidence{Tool: "kubectl", Input: "a", Exit: 1}
	ran := schemas.Evidence{Tool: "kubectl", Input: "a"}
	outside := steered(t, p, tools, shown(1, schemas.Environmental, false, broke))[0]
	require.Equal(t, schemas.ChangePath, outside.Directive)
	require.Equal(t, []string{"kubectl:a"}, outside.BlockedTargets)
	require.Equal(t, outside.Directive, steered(t, p, tools, shown(1, schemas.Environmental, true, broke))[0].Directive,
		"whatever passed")
	require.Empty(t, outside.BlockedTools)
	require.Contains(t, outside.Rationale, "Most failures come from outside, and no call worked")
	for name, r := range map[string]schemas.ReplanRequest{
		"a call worked":            shown(1, schemas.Environmental, false, ran),
		"the approach is to blame": shown(1, schemas.Logical, false, broke),
	} {
		require.Equal(t, schemas.Refine, steered(t, p, tools, r)[0].Directive, name)
	}
	late := shown(1, schemas.Environmental, false, ran)
	list := steered(t, p, tools, late, late, late, late)
	require.Equal(t, schemas.ChangePath, list[3].Directive)
	require.Equal(t, []string{"kubectl:a"}, list[3].BlockedTargets)
}

// A task ends when its rounds, its time or its tools are used, and says which; never sooner.
func TestSteadyEnds_INV_GGS_ABANDON(t *testing.T) {
	p := steady(t)
	call := schemas.Evidence{Tool: "kubectl", Input: "a"}
	for name, tt := range map[string]struct {
		count   int
		elapsed int64
		why     string
	}{
		"rounds": {p.MaxReplans + 1, 0, "request 9 for another round, and 8 are allowed"},
		"time":   {1, p.TimeBudgetMS, "the time for it is used"},
		"both":   {p.MaxReplans, p.TimeBudgetMS, "100 % of the budget is used"},
	} {
		r := shown(tt.count, schemas.Logical, false, call)
		r.ElapsedMS = tt.elapsed
		d, _, err := Solve(p, r, Trail{}, nil)
		require.NoError(t, err)
		require.Equal(t, schemas.Abandon, d.Directive, name)
		require.Contains(t, d.Rationale, tt.why, name)
	}
	r := shown(p.MaxReplans, schemas.Logical, false, call)
	r.ElapsedMS = p.TimeBudgetMS - 1
	r.Recommendation = schemas.RecommendAbandon
	d, _, err := Solve(p, r, Trail{}, nil)
	require.NoError(t, err)
	require.Equal(t, schemas.Refine, d.Directive)
	require.Contains(t, d.Rationale, "The validator would have given up")
}
