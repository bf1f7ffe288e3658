package pipeline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func patient(t *testing.T) Parameters {
	t.Helper()
	p, ok := Policy(PatientPolicy)
	require.True(t, ok)
	p.TimeBudgetMS = AgentBudgetMS
	return p
}

// A first approach that ran is refined once before anything is blocked; v0.7 to the
// letter blocks it at once.
func TestAFirstApproachThatRanIsRefinedOnce(t *testing.T) {
	ran, broke := schemas.Evidence{Tool: "kubectl", Input: "apply"}, schemas.Evidence{Tool: "kubectl", Input: "apply",
		Exit: 1}
	tools := []string{"kubectl", "helm"}
	for name, tt := range map[string]struct {
		policy string
		class  schemas.FailureClass
		call   schemas.Evidence
		first  schemas.Directive
		second schemas.Directive
	}{
		"ran":                    {PatientPolicy, schemas.Logical, ran, schemas.Refine, schemas.BreakSymmetry},
		"ran, from outside":      {PatientPolicy, schemas.Environmental, ran, schemas.Refine, schemas.ChangePath},
		"did not run":            {PatientPolicy, schemas.Environmental, broke, schemas.ChangePath, schemas.ChangePath},
		"to the letter":          {"v0.7", schemas.Logical, ran, schemas.BreakSymmetry, schemas.Abandon},
		"v0.8 is to the letter":  {"v0.8", schemas.Logical, ran, schemas.BreakSymmetry, schemas.Abandon},
		"to the letter, outside": {"v0.7", schemas.Environmental, ran, schemas.ChangePath, schemas.ChangePath},
	} {
		p, ok := Policy(tt.policy)
		require.True(t, ok)
		p.TimeBudgetMS = AgentBudgetMS
		first, trail, err := Solve(p, failing(1, 0, tt.class, tt.call), Trail{}, tools)
		require.NoError(t, err)
		require.Equal(t, tt.first, first.Directive, name)
		require.Equal(t, tt.first == schemas.Refine, len(first.BlockedTools)+len(first.BlockedTargets) == 0, name)
		if tt.second == schemas.Abandon {
			require.Equal(t, []string{"kubectl"}, first.BlockedTools, name)
			continue
		}
		second, _, err := Solve(p, failing(2, 0, tt.class, tt.call), trail, tools)
		require.NoError(t, err)
		require.Equal(t, tt.second, second.Directive, name)
		require.NotEmpty(t, append(second.BlockedTools, second.BlockedTargets...), name)
	}
	_, ok := Policy("v0.9")
	require.False(t, ok)
	for _, name := range Policies() {
		_, ok := Policy(name)
		require.True(t, ok, name)
	}
}

// A directive blocks a special tool as such, a general one and the last one only on what
// they were used on, and nothing that a criterion asks for.
func TestWhatADirectiveBlocks(t *testing.T) {
	p := patient(t)
	before := Trail{Rounds: 1, L: 1}
	calls := []schemas.Evidence{{Tool: "/usr/bin/Kubectl", Input: "apply"}, {Tool: "/bin/bash", Input: "make  deploy"},
		{Tool: "bash", Input: "make found"},
		{Tool: "bash", Input: "git status"}, {Tool: "telepathy", Input: "x"}}
	r := failing(2, 0, schemas.Logical, calls...)
	r.Outcomes[1].CriteriaVerdicts[0].Criterion = "make found prints it"
	d, trail, err := Solve(p, r, before, []string{"kubectl", "Bash", "helm"})
	require.NoError(t, err)
	require.Equal(t, schemas.BreakSymmetry, d.Directive)
	require.Equal(t, []string{"kubectl"}, d.BlockedTools)
	require.Equal(t, []string{"/bin/bash:make  deploy"}, d.BlockedTargets)

	d, _, err = Solve(p, failing(3, 0, schemas.Logical, schemas.Evidence{Tool: "helm", Input: "upgrade"}), trail,
		[]string{"kubectl", "helm"})
	require.NoError(t, err)
	require.Equal(t, schemas.BreakSymmetry, d.Directive, "the task goes on with the one tool there is")
	require.Equal(t, []string{"kubectl"}, d.BlockedTools)
	require.Contains(t, d.BlockedTargets, "helm:upgrade")

	p.General = []string{}
	d, _, err = Solve(p, failing(2, 0, schemas.Logical, calls[1]), before, []string{"bash", "helm"})
	require.NoError(t, err)
	require.Equal(t, []string{"bash"}, d.BlockedTools, "the operator says which tools are general")
}

// What one round blocked stays blocked after the next, tools and approaches.
func TestWhatIsBlockedAccumulates(t *testing.T) {
	p := patient(t)
	tools := []string{"bash", "helm", "kubectl", "terraform"}
	trail := Trail{Rounds: 1, L: 1}
	var d schemas.PlanDirective
	for i, calls := range [][]schemas.Evidence{
		{{Tool: "kubectl", Input: "apply"}, {Tool: "bash", Input: "make deploy"}},
		{{Tool: "helm", Input: "upgrade"}, {Tool: "bash", Input: "scp it"}},
	} {
		var err error
		d, trail, err = Solve(p, failing(2+i, 0, schemas.Logical, calls...), trail, tools)
		require.NoError(t, err)
		require.Equal(t, schemas.BreakSymmetry, d.Directive)
	}
	require.Equal(t, []string{"helm", "kubectl"}, d.BlockedTools)
	require.ElementsMatch(t, []string{"bash:make deploy", "bash:scp it"}, d.BlockedTargets)
	require.Equal(t, []string{"bash", "terraform"}, Brief{Tools: tools, BlockedTools: d.BlockedTools}.Left())
}

// No patient task loses its last tool, whatever fails.
func TestThePatientKeepATool(t *testing.T) {
	p := patient(t)
	p.MaxReplans = 20
	tools := []string{"a", "b", "bash"}
	var trail Trail
	for round := 1; round <= 12; round++ {
		call := schemas.Evidence{Tool: tools[round%3], Input: "i"}
		d, next, err := Solve(p, failing(round, 0, schemas.Logical, call), trail, tools)
		require.NoError(t, err)
		require.NotContains(t, d.Rationale, "every tool")
		require.NotEmpty(t, Brief{Tools: tools, BlockedTools: d.BlockedTools}.Left())
		trail = next
	}
}
