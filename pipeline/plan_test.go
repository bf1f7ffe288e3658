package pipeline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func step(sequence int, intent, criterion string, tools ...string) schemas.PlannedSubTask {
	return schemas.PlannedSubTask{Intent: intent, Sequence: sequence, Tools: tools,
		SuccessCriteria: []schemas.Criterion{{Criterion: criterion, Mode: schemas.Verifiable}}}
}

func planOf(steps ...schemas.PlannedSubTask) schemas.Plan {
	return schemas.Plan{SubTasks: steps,
		TaskCriteria: []schemas.Criterion{{Criterion: "a file with 3 lines is there", Mode: schemas.Verifiable}}}
}

var brief = Brief{Intent: "Find the newest log.", Tools: []string{"bash", "find", "grep"}}

// wrongWith are the paths of what is wrong with a plan.
func wrongWith(t *testing.T, p schemas.Plan, b Brief) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := CheckPlan(p, b)
	if err == nil {
		return out
	}
	var e *schemas.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, schemas.CodeInvalid, e.Code)
	for _, v := range e.Violations {
		out[v.Path] = v.Msg
	}
	return out
}

func TestWhatAPlanMustNotUse_INV_MUSTNOT(t *testing.T) {
	b := brief
	b.Constraints = []Constraint{{Kind: MustNot, Approach: "find:/srv -name log", Lesson: "find is slow here",
		Source: "m1"}, {Kind: ShouldPrefer, Approach: "bash:ls", Source: "m2"}}
	b.BlockedTools, b.BlockedTargets = []string{"grep"}, []string{"bash:ls /var/log"}
	b.Directive = schemas.ChangeApproach
	require.Equal(t, []string{"bash", "find"}, b.Left(), "memory blocks no tool")
	found := wrongWith(t, planOf(
		step(0, "List with ls /var/log what is there", "it lists", "/bin/bash"),
		step(1, "search with find /srv -name log", "it finds", "Find", "/usr/bin/grep", "bashh", "telepathy")), b)
	require.Len(t, found, 5)
	require.Contains(t, found["/subtasks/0/intent"], "led nowhere")
	require.Contains(t, found["/subtasks/1/intent"], "lesson m1 forbids it")
	require.Contains(t, found["/subtasks/1/intent"], "cordelia memory delete m1")
	require.Contains(t, found["/subtasks/1/intent"], `memory_delete_warm {"id": "m1"}`)
	require.NotContains(t, found["/subtasks/1/intent"], "slow", "the words of a lesson stay out of refusals")
	require.Contains(t, found["/subtasks/1/tools/1"], "earlier round")
	require.Contains(t, found["/subtasks/1/tools/2"], "did you mean bash?")
	require.Contains(t, found["/subtasks/1/tools/3"], "only bash")
	require.Empty(t, wrongWith(t, planOf(step(0, "List /srv/log", "it lists", "Bash", "find")), b))
	told := b.Breaches([]schemas.Evidence{{Tool: "/usr/bin/Grep"}, {Tool: "bash", Input: "ls  /var/log"},
		{Tool: "zsh", Input: "bash -lc 'ls /var/log'"},
		{Tool: "bash", Input: "ls"}, {Tool: "FIND", Input: "/srv -name log"}})
	require.Len(t, told, 4)
	require.Equal(t, "tool /usr/bin/Grep was used: it was tried in an earlier round of this task", told[0])
	require.Contains(t, told[1]+told[2], "led nowhere")
	require.Contains(t, told[3], "lesson m1 forbids it")
}

// What a target is called in the context or in a criterion is used, too.
func TestABlockedTargetIsFoundWhereverAPlanNamesIt_INV_MUSTNOT(t *testing.T) {
	b := brief
	b.BlockedTargets, b.Directive = []string{"bash:make deploy"}, schemas.ChangePath
	in := func(change func(*schemas.PlannedSubTask)) map[string]string {
		s := step(0, "bring it out", "it answers", "bash")
		change(&s)
		return wrongWith(t, planOf(s), b)
	}
	require.Empty(t, in(func(*schemas.PlannedSubTask) {}))
	require.NotEmpty(t, in(func(s *schemas.PlannedSubTask) { s.Context = "call make deploy" }))
	require.NotEmpty(t, in(func(s *schemas.PlannedSubTask) { s.SuccessCriteria[0].Criterion = "Make deploy ends well" }))
	require.NotEmpty(t, in(func(s *schemas.PlannedSubTask) {
		s.SuccessCriteria[0].Check = &schemas.Check{Kind: schemas.CheckCommand, Command: []string{"make", "deploy"}}
	}))
}

func TestASubTaskNamesATool(t *testing.T) {
	require.Contains(t, wrongWith(t, planOf(step(0, "look", "it prints")), brief)["/subtasks/0/tools"],
		"at least one tool")
}

func TestACriterionSaysMoreThanTheIntent(t *testing.T) {
	for intent, criterion := range map[string]string{
		"Count the lines":  "  count THE lines!",
		"最新のログを探す。":        "最新のログを探す",
		"ＦＩＮＤ it":          "find it",
		"something else":   "Find the newest log",
		"Compter les mots": "compter, les mots",
	} {
		found := wrongWith(t, planOf(step(0, intent, criterion, "bash")), brief)
		require.Contains(t, found["/subtasks/0/success_criteria/0"], "restates", intent)
	}
	p := planOf(step(0, "count", "wc prints a number", "bash"))
	p.TaskCriteria[0].Criterion = "find the newest log"
	require.Contains(t, wrongWith(t, p, brief)["/task_criteria/0"], "restates")
}

func TestAPlanIsNamedAllThatIsWrong(t *testing.T) {
	p := planOf(step(-1, " ", "", "bash"), step(0, "x", "y", "bash"))
	p.SubTasks[1].SuccessCriteria = []schemas.Criterion{{Criterion: "y", Mode: "sure"},
		{Criterion: "Y", Mode: schemas.Plausible, Check: &schemas.Check{Kind: schemas.CheckFile, Path: "../x"}}}
	p.TaskCriteria = nil
	found := wrongWith(t, p, brief)
	for _, at := range []string{"/subtasks/0/intent", "/subtasks/0/sequence", "/subtasks/0/success_criteria/0",
		"/subtasks/1/success_criteria/0/mode",
		"/subtasks/1/success_criteria/1", "/subtasks/1/success_criteria/1/mode",
		"/subtasks/1/success_criteria/1/check/path", "/task_criteria"} {
		require.Contains(t, found, at)
	}
	require.Len(t, found, 8)
	require.Contains(t, wrongWith(t, schemas.Plan{}, brief), "/subtasks")
	require.Contains(t, wrongWith(t, planOf(make([]schemas.PlannedSubTask, MaxSubTasks+1)...), brief), "/subtasks")
}

func TestAFailedPlanIsNotTriedAgain(t *testing.T) {
	before := planOf(step(0, "Search the log folder", "it prints a path", "find", "grep"),
		step(3, "count", "a number comes out", "bash"))
	same := planOf(step(7, "count", "A number comes out!", "bash"),
		step(2, "search the log folder.", "it prints a path", "grep", "find"))
	b := brief
	b.Earlier = []schemas.Plan{planOf(step(0, "else", "y", "bash")), before}
	require.Empty(t, wrongWith(t, same, b), "no directive, no replan")
	for _, d := range schemas.Directives()[:4] {
		b.Directive = d
		require.Equal(t, "is the plan of round 2, which failed", wrongWith(t, same, b)[""], d)
	}
	first := b
	first.Earlier, first.Directive = []schemas.Plan{before}, schemas.ChangePath
	require.Equal(t, "is the plan of round 1, which failed", wrongWith(t, same, first)[""])
	b.Directive = schemas.Refine
	sharper := planOf(same.SubTasks...)
	sharper.SubTasks[0].Context = "begin with the newest"
	require.Empty(t, wrongWith(t, sharper, b), "refining keeps tools and intents")
	b.Directive = schemas.BreakSymmetry
	require.Contains(t, wrongWith(t, sharper, b)[""], "100 % like the plan of round 2")
}

func TestNearlyTheSamePlans(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		alike bool
	}{
		{"search all of the log folders for the newest file", "search the log folders for the newest file", true},
		{"search the log folder for the newest file", "ask the journal daemon for its last cursor", false},
		{"最新のログファイルを検索して行数を数える", "最新のログファイルを検索して行数を数えます", true},
		{"最新のログファイルを検索して行数を数える", "気温の統計を地図に描いて保存", false},
		{"查找最新的日志文件并统计行数", "查找最新的日志文件并统计行数。", true},
	} {
		a, b := planOf(step(0, tt.a, "y", "bash")), planOf(step(0, tt.b, "y", "bash"))
		likeness := Likeness(a, b)
		require.InDelta(t, likeness, Likeness(b, a), tolerance)
		require.InDelta(t, 1, Likeness(a, a), tolerance)
		require.Equal(t, tt.alike, likeness >= nearlyTheSame, "%v: %s", likeness, tt.b)
	}
	// 4 of 5 in both is 0.8, and counts.
	require.InDelta(t, 0.8, Likeness(planOf(step(0, "one two three", "y", "bash")),
		planOf(step(0, "one two three four", "y", "bash"))), tolerance)
}

func TestPlannersAreAskedAgainForAWhile(t *testing.T) {
	good, err := json.Marshal(planOf(step(0, "look", "it prints", "bash")))
	require.NoError(t, err)
	bad := strings.Replace(string(good), `"bash"`, `"rm"`, 1)
	for attempt, want := range map[int]Judgement{1: PlanAgain, 2: PlanAgain, 3: PlanGiveUp, 4: PlanGiveUp} {
		for _, answer := range []string{bad, "sorry", "{}"} {
			_, j, _, err := JudgePlan(answer, brief, attempt)
			require.Equal(t, want, j)
			require.ErrorIs(t, err, schemas.ErrInvalid)
		}
		p, j, _, err := JudgePlan("Here:\n"+string(good), brief, attempt)
		require.NoError(t, err)
		require.Equal(t, PlanHolds, j)
		require.Equal(t, "look", p.SubTasks[0].Intent)
	}
	b := brief
	b.BlockedTools = b.Tools
	_, j, _, err := JudgePlan(string(good), b, 1)
	require.Equal(t, PlanGiveUp, j)
	require.ErrorContains(t, err, "every tool")
}

func TestABriefTakesOverADirective(t *testing.T) {
	d := schemas.PlanDirective{Directive: schemas.ChangePath, BlockedTools: []string{"a"},
		BlockedTargets: []string{"b:c"}}
	b := NewBrief("x", []string{"a", "b"}, nil, d, nil)
	require.Equal(t, []string{"b"}, b.Left())
	require.Equal(t, schemas.ChangePath, b.Directive)
	require.Equal(t, d.BlockedTargets, b.BlockedTargets)
}
