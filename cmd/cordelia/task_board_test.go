package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
)

// sampleTask is a task in its third round, as task_status answers.
const sampleTask = `{"task": {"task_id": "01a20000-0000-7000-8000-000000000001", "state": "running", "group_id": "team", "round": 3,
 "intent": "write the release notes",
 "subtasks": [
  {"subtask_id": "s1", "intent": "gather what changed since the last release, from the log and from the tracker", "sequence": 1,
   "state": "matched", "attempt": 2, "who": "maker", "criteria": ["pass: every commit is named"]},
  {"subtask_id": "s2", "intent": "書く \u001b[2Jnotes", "sequence": 2, "state": "executing", "attempt": 2, "who": "scribe",
   "criteria": ["fail: no change is missing", "pass: it reads well: no jargon"]},
  {"subtask_id": "s3", "intent": "sign them", "sequence": 3, "state": "waiting", "criteria": ["open: a signature is there"]}],
 "criteria": ["open: the notes name every change"],
 "seats": [{"work_id": "w1", "role": "R3", "subtask_id": "s2", "holder": "scribe", "since": "2026-11-22T02:39:08.846808Z", "until": "2026-11-22T02:41:08.846808Z"},
  {"work_id": "w2", "role": "R4a", "subtask_id": "s9", "waits": "in vain so far: nobody in its pool may take it"}],
 "rounds": [
  {"round": 1, "D": 1, "P": 1, "Omega": 0.21, "L": 0.921, "gradient": "plateau", "directive": "break_symmetry", "rationale": "Stuck: plan something new, with none of the tools tried so far."},
  {"round": 2, "D": 0.25, "P": 0.5, "Omega": 0.4, "L": 0.4, "gradient": "improving", "directive": "refine", "rationale": "Keep the approach and sharpen it."}],
 "outcomes": [{"subtask_id": "s1", "criteria_verdicts": [{"criterion": "every commit is named", "mode": "verifiable", "verdict": "pass", "failure_class": null, "evidence": "bash:git log → 12"}]}]},
 "items": []}`

func sampleView(t testing.TB) *taskBoard {
	var status ops.TaskStatusOut
	require.NoError(t, json.Unmarshal([]byte(sampleTask), &status))
	v, err := boardOf((&cli.App{}), *status.Task)
	require.NoError(t, err)
	return v
}

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	again := "run UPDATE_GOLDEN=1 go test ./cmd/cordelia -run " + t.Name()
	require.NoError(t, err, again)
	require.Equal(t, string(want), got, again+" and read the change")
}

func TestBoard(t *testing.T) {
	t.Setenv("TZ", "UTC")
	over := sampleView(t)
	over.State, over.Seats, over.SubTasks = schemas.TaskAccepted, nil, over.SubTasks[:1]
	over.result = &schemas.FinalResult{Result: schemas.ResultAccepted, Reason: "every criterion passed",
		Output: json.RawMessage(`{"notes":"…"}`), Rounds: 3,
		Loss: schemas.Loss{Omega: 0.6, L: 0.24}, Tried: []string{"round 1: one", "round 2: two"}, NextMoves: []string{}}
	asking := &taskBoard{View: controller.View{TaskID: "T", State: schemas.TaskClarifying, Intent: "Ship it",
		Questions: []string{"which one?", "when?"}}}
	held := *over
	held.State, held.ResultHash = schemas.TaskReview, strings.Repeat("ab", 32)
	held.proposed, held.result = held.result, nil
	for name, v := range map[string]*taskBoard{"held": &held, "running": sampleView(t), "over": over,
		"asking": asking} {
		for size, width := range map[string]int{"wide": 0, "terminal": cli.LeastWidth} {
			t.Run(name+" "+size, func(t *testing.T) {
				got := v.board(width, false)
				golden(t, fmt.Sprintf("board-%s-%s.golden", name, size), got)
				require.NotContains(t, got, "\x1b")
				for l := range strings.SplitSeq(got, "\n") {
					require.Equal(t, strings.TrimRight(l, " "), l)
					if width > 0 {
						require.LessOrEqual(t, cli.Measure(l), width, l)
					}
				}
				shows := v.board(width, true)
				require.Contains(t, shows, "\x1b[")
				for _, s := range []cli.Style{cli.Bold, cli.Dim, cli.Red, cli.Green, cli.Yellow} {
					shows = strings.ReplaceAll(shows, "\x1b["+string(s)+"m", "")
				}
				require.Equal(t, got, strings.ReplaceAll(shows, "\x1b[0m", ""), "colour changes no layout")
			})
		}
	}
}

// What is folded loses nothing but blanks, and fits.
func TestFold(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"one two three", 0, []string{"one two three"}},
		{"one two three", 13, []string{"one two three"}},
		{"one two three", 12, []string{"one two", "three"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 4, []string{"one", "two", "thre", "e"}},
		{"書く書く", 3, []string{"書", "く", "書", "く"}},
		{"", 5, []string{""}},
	} {
		require.Equal(t, c.want, cli.Fold(c.text, c.width), "%q to %d", c.text, c.width)
	}
}

func TestChanges(t *testing.T) {
	t.Setenv("TZ", "UTC")
	first := sampleView(t)
	require.Contains(t, first.changes(nil), "task 00000001: write the release notes")
	require.Empty(t, first.changes(sampleView(t)), "nothing changed")
	for name, c := range map[string]struct {
		change func(v *taskBoard)
		want   []string
	}{
		"taken": {func(v *taskBoard) {
			v.Seats[1].Holder, v.Seats[1].Waits, v.Seats[1].Until = "judge", nil, "2026-11-22T02:42:00Z"
		},
			[]string{"R4a: held by judge, lease until 2026-11-22 02:42:00 UTC"}},
		"left": {func(v *taskBoard) { v.Seats = v.Seats[:1] }, nil},
		"verdict": {func(v *taskBoard) { v.SubTasks[1].Criteria[0] = "pass: no change is missing" },
			[]string{"  pass: no change is missing"}},
		"reopened": {func(v *taskBoard) { v.SubTasks[1].Criteria[0] = "open: no change is missing" }, nil},
		"again": {func(v *taskBoard) { v.SubTasks[1].Attempt = 3 },
			[]string{`書く \u{1b}[2Jnotes: executing, attempt 3`}},
		"round": {func(v *taskBoard) {
			v.Round, v.State, v.SubTasks, v.Seats, v.Criteria = 4, schemas.TaskPlanning, nil, nil, nil
			v.Rounds = append(v.Rounds, controller.RoundView{Round: 3, Directive: "change_path",
				Rationale: "Keep the tools."})
		}, []string{"round 3 failed, then change path: Keep the tools.", "the task is planning, round 4"}},
		"asked": {func(v *taskBoard) { v.State, v.Questions = schemas.TaskClarifying, []string{"which\none?"} },
			[]string{"the task is clarifying, round 3", "asked: which one?",
				"next: cordelia task submit --answer 00000001 WORDS; without words it " +
					"goes on as it is"}},
		"over": {func(v *taskBoard) {
			v.State, v.Seats = schemas.TaskAbandoned, nil
			v.result = &schemas.FinalResult{Result: schemas.ResultAbandoned, Reason: "no time",
				NextMoves: []string{"wait"}}
		}, []string{"the task is abandoned, round 3", "result: abandoned", "reason: no time", "you could: wait"}},
	} {
		t.Run(name, func(t *testing.T) {
			now := sampleView(t)
			c.change(now)
			require.Equal(t, c.want, now.changes(sampleView(t)))
		})
	}
}
