package pipeline

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

type vectors struct {
	Parameters map[string]float64 `json:"parameters"`
	LossRows   []struct {
		ID         string           `json:"id"`
		D, P       float64          //
		Tie        bool             `json:"tie"`
		Replans    int              `json:"replan_count"`
		MaxReplans int              `json:"max_replans"`
		Elapsed    int64            `json:"elapsed_ms"`
		Budget     int64            `json:"time_budget_ms"`
		LPrev      *float64         `json:"L_prev"`
		Omega      float64          `json:"Omega"`
		L          float64          `json:"L"`
		Grad       float64          `json:"grad"`
		Gradient   schemas.Gradient `json:"gradient"`
		V07        string           `json:"directive_v07"`
		V08        string           `json:"macrostate_v08"`
	} `json:"loss_rows"`
	VerdictRows []struct {
		ID       string `json:"id"`
		Criteria []struct {
			Mode     schemas.CriterionMode `json:"mode"`
			Verdict  schemas.Verdict       `json:"verdict"`
			Class    schemas.FailureClass  `json:"failure_class"`
			Attempts int                   `json:"attempts"`
			Failed   int                   `json:"failed_attempts"`
		} `json:"criteria"`
		D, P  float64
		Class schemas.FailureClass `json:"failure_class"`
	} `json:"verdict_rows"`
}

func readVectors(t *testing.T) (v vectors) {
	t.Helper()
	raw, err := os.ReadFile("testdata/ggs_vectors.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &v))
	require.Len(t, v.LossRows, 28)
	require.Len(t, v.VerdictRows, 8)
	return v
}

func TestVectorParametersAreTheDefaults(t *testing.T) {
	p := Defaults()
	require.NoError(t, p.Check())
	require.Equal(t, map[string]float64{"alpha": p.Alpha, "beta": p.Beta, "lam": p.Lambda, "w1": p.W1, "w2": p.W2,
		"epsilon": p.Epsilon, "delta": p.Delta, "abandon_omega": p.AbandonOmega, "rho": p.Rho},
		readVectors(t).Parameters)
}

func TestLossVectors(t *testing.T) {
	for _, v := range readVectors(t).LossRows {
		p := Defaults()
		p.MaxReplans, p.TimeBudgetMS = v.MaxReplans, v.Budget
		l := p.Loss(v.D, v.P, p.Omega(v.Replans, v.Elapsed))
		// The figures are rounded to nine places.
		require.InDelta(t, v.Omega, l.Omega, tolerance, v.ID)
		require.InDelta(t, v.L, l.L, tolerance, v.ID)
		change := 0.0
		if v.LPrev != nil {
			change = l.L - *v.LPrev
		}
		require.InDelta(t, v.Grad, change, tolerance, v.ID)
		require.Equal(t, v.Gradient, p.Direction(change, v.D), v.ID)
		require.Equal(t, v.V07, label(p.Decide(l, v.Gradient, v.Tie)), v.ID)
		p.Table = TableV08()
		require.Equal(t, v.V08, label(p.Decide(l, v.Gradient, v.Tie)), v.ID)
	}
}

func TestVerdictVectors(t *testing.T) {
	for _, v := range readVectors(t).VerdictRows {
		var o schemas.SubTaskOutcome
		attempts := 1
		for _, c := range v.Criteria {
			attempts = max(attempts, c.Attempts)
		}
		o.GapTrajectory = make([]schemas.Gap, attempts)
		for i, c := range v.Criteria {
			name := string(rune('a' + i))
			o.CriteriaVerdicts = append(o.CriteriaVerdicts,
				schemas.CriterionVerdict{Criterion: name, Mode: c.Mode, Verdict: c.Verdict, FailureClass: c.Class})
			for n := range c.Failed {
				at := attempts - 1 - n
				o.GapTrajectory[at].FailedCriteria = append(o.GapTrajectory[at].FailedCriteria,
					schemas.FailedCriterion{Criterion: name})
			}
		}
		o.Status = schemas.OutcomeFailed
		f := Measure(Weigh(schemas.ReplanRequest{Outcomes: []schemas.SubTaskOutcome{o}}))
		require.InDelta(t, v.D, f.D, tolerance, v.ID)
		require.InDelta(t, v.P, f.P, tolerance, v.ID)
		require.Equal(t, v.Class, f.Class, v.ID)
	}
}

func TestDistanceIsNeverNothing(t *testing.T) {
	for name, r := range map[string]schemas.ReplanRequest{
		"nothing said":        {},
		"failed, no verdicts": {Outcomes: []schemas.SubTaskOutcome{{Status: schemas.OutcomeFailed}}},
		"failed, all pass": {Outcomes: []schemas.SubTaskOutcome{{Status: schemas.OutcomeFailed,
			CriteriaVerdicts: []schemas.CriterionVerdict{{Verdict: schemas.Pass}}}}},
		"rejected merge": {Outcomes: []schemas.SubTaskOutcome{{Status: schemas.Matched,
			CriteriaVerdicts: []schemas.CriterionVerdict{{Verdict: schemas.Pass}}}},
			TaskVerdicts: []schemas.CriterionVerdict{{Verdict: schemas.Fail}}},
	} {
		f := Measure(Weigh(r))
		require.Positive(t, f.D, name)
		require.InDelta(t, 0.5, f.P, tolerance, name)
		require.Empty(t, f.Class, name)
	}
}

func TestParametersAreChecked_INV_GGS_NO_ACCEPT(t *testing.T) {
	p := Defaults()
	p.MaxReplans, p.Alpha, p.Beta, p.TimeBudgetMS = 0, math.NaN(), math.Inf(1), -1
	p.Table.Rows[0].Directive = "success"
	err := p.Check()
	require.ErrorIs(t, err, schemas.ErrInvalid)
	for _, at := range []string{"/max_replans", "/alpha", "/beta", "/time_budget_ms",
		`/table/0: "success" is no directive`} {
		require.ErrorContains(t, err, at)
	}
	_, _, err = Solve(p, schemas.ReplanRequest{ReplanCount: 1}, Trail{}, nil)
	require.ErrorIs(t, err, schemas.ErrInvalid)
	for _, table := range Tables() {
		p := Defaults()
		p.Table = table
		require.NoError(t, p.Check(), table.Version)
	}
}

// Whatever the figures, from the threshold on it is abandon, below it never for
// the table's reasons, and every row of a table can be reached.
func TestTablesDecideEverywhere(t *testing.T) {
	for _, table := range Tables() {
		p := Defaults()
		p.Table = table
		reached := map[int]bool{}
		for _, omega := range []float64{0, 0.5, 0.8 - 1e-12, 0.8, 1} {
			for _, d := range []float64{0.1, 0.3, 0.31, 1} {
				for _, blame := range []float64{0, 0.5, 0.51, 1} {
					for _, change := range []float64{-1, -0.1, -0.05, 0, 0.05, 0.1, 1} {
						for _, tie := range []bool{false, true} {
							l := p.Loss(d, blame, omega)
							row := p.Decide(l, p.Direction(change, d), tie)
							require.Contains(t, schemas.Directives(), row.Directive)
							require.Equal(t, omega >= 0.79, row.Directive == schemas.Abandon)
							for i := range table.Rows {
								if row.Spent == table.Rows[i].Spent && label(row) == label(table.Rows[i]) &&
									row.Distance == table.Rows[i].Distance &&
									row.Blame == table.Rows[i].Blame &&
									len(row.Directions) == len(table.Rows[i].Directions) &&
									(row.Directions == nil || row.Directions[0] == table.Rows[i].Directions[0]) {
									reached[i] = true
								}
							}
						}
					}
				}
			}
		}
		require.Len(t, reached, len(table.Rows), table.Version)
	}
}

// failing is a request whose one subtask failed, with these calls.
func failing(count int, elapsed int64, class schemas.FailureClass, calls ...schemas.Evidence) schemas.ReplanRequest {
	return schemas.ReplanRequest{TaskID: "t", Round: count, ReplanCount: count, ElapsedMS: elapsed,
		Recommendation: schemas.RecommendReplan,
		Outcomes: []schemas.SubTaskOutcome{
			{SubTaskID: "ok", Status: schemas.Matched, ToolCalls: []schemas.Evidence{{Tool: "git", Input: "status"}}},
			{SubTaskID: "s", Status: schemas.OutcomeFailed, ToolCalls: calls,
				CriteriaVerdicts: []schemas.CriterionVerdict{
					{Criterion: "found", Mode: schemas.Verifiable, Verdict: schemas.Fail, FailureClass: class}}}}}
}

func TestDirectivesAccumulateWhatIsBlocked(t *testing.T) {
	p := Defaults()
	p.TimeBudgetMS = AgentBudgetMS
	tools := []string{"bash", "curl", "find", "git", "grep"}
	find := schemas.Evidence{Tool: "find", Input: "/tmp/a", Exit: 1}
	grep := schemas.Evidence{Tool: "grep", Input: "x y", Exit: 0}

	path, trail, err := Solve(p, failing(1, 0, schemas.Environmental, find, grep), Trail{}, tools)
	require.NoError(t, err)
	require.Equal(t, schemas.ChangePath, path.Directive)
	require.Empty(t, path.BlockedTools)
	require.Equal(t, []string{"find:/tmp/a"}, path.BlockedTargets)
	require.Equal(t, []string{"grep:x y", "bash", "curl", "git"}, path.SuggestedAlternatives)
	require.Contains(t, path.Rationale, "Keep the tools")
	require.Contains(t, path.Rationale, "come from outside")
	require.Equal(t, "found", path.FailedCriterion)

	// D and P of the next round are 1 and 1: the loss rises by αΔD + …, and with it
	// the blame changes.
	approach, trail, err := Solve(p, failing(2, 0, schemas.Logical, find), trail, tools)
	require.NoError(t, err)
	require.Equal(t, schemas.Worsening, approach.Gradient)
	require.Equal(t, schemas.ChangeApproach, approach.Directive)
	require.Equal(t, []string{"find"}, approach.BlockedTools, "of the failing subtask alone")
	require.Equal(t, []string{"find:/tmp/a"}, approach.BlockedTargets, "kept from the round before")
	require.Positive(t, approach.QualityGradient)
	require.NotContains(t, approach.SuggestedAlternatives, "find")

	stuck, trail, err := Solve(p, failing(3, 0, schemas.Logical, grep), trail, tools)
	require.NoError(t, err)
	require.Equal(t, schemas.BreakSymmetry, stuck.Directive)
	require.Equal(t, []string{"find", "grep"}, stuck.BlockedTools)
	require.InDelta(t, 0, stuck.QualityGradient, tolerance)
	require.Equal(t, 3, trail.Rounds)
}

// What executors called and named goes into every later brief of a task: it is bounded,
// and a name that is no tool of the task's is nothing a directive forbids.
func TestWhatIsBlockedIsBounded(t *testing.T) {
	tools := []string{"bash", "find", "write"}
	var calls []schemas.Evidence
	for i := range 2 * maxTargets {
		calls = append(calls, schemas.Evidence{Tool: "find", Input: fmt.Sprint("/tmp/", i), Exit: 1},
			schemas.Evidence{Tool: "bash\nOBEY", Input: "x"})
	}
	calls = append(calls, schemas.Evidence{Tool: "find", Input: strings.Repeat("x", maxTarget), Exit: 1},
		schemas.Evidence{Tool: "find", Input: strings.Repeat("y", maxTarget)})
	path, trail, err := Solve(Defaults(), failing(1, 0, schemas.Environmental, calls...),
		Trail{BlockedTargets: []string{"find:/"}}, tools)
	require.NoError(t, err)
	require.Len(t, path.BlockedTargets, maxTargets)
	require.Contains(t, path.BlockedTargets, "find:/", "what was blocked stays so")
	for _, s := range append(path.BlockedTargets, path.SuggestedAlternatives...) {
		require.LessOrEqual(t, len(s), maxTarget)
	}
	approach, _, err := Solve(Defaults(), failing(2, 0, schemas.Logical, calls...), trail, tools)
	require.NoError(t, err)
	require.Equal(t, []string{"find"}, approach.BlockedTools)
	long := Constraint{Kind: MustNot, Approach: "find:/tmp", Intent: strings.Repeat("x", 4000),
		Lesson: strings.Repeat("y\n", 4000), Source: "id"}
	require.Less(t, len(long.String()), 1000)
}

func TestQualityStandsStillWhereOnlyTimePassed(t *testing.T) {
	_, trail, err := Solve(Defaults(), failing(1, 0, schemas.Environmental), Trail{}, nil)
	require.NoError(t, err)
	d, _, err := Solve(Defaults(), failing(2, 30_000, schemas.Environmental), trail, nil)
	require.NoError(t, err)
	require.Equal(t, schemas.Worsening, d.Gradient)
	require.Zero(t, d.QualityGradient)
	require.Contains(t, d.Rationale, "away from what failed")
}

func TestARejectedMergeBlocksWhatItWasMadeWith(t *testing.T) {
	r := failing(1, 0, "")
	r.Outcomes = r.Outcomes[:1]
	r.TaskVerdicts = []schemas.CriterionVerdict{{Criterion: "whole", Verdict: schemas.Fail,
		FailureClass: schemas.Logical}}
	d, _, err := Solve(Defaults(), r, Trail{}, []string{"git", "bash"})
	require.NoError(t, err)
	require.Equal(t, schemas.BreakSymmetry, d.Directive)
	require.Equal(t, []string{"git"}, d.BlockedTools)
	r.TaskVerdicts[0].Verdict = schemas.Pass
	_, _, err = Solve(Defaults(), r, Trail{}, nil)
	require.ErrorContains(t, err, "nothing failed")
}

func TestAbandon_INV_GGS_ABANDON(t *testing.T) {
	call := schemas.Evidence{Tool: "bash", Input: "x", Exit: 1}
	for _, table := range Tables() {
		p := Defaults()
		p.Table = table
		for name, tt := range map[string]struct {
			r      schemas.ReplanRequest
			tools  []string
			trail  Trail
			saying string
		}{
			"budget": {failing(1, 600_000, schemas.Environmental, call), []string{"bash", "git"}, Trail{},
				"budget"},
			"last round":         {failing(4, 0, schemas.Environmental, call), nil, Trail{Rounds: 3, L: 5}, ""},
			"no tool":            {failing(1, 0, schemas.Logical, call), []string{"bash"}, Trail{}, "every tool"},
			"none to begin with": {failing(1, 0, schemas.Environmental, call), []string{}, Trail{}, "every tool"},
		} {
			d, _, err := Solve(p, tt.r, tt.trail, tt.tools)
			require.NoError(t, err)
			require.Equal(t, schemas.Abandon, d.Directive, "%s %s", table.Version, name)
			require.Contains(t, d.Rationale, tt.saying)
			require.Contains(t, d.Rationale, "Abandon: ")
		}
		// A cap that Ω alone would let pass.
		p.W1 = 0.1
		d, _, err := Solve(p, failing(4, 0, schemas.Environmental), Trail{}, nil)
		require.NoError(t, err)
		require.Equal(t, schemas.Abandon, d.Directive)
		require.Contains(t, d.Rationale, "request 4")
		d, _, err = Solve(p, failing(3, 0, schemas.Environmental), Trail{}, nil)
		require.NoError(t, err)
		require.NotEqual(t, schemas.Abandon, d.Directive)
	}
}

func TestKillSwitch(t *testing.T) {
	p := Defaults()
	p.Table, p.TimeBudgetMS = TableV08(), 300_000
	for _, on := range []bool{false, true} {
		p.KillSwitch = on
		first, trail, err := Solve(p, failing(1, 1000, schemas.Logical), Trail{Rounds: 1, L: 0.01}, nil)
		require.NoError(t, err)
		require.InDelta(t, 0.920133333, first.Loss.L, tolerance)
		require.Equal(t, schemas.ChangeApproach, first.Directive)
		require.Equal(t, 1, trail.Rising)
		trail.L = 0.01
		second, trail, err := Solve(p, failing(2, 1000, schemas.Logical), trail, nil)
		require.NoError(t, err)
		require.Equal(t, 2, trail.Rising)
		require.Equal(t, on, second.Directive == schemas.Abandon)
	}
}

// Every task ends: whatever fails in whatever way, there is a last directive, and
// what was blocked once stays blocked.
func TestEveryTaskEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	classes := []schemas.FailureClass{"", schemas.Logical, schemas.Environmental}
	tools := []string{"a", "b", "c"}
	for range 500 {
		p := Defaults()
		p.Table = Tables()[rng.IntN(2)]
		p.MaxReplans = 1 + rng.IntN(6)
		var trail Trail
		elapsed := int64(0)
		for round := 1; ; round++ {
			require.LessOrEqual(t, round, p.MaxReplans+1)
			elapsed += rng.Int64N(20_000)
			d, next, err := Solve(p, failing(round, elapsed, classes[rng.IntN(3)],
				schemas.Evidence{Tool: tools[rng.IntN(3)], Input: "i", Exit: rng.IntN(2)}), trail, tools)
			require.NoError(t, err)
			require.Subset(t, d.BlockedTools, trail.BlockedTools)
			require.Subset(t, d.BlockedTargets, trail.BlockedTargets)
			require.False(t, math.IsNaN(d.Loss.L))
			require.Equal(t, round, next.Rounds)
			trail = next
			if d.Directive == schemas.Abandon {
				final, err := Abandoned(d, nil, nil, "2026-01-01T00:00:00Z")
				require.NoError(t, err)
				require.NotEmpty(t, final.Reason)
				require.GreaterOrEqual(t, len(final.NextMoves), 2)
				break
			}
			_, err = Abandoned(d, nil, nil, "")
			require.ErrorIs(t, err, schemas.ErrConflict)
		}
	}
}

func TestAbandonedCarriesWhatThereIs(t *testing.T) {
	p := Defaults()
	d := GiveUp(p, "t", 2, 1, 0, Trail{BlockedTools: []string{"bash"}}, p.Loss(0.25, 1, 0.1),
		"no answer of the planner held")
	require.InDelta(t, 0.25, d.Loss.D, tolerance, "as it was measured last")
	require.InDelta(t, p.Loss(0.25, 1, p.Omega(1, 0)).L, d.Loss.L, tolerance, "with the budget used by now")
	none := GiveUp(p, "t", 0, 0, 0, Trail{}, schemas.Loss{}, "nobody plans")
	require.Zero(t, none.Loss.D, "nothing is invented")
	require.Contains(t, none.Rationale, "No round was measured")
	f, err := Abandoned(d, []schemas.SubTaskOutcome{
		{Status: schemas.Matched, Output: json.RawMessage(`"half"`)},
		{Status: schemas.OutcomeFailed, Output: json.RawMessage(`"wrong"`)}},
		[]schemas.Plan{{SubTasks: []schemas.PlannedSubTask{{Intent: "look", Tools: []string{"bash"}}}}},
		"2026-01-01T00:00:00Z")
	require.NoError(t, err)
	require.JSONEq(t, `["half"]`, string(f.Output))
	require.Equal(t, []string{"round 1: look (bash)"}, f.Tried)
	require.Contains(t, f.Reason, "no answer of the planner held")
	require.Contains(t, f.NextMoves, "give it another tool than bash")
	require.Positive(t, f.Loss.L)
}

func TestAFailureWeighsAtLeastItsLastAttempt(t *testing.T) {
	o := schemas.SubTaskOutcome{Status: schemas.OutcomeFailed, GapTrajectory: make([]schemas.Gap, 2),
		CriteriaVerdicts: []schemas.CriterionVerdict{{Criterion: "c", Mode: schemas.Plausible, Verdict: schemas.Fail}}}
	require.InDelta(t, 0.5, Measure(Weigh(schemas.ReplanRequest{Outcomes: []schemas.SubTaskOutcome{o}})).D, tolerance)
}

func TestAnotherPathLeavesAllThatLedNowhere(t *testing.T) {
	d, _, err := Solve(Defaults(), failing(1, 0, schemas.Environmental, schemas.Evidence{Tool: "curl", Input: "a"}),
		Trail{}, nil)
	require.NoError(t, err)
	require.Equal(t, schemas.ChangePath, d.Directive)
	require.Equal(t, []string{"curl:a"}, d.BlockedTargets)
}

// Two rounds in a row ask for another path: the second forbids the dead end of the first too.
func TestDeadEndsAccumulate(t *testing.T) {
	var d schemas.PlanDirective
	var trail Trail
	for i, url := range []string{"a", "b"} {
		var err error
		d, trail, err = Solve(Defaults(), failing(1+i, 0, schemas.Environmental,
			schemas.Evidence{Tool: "curl", Input: url, Exit: 7}), trail, nil)
		require.NoError(t, err)
		require.Equal(t, schemas.ChangePath, d.Directive)
	}
	require.Equal(t, []string{"curl:a", "curl:b"}, d.BlockedTargets)
	require.Equal(t, d.BlockedTargets, trail.BlockedTargets)
}

// Tables lists the tables there are to choose from.
func Tables() []Table { return []Table{TableV07(), TableV08()} }

// label is what the vectors call a row.
func label(r Row) string {
	if r.Name != "" {
		return r.Name
	}
	return string(r.Directive)
}
