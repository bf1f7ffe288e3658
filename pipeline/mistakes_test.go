package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/machinecheck"
	"cordelia/schemas"
)

// What models get wrong, each by its name, from what was said to what counts. What
// concerns dates in briefs and endpoints is tested where those are.
func TestWhatModelsGetWrong(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"prose around JSON":                    proseAroundJSON,
		"two JSON objects":                     twoJSONObjects,
		"think blocks":                         thinkBlocks,
		"labels before JSON":                   labelsBeforeJSON,
		"unescaped quotes":                     unescapedQuotes,
		"made-up ids":                          madeUpIDs,
		"restated criteria":                    restatedCriteria,
		"claimed success beside a failed tool": claimedSuccessBesideAFailedTool,
		"stale files taken as fresh":           staleFilesTakenAsFresh,
		"the same call ten times":              theSameCallTenTimes,
		"missing verdicts":                     missingVerdicts,
		"CJK intents":                          cjkIntents,
	} {
		t.Run(name, test)
	}
}

// judged is a validator's answer.
func judged(verdicts ...schemas.Verdict) string {
	var list []string
	for i, v := range verdicts {
		list = append(list, fmt.Sprintf(`{"criterion":%q,"verdict":%q,"evidence":"bash:make → ok"}`,
			task.SuccessCriteria[i].Criterion, v))
	}
	return `{"verdicts":[` + strings.Join(list, ",") + `]}`
}

// status is what becomes of a completed attempt when a validator answers so.
func status(t *testing.T, answer string) schemas.OutcomeStatus {
	t.Helper()
	report, _ := decoded[schemas.VerdictReport](t, answer)
	o, _ := Aggregate(task, completed(1), report.Verdicts, callsOf(completed(1)), schemas.SubTaskOutcome{})
	return o.Status
}

func proseAroundJSON(t *testing.T) {
	answer := "I looked at {both} criteria.\n\n```json\n" + judged(schemas.Pass, schemas.Pass) +
		"\n```\nBoth pass {as said}."
	require.Equal(t, schemas.Matched, status(t, answer))
}

func twoJSONObjects(t *testing.T) {
	pass, fail := judged(schemas.Pass, schemas.Pass), judged(schemas.Pass, schemas.Fail)
	refused[schemas.VerdictReport](t, pass+"\nCorrection:\n"+fail, "2 different objects")
	require.Equal(t, schemas.OutcomeFailed, status(t, `{"note":"first"}`+fail), "one of them is no report")
}

func thinkBlocks(t *testing.T) {
	pass, fail := judged(schemas.Pass, schemas.Pass), judged(schemas.Pass, schemas.Fail)
	require.Equal(t, schemas.OutcomeFailed, status(t, "<think>maybe "+pass+"</think>"+fail))
	require.Equal(t, schemas.OutcomeFailed, status(t, "maybe "+pass+" no</think>\n"+fail))
	refused[schemas.VerdictReport](t, "<think>"+pass, "no JSON object")
}

func labelsBeforeJSON(t *testing.T) {
	for _, label := range []string{"OUTPUT:", "VerdictReport ", "json\n", "**Answer:** "} {
		require.Equal(t, schemas.Matched, status(t, label+judged(schemas.Pass, schemas.Pass)), label)
	}
}

func unescapedQuotes(t *testing.T) {
	answer := strings.Replace(judged(schemas.Pass, schemas.Pass), "bash:make → ok", `bash:make → it printed "ok" twice`,
		1)
	report, _ := decoded[schemas.VerdictReport](t, answer)
	require.Equal(t, `bash:make → it printed "ok" twice`, report.Verdicts[0].Evidence)
	require.Equal(t, schemas.Matched, status(t, answer))
}

func madeUpIDs(t *testing.T) {
	p, notes := decoded[schemas.Plan](t,
		`{"task_id":"find-it","subtasks":[{"subtask_id":"s-1","intent":"count","success_criteria":["wc prints a number"],
		"sequence":0,"tools":["bash"]}],"task_criteria":["a number is there"]}`)
	require.Len(t, notes, 3)
	require.Contains(t, notes[2], "plausible")
	require.NoError(t, CheckPlan(p, brief))
	require.Equal(t, schemas.SubTask{PlannedSubTask: p.SubTasks[0]},
		schemas.SubTask{PlannedSubTask: plausible(step(0, "count", "wc prints a number", "bash"))})
}

// plausible is a step whose criterion was a bare string.
func plausible(s schemas.PlannedSubTask) schemas.PlannedSubTask {
	s.SuccessCriteria[0].Mode = schemas.Plausible
	return s
}

func restatedCriteria(t *testing.T) {
	for _, restated := range []string{"count the lines", "  Count THE lines!", "ｃｏｕｎｔ the lines",
		"find the newest log."} {
		_, j, _, err := JudgePlan(
			fmt.Sprintf(`{"subtasks":[{"intent":"Count the lines","success_criteria":[%q],"sequence":0,"tools":["bash"]}],
			"task_criteria":["a number is there"]}`, restated), brief, 1)
		require.Equal(t, PlanAgain, j, restated)
		var e *schemas.Error
		require.ErrorAs(t, err, &e)
		require.Len(t, e.Violations, 1)
		require.Contains(t, e.Violations[0].Msg, "restates the intent")
	}
}

func claimedSuccessBesideAFailedTool(t *testing.T) {
	r, _ := decoded[schemas.ExecutionReport](t, `{"status":"completed","output":"It builds.","tool_calls":[
		{"tool":"bash","input":"make","exit":0,"head":"ok"},{"tool":"bash","input":"make","exit":2,"head":"error: no rule"}]}`)
	found := Suspicions(task, schemas.ExecutionResult{ExecutionReport: r})
	require.Equal(t, []Suspicion{{schemas.DetectFailedTool,
		`reported as completed, though the last call of "bash:make" ended with exit 2`}}, found)
	require.Contains(t, r.ToolCalls[1].String(), "(exit 2)", "who judges sees it in the record, too")
	result := schemas.ExecutionResult{Attempt: 1, ExecutionReport: r}
	for _, evidence := range []string{"bash:make → ok", "it said so"} { // the judge names the call, or none
		judged := said(schemas.Pass, schemas.Pass)
		judged[0].Evidence = evidence
		o, _ := Aggregate(task, result, judged, callsOf(result), schemas.SubTaskOutcome{})
		require.Equal(t, schemas.OutcomeFailed, o.Status, "a success that is claimed, and passed by the judge")
		require.Equal(t, schemas.Logical, o.CriteriaVerdicts[0].FailureClass)
		require.Contains(t, o.CriteriaVerdicts[0].Evidence, "(exit 2)")
		require.Equal(t, schemas.Pass, o.CriteriaVerdicts[1].Verdict, "what no call shows is the judge's to say")
	}
	r.Status = schemas.ExecutionFailed
	o, _ := Aggregate(task, schemas.ExecutionResult{Attempt: 1, ExecutionReport: r}, said(schemas.Pass, schemas.Pass),
		Proof{}, schemas.SubTaskOutcome{})
	require.Equal(t, schemas.OutcomeFailed, o.Status, "and a failure that is admitted is one")
}

// The file is real, and so is its time.
func staleFilesTakenAsFresh(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "report.txt")
	require.NoError(t, os.WriteFile(path, []byte("42 lines"), 0o600))
	began := time.Now().Add(-time.Minute)
	require.NoError(t, os.Chtimes(path, began, began.Add(-time.Minute)))
	c := schemas.Check{Kind: schemas.CheckRegex, Path: "report.txt", Pattern: "42"}
	ok, e, err := machinecheck.Run(t.Context(), machinecheck.Env{Roots: []string{root}}, c, began)
	require.NoError(t, err)
	require.False(t, ok)
	r := completed(2)
	r.Checks = []schemas.Evidence{e}
	found := Suspicions(task, r)
	require.Len(t, found, 1)
	require.Equal(t, schemas.DetectStaleArtefact, found[0].Detection)
	require.Contains(t, found[0].Text, `"report.txt matches \"42\"": 8 bytes`)

	require.NoError(t, os.WriteFile(path, []byte("42 lines"), 0o600))
	ok, e, err = machinecheck.Run(t.Context(), machinecheck.Env{Roots: []string{root}}, c, began)
	require.NoError(t, err)
	require.True(t, ok)
	r.Checks = []schemas.Evidence{e}
	require.Empty(t, Suspicions(task, r))
}

func theSameCallTenTimes(t *testing.T) {
	call := `{"tool":"bash","input":"ls","exit":0}`
	r, _ := decoded[schemas.ExecutionReport](t, `{"status":"completed","output":1,"tool_calls":[`+
		strings.Repeat(call+",", TooOften-1)+call+`]}`)
	require.Equal(t, []Suspicion{{schemas.DetectRepetition, `"bash:ls" was called 10 times`}},
		Suspicions(task, schemas.ExecutionResult{ExecutionReport: r}))
}

func missingVerdicts(t *testing.T) {
	for _, answer := range []string{judged(schemas.Pass), judged(),
		strings.Replace(judged(schemas.Pass, schemas.Pass), "bash:make → ok", " ", 1)} {
		require.Equal(t, schemas.OutcomeFailed, status(t, answer), answer)
	}
	report, _ := decoded[schemas.VerdictReport](t, judged(schemas.Pass))
	verdicts, _ := Verdicts(task.SuccessCriteria, report.Verdicts, Proof{})
	require.Len(t, verdicts, len(task.SuccessCriteria))
	require.Equal(t, "no verdict on it came", verdicts[1].Evidence)
}

func cjkIntents(t *testing.T) {
	b := Brief{Intent: "最新のログを探して行数を数える", Tools: []string{"bash"}}
	p := planOf(step(0, "ログフォルダーを一覧にする", "lsがパスを印字する", "bash"))
	require.NoError(t, CheckPlan(p, b))
	p.TaskCriteria[0].Criterion = "最新のログを探して、行数を数える。"
	require.Contains(t, wrongWith(t, p, b), "/task_criteria/0", "restated, with other punctuation")
	b.Directive, b.Earlier = schemas.BreakSymmetry, []schemas.Plan{planOf(step(0, "最新のログファイルを検索して行数を数えます", "数",
		"bash"))}
	require.Contains(t, wrongWith(t, planOf(step(0, "最新のログファイルを検索して行数を数える", "数", "bash")), b)[""],
		"like the plan of round 1")
	require.Len(t, Calibrate(b.Intent, []Remembered{entry("m", 0, schemas.Procedural, "最新のログの行数を数える", "bash:wc")}, b.Tools,
		today), 1)
}
