package pipeline

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func beliefs(t *testing.T) Parameters {
	t.Helper()
	p, ok := Policy(BeliefPolicy)
	require.True(t, ok)
	p.TimeBudgetMS = AgentBudgetMS
	return p
}

// Whatever is done, a task is solved or one of the causes is left: no chance is lost.
func TestChancesAreKept(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		var c Chances
		for i := range c {
			c[i] = random.Float64()
		}
		c = c.given(Chances{1, 1, 1, 1, 1})
		for _, d := range remedies() {
			solved, after := advance(c, d, random.Float64())
			require.InDelta(t, 1, solved+after.sum(), 1e-12)
			require.GreaterOrEqual(t, after[NoWay], c[NoWay]-1e-12, "nothing heals what nothing solves")
		}
		_, few := best(c, 2, otherTool)
		_, more := best(c, 3, otherTool)
		require.GreaterOrEqual(t, more, few)
	}
	require.InDelta(t, 1, prior().sum(), 1e-12)
	require.Equal(t, prior(), Chances{1}.given(Chances{0, 1, 1, 1, 1}), "what cannot have happened happened")
}

// shown is a request whose two criteria failed or passed.
func shown(count int, class schemas.FailureClass, passes bool, calls ...schemas.Evidence) schemas.ReplanRequest {
	verdict := schemas.Fail
	if passes {
		verdict = schemas.Pass
	}
	return schemas.ReplanRequest{TaskID: "t", Round: count, ReplanCount: count, ElapsedMS: int64(count) * 1000,
		FailedSubTasks: []string{"s"}, Recommendation: schemas.RecommendReplan, Outcomes: []schemas.SubTaskOutcome{{
			SubTaskID: "s", Status: schemas.OutcomeFailed, ToolCalls: calls, CriteriaVerdicts: []schemas.CriterionVerdict{
				{Criterion: "one", Mode: schemas.Verifiable, Verdict: schemas.Fail, FailureClass: class},
				{Criterion: "two", Mode: schemas.Verifiable, Verdict: verdict, FailureClass: class}}}}}
}

// The directive follows what is likeliest wrong, and says so.
func TestBeliefsSayWhatIsWrong(t *testing.T) {
	p, tools := beliefs(t), []string{"helm", "kubectl", "scp"}
	p.MaxReplans = 8
	ran, broke := schemas.Evidence{Tool: "kubectl", Input: "apply a"}, schemas.Evidence{Tool: "kubectl", Input: "apply a",
		Exit: 1}

	d, trail, err := Solve(p, shown(1, schemas.Logical, true, ran), Trail{}, tools)
	require.NoError(t, err)
	require.Equal(t, schemas.Refine, d.Directive)
	require.Empty(t, d.BlockedTools)
	require.Contains(t, d.Rationale, "I think the approach is right and needs sharpening (0.")
	require.Contains(t, d.Rationale, "because most failures are of the approach.")
	require.Contains(t, d.Rationale, "the chance to solve it within the 8 rounds left is 0.")

	for count := 2; d.Directive == schemas.Refine && count <= p.MaxReplans; count++ {
		d, trail, err = Solve(p, shown(count, schemas.Logical, true, ran), trail, tools)
		require.NoError(t, err)
		require.Contains(t, d.Rationale, "sharpening moved nothing")
	}
	require.Equal(t, schemas.ChangeApproach, d.Directive, "nothing moved: %s", d.Rationale)
	require.Equal(t, []string{"kubectl"}, d.BlockedTools)

	d, _, err = Solve(p, shown(1, schemas.Environmental, false, broke), Trail{}, tools)
	require.NoError(t, err)
	require.Equal(t, schemas.ChangePath, d.Directive, d.Rationale)
	require.Contains(t, d.Rationale, "most failures come from outside")
	require.Equal(t, []string{broke.Target()}, d.BlockedTargets)
	require.Empty(t, d.BlockedTools)
}

// Progress keeps an approach that would be given up without it.
func TestProgressKeepsAnApproach(t *testing.T) {
	p, tools := beliefs(t), []string{"helm", "kubectl", "scp"}
	p.MaxReplans = 8
	call := schemas.Evidence{Tool: "kubectl", Input: "apply a"}
	_, first, err := Solve(p, shown(1, schemas.Logical, false, call), Trail{}, tools)
	require.NoError(t, err)
	_, moved, err := Solve(p, shown(2, schemas.Logical, true, call), first, tools)
	require.NoError(t, err)
	_, same, err := Solve(p, shown(2, schemas.Logical, false, call), first, tools)
	require.NoError(t, err)
	require.Greater(t, moved.Belief.Chances[NeedsSharpening], same.Belief.Chances[NeedsSharpening])
	require.Equal(t, schemas.Refine, moved.Belief.Directive)
	p.Blind = Blind{Classes: true, Loss: true, Gradient: true}
	_, blind, err := Solve(p, shown(2, schemas.Logical, true, call), first, tools)
	require.NoError(t, err)
	_, blindToo, err := Solve(p, shown(2, schemas.Environmental, false, call), first, tools)
	require.NoError(t, err)
	require.Equal(t, blind.Belief.Chances, blindToo.Belief.Chances, "what is left out changes nothing")
}

// What a planner did is read from its calls, not from what it was told.
func TestWhatThePlannerDid(t *testing.T) {
	round := func(told schemas.Directive, calls ...schemas.Evidence) Seen {
		b := look(shown(1, schemas.Logical, false, calls...))
		b.Directive = told
		return b
	}
	call := func(tool, input string) schemas.Evidence { return schemas.Evidence{Tool: tool, Input: input} }
	for name, tt := range map[string]struct {
		before, now Seen
		did         schemas.Directive
	}{
		"the same again": {round(schemas.ChangeApproach, call("kubectl", "a")), round("", call("Kubectl", " a")),
			schemas.Refine},
		"another target": {round(schemas.Refine, call("kubectl", "a")), round("", call("kubectl", "b")),
			schemas.ChangePath},
		"another tool": {round(schemas.Refine, call("kubectl", "a")), round("", call("helm", "a")),
			schemas.ChangeApproach},
		"a general tool, another way": {round(schemas.ChangeApproach, call("bash", "make a")),
			round("", call("bash", "scp b")), schemas.ChangeApproach},
		"a general tool, elsewhere": {round(schemas.ChangePath, call("bash", "make a")),
			round("", call("bash", "make b")), schemas.ChangePath},
		"no calls": {round(schemas.ChangePath), round("", call("bash", "make b")), schemas.Refine},
	} {
		require.Equal(t, tt.did, tt.before.did(tt.now, GeneralTools()), name)
	}
}

// A task ends when its budget is used or nothing is worth another round, and says which.
func TestBeliefsGiveUp_INV_GGS_ABANDON(t *testing.T) {
	p, tools := beliefs(t), []string{"helm", "kubectl"}
	call := schemas.Evidence{Tool: "kubectl", Input: "a", Exit: 1}
	d, _, err := Solve(p, shown(p.MaxReplans+1, schemas.Logical, false, call), Trail{}, tools)
	require.NoError(t, err)
	require.Equal(t, schemas.Abandon, d.Directive)
	require.Contains(t, d.Rationale, "Abandon: ")
	late := shown(1, schemas.Logical, false, call)
	late.ElapsedMS = p.TimeBudgetMS
	d, _, err = Solve(p, late, Trail{}, tools)
	require.NoError(t, err)
	require.Equal(t, schemas.Abandon, d.Directive)
	hopeless := Trail{Rounds: 1, Belief: &Belief{Chances: Chances{0, 0, 0, 0, 1}}}
	d, _, err = Solve(p, shown(2, schemas.Logical, false, call), hopeless, tools)
	require.NoError(t, err)
	require.Equal(t, schemas.Abandon, d.Directive)
	require.Contains(t, d.Rationale, "nothing at hand solves this (1.0)")
	require.Contains(t, d.Rationale, "no directive solves it within the budget")
}

// A trail is kept between rounds as JSON; one without beliefs begins anew.
func TestATrailKeepsBeliefs(t *testing.T) {
	p := beliefs(t)
	_, trail, err := Solve(p, shown(1, schemas.Logical, true, schemas.Evidence{Tool: "a", Input: "b"}), Trail{}, nil)
	require.NoError(t, err)
	raw, err := json.Marshal(trail)
	require.NoError(t, err)
	var back Trail
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, trail, back)
	old := Trail{Rounds: 1, L: 0.5}
	_, after, err := Solve(p, shown(2, schemas.Logical, true, schemas.Evidence{Tool: "a", Input: "b"}), old, nil)
	require.NoError(t, err)
	require.NotNil(t, after.Belief)
	other, ok := Policy(DefaultPolicy)
	require.True(t, ok)
	_, after, err = Solve(other, shown(1, schemas.Logical, true), Trail{}, nil)
	require.NoError(t, err)
	require.Nil(t, after.Belief)
	require.NotNil(t, after.Course)
}
