package pipeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

var today = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// entry is a lesson of a task of its own, so many days old.
func entry(id string, days int, kind schemas.MemoryEntryType, intent string, approaches ...string) Remembered {
	l := schemas.Lesson{Intent: intent, Lesson: "learnt " + id, Prefer: approaches}
	if kind == schemas.Procedural {
		l.Prefer, l.Avoid = nil, approaches
	}
	at := today.AddDate(0, 0, -days).Format(time.RFC3339)
	return Remembered{schemas.MemoryEntry{EntryID: id, TaskID: "task of " + id, Type: kind, Content: l, Timestamp: at},
		true, false}
}

func failure(id string, days int, intent string) Remembered {
	return entry(id, days, schemas.Procedural, intent, "kubectl:apply -f pods.yaml")
}

func TestToolNames(t *testing.T) {
	for _, name := range []string{"bash", "Bash", "/bin/bash", " /usr/bin/BASH ", `C:\tools\bash.exe`, "sh", "zsh",
		"run_shell_command", "ｂａｓｈ"} {
		require.Equal(t, "bash", ToolName(name), name)
	}
	require.Equal(t, "edit", ToolName("MultiEdit"))
	require.Equal(t, "kubectl", ToolName("/usr/local/bin/kubectl"))
	require.NotEqual(t, ToolName("kubectl"), ToolName("bash"))
}

func TestApproaches(t *testing.T) {
	same := []schemas.Evidence{{Tool: "bash", Input: "make deploy"}, {Tool: "/bin/bash", Input: " make  deploy\n"},
		{Tool: "shell", Input: "bash -lc 'make deploy'"},
		{Tool: "Bash", Input: `sh -c "make deploy"`}}
	for _, call := range same {
		require.Equal(t, "bash:make deploy", Approach(call), call)
	}
	require.NotEqual(t, Approach(same[0]), Approach(schemas.Evidence{Tool: "bash", Input: "make Deploy"}),
		"commands have case")
	require.Equal(t, "edit:main.go", Approach(schemas.Evidence{Tool: "Edit", Input: "./main.go"}))
	long, other := strings.Repeat("請", 100), strings.Repeat("請", 101)
	require.LessOrEqual(t, len(Approach(schemas.Evidence{Tool: "bash", Input: long})), maxApproach)
	require.NotEqual(t, Approach(schemas.Evidence{Tool: "bash", Input: long}),
		Approach(schemas.Evidence{Tool: "bash", Input: other}))
	key := Approach(schemas.Evidence{Tool: "bash", Input: long})
	require.Equal(t, key, approachOf(key), "a key stays what it is")
}

// What only looks, and what a criterion asks for, is no approach.
func TestWhatIsNoApproach(t *testing.T) {
	o := schemas.SubTaskOutcome{Status: schemas.OutcomeFailed, CriteriaVerdicts: []schemas.CriterionVerdict{
		{Criterion: "make test ends with 0, and main.go is there", Verdict: schemas.Fail,
			FailureClass: schemas.Logical}},
		ToolCalls: []schemas.Evidence{{Tool: "Read", Input: "main.go"}, {Tool: "bash", Input: "git status"},
			{Tool: "bash", Input: "ls -l"},
			{Tool: "bash", Input: "make test", Exit: 1}, {Tool: "bash", Input: "find . -delete"},
			{Tool: "bash", Input: "echo x > main.go"},
			{Tool: "/bin/bash", Input: "find . -delete"}, {Tool: "telepathy", Input: "x"},
			{Tool: "edit", Input: "main.go"}}}
	tools := []string{"Bash", "edit", "read"}
	require.Equal(t, []string{"bash:find . -delete", "bash:echo x > main.go", "edit:main.go"},
		FailedApproaches([]schemas.SubTaskOutcome{o}, nil, tools))
	o.CriteriaVerdicts[0].FailureClass = schemas.Environmental
	require.Empty(t, FailedApproaches([]schemas.SubTaskOutcome{o}, nil, tools),
		"what came from outside is no fault of the approach")
	o.Status, o.ToolCalls[8].Exit = schemas.Matched, 1
	require.Equal(t, []string{"bash:find . -delete", "bash:echo x > main.go"},
		WorkedApproaches([]schemas.SubTaskOutcome{o}, tools))
	whole := []schemas.CriterionVerdict{{Verdict: schemas.Fail, FailureClass: schemas.Logical}}
	require.Len(t, FailedApproaches([]schemas.SubTaskOutcome{o}, whole, tools), 3,
		"the whole was rejected, and every part had matched")
}

// A person's release binds, and nothing else does. Two tasks that failed with the same approach
// on closely matching intents advise against it, one prefers another.
func TestWhatBindsAPlan_INV_MUSTNOT(t *testing.T) {
	const intent = "deploy the billing service"
	tools := []string{"kubectl", "bash"}
	released := failure("r", 300, intent)
	released.Released = true
	sameTask := failure("b", 2, intent)
	sameTask.TaskID = "task of a"
	for name, tt := range map[string]struct {
		entries []Remembered
		want    ConstraintKind
		against bool
		source  string
	}{
		"one failure":       {[]Remembered{failure("a", 1, intent)}, ShouldPrefer, true, "a"},
		"twice in one task": {[]Remembered{failure("a", 1, intent), sameTask}, ShouldPrefer, true, "a"},
		"two tasks": {[]Remembered{failure("a", 1, intent),
			failure("b", 2, "Deploy the billing service!")}, ShouldAvoid, false, "a"},
		"close enough": {[]Remembered{failure("a", 1, "deploy our billing service to production"),
			failure("b", 2, intent)}, ShouldAvoid, false, "a"},
		"one word in common": {[]Remembered{failure("a", 1, "deploy a statue in the park"),
			failure("b", 2, "deploy fifty leaflets by hand")}, "", false, ""},
		"worked elsewhere": {[]Remembered{entry("s", 0, schemas.Episodic, "deploy a statue in the park",
			"kubectl:apply -f pods.yaml")}, "", false, ""},
		"one of two close": {[]Remembered{failure("a", 1, intent),
			failure("b", 2, "deploy fifty leaflets by hand")}, ShouldPrefer, true, "a"},
		"one of two close, the older": {[]Remembered{failure("a", 1, "deploy fifty leaflets by hand"),
			failure("b", 2, intent)}, ShouldPrefer, true, "b"},
		"nothing in common": {[]Remembered{failure("a", 1, "paint the fence"),
			failure("b", 2, "paint the fence")}, "", false, ""},
		"a month old": {[]Remembered{failure("a", 30, intent), failure("b", 30, intent)}, ShouldAvoid,
			false, "a"},
		"older": {[]Remembered{failure("a", 31, intent), failure("b", 31, intent)}, ShouldPrefer,
			true, "a"},
		"three of seven weeks": {[]Remembered{failure("a", 47, intent), failure("b", 47, intent),
			failure("c", 47, intent)}, ShouldAvoid, false, "a"},
		"long ago": {[]Remembered{failure("a", 200, intent), failure("b", 200, intent)}, "", false,
			""},
		"released": {[]Remembered{released}, MustNot, false, "r"},
		"released, and it worked": {[]Remembered{entry("s", 0, schemas.Episodic, intent,
			"kubectl:apply -f pods.yaml"), released}, MustNot, false, "r"},
		"lifted": {[]Remembered{entry("s", 0, schemas.Episodic, "deploy it",
			"kubectl:apply -f pods.yaml"), failure("a", 1, intent), failure("b", 2, intent)}, ShouldPrefer, false, "s"},
		"failed once since": {[]Remembered{failure("a", 0, intent),
			entry("s", 1, schemas.Episodic, intent, "kubectl:apply -f pods.yaml"), failure("b", 2, intent)},
			ShouldPrefer, true, "a"},
		"failed twice since": {[]Remembered{failure("a", 0, intent), failure("b", 1, intent),
			entry("s", 2, schemas.Episodic, intent, "kubectl:apply -f pods.yaml")}, ShouldAvoid, false, "a"},
		"another approach worked": {[]Remembered{entry("s", 0, schemas.Episodic, "paint", "kubectl:delete"),
			failure("a", 1, intent), failure("b", 2, intent)}, ShouldAvoid, false, "a"},
		"of a tool the task has not": {[]Remembered{entry("a", 1, schemas.Procedural, intent, "helm:x"),
			entry("b", 1, schemas.Procedural, intent, "helm:x")}, "", false, ""},
		"as it was kept before": {[]Remembered{entry("a", 1, schemas.Procedural, intent, "bash"),
			entry("b", 1, schemas.Procedural, intent, "bash")}, "", false, ""},
		"from outside": {[]Remembered{obstacle("a", 1, intent)}, ShouldPrefer, false, "a"},
		"from outside, elsewhere": {[]Remembered{obstacle("a", 1, "deploy fifty leaflets by hand")}, "", false,
			""},
		"from outside, some time ago": {[]Remembered{obstacle("a", 40, intent)}, "", false, ""},
		"what agents wrote themselves": {[]Remembered{loose(failure("a", 1, intent)), loose(failure("b", 1, intent))},
			"", false, ""},
	} {
		got := Calibrate(intent, tt.entries, tools, today)
		if tt.want == "" {
			require.Empty(t, got, name)
			continue
		}
		require.Len(t, got, 1, name)
		require.Equal(t, tt.want, got[0].Kind, name)
		require.Equal(t, tt.against, got[0].Against, name)
		require.Equal(t, tt.source, got[0].Source, name)
	}
	got := Calibrate(intent, []Remembered{failure("a", 1, intent), failure("b", 2, intent)}, tools, today)[0]
	require.Equal(t, `SHOULD AVOID tool kubectl on "apply -f pods.yaml", which failed in two tasks: `+
		`on "deploy the billing service", "learnt a" (memory a)`, got.String())
	require.True(t, got.Discourages())
	require.Contains(t, got.Release(), "cordelia memory release a --if-version 1")
	got = Calibrate(intent, []Remembered{released}, tools, today)[0]
	require.Contains(t, got.String(), `MUST NOT use tool kubectl on "apply -f pods.yaml": on "deploy`)
	require.False(t, got.Discourages())
	require.Len(t, Calibrate("最新のログ", []Remembered{entry("cjk", 1, schemas.Procedural, "最新のログを数える", "bash:wc")},
		tools, today), 1)
}

// A word that nearly all lessons share says nothing of what an intent is about: deployments of
// other services are not alike, though most of their words are the same.
func TestWordsThatAllLessonsShareDoNotCount(t *testing.T) {
	other := func(id, service, region string) Remembered {
		return failure(id, 1, "deploy service "+service+" to region "+region)
	}
	tools := []string{"kubectl"}
	elsewhere := []Remembered{other("a", "billing", "north"), other("b", "search", "south"),
		other("c", "mail", "east"), other("d", "login", "west")}
	require.Empty(t, Calibrate("deploy service cart to region centre", elsewhere, tools, today))
	again := append(elsewhere, other("e", "cart", "centre"))
	again[4].TaskID = "another"
	got := Calibrate("deploy service cart to region centre", again, tools, today)
	require.Len(t, got, 1)
	require.Equal(t, "e", got[0].Source)
	require.Equal(t, ShouldPrefer, got[0].Kind, "one failure of its own kind forbids nothing")
}

// obstacle is a lesson of a task that something outside stopped.
func obstacle(id string, days int, intent string) Remembered {
	e := entry(id, days, schemas.Procedural, intent)
	e.Tags = []string{string(schemas.ResultAbandoned), string(schemas.Environmental)}
	return e
}

func loose(r Remembered) Remembered { r.Vouched = false; return r }

// One word in common is not half of them; fillers and words of any request do not count.
func TestIntentsThatMatchClosely(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"fix the login page", "fix the logout page", true}, // two of three
		{"fix login", "fix logout", false},
		{"deploy", "Deploy!", true},
		{"deploy", "deploy the billing service", false},
		{"please can you make my report", "please can you make my breakfast", false},
		{"請求サービスをデプロイする", "請求サービスをデプロイして", true},
		{"", "", false},
	} {
		require.Equal(t, tt.want, alike(informative(tt.a), informative(tt.b)), "%s, %s", tt.a, tt.b)
		require.Equal(t, tt.want, alike(informative(tt.b), informative(tt.a)), "%s, %s", tt.b, tt.a)
	}
}

func TestCalibrationLooksAtTheNewest(t *testing.T) {
	var many []Remembered
	for i := range 30 {
		many = append(many, entry(fmt.Sprint(i), i, schemas.Episodic, "count the log", fmt.Sprint("bash:wc ", i)))
	}
	got := Calibrate("count the log", many, []string{"bash"}, today)
	require.Len(t, got, maxEntries)
	require.Equal(t, "0", got[0].Source)
	require.Equal(t, "9", got[9].Source)
}
