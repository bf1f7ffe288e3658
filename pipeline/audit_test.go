package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func TestACleanRunIsSilent(t *testing.T) {
	var list []schemas.AuditEvent
	for _, name := range []string{"a", "b"} {
		list = append(list, cleanTask(t, name).list...)
	}
	abandoned := &talk{T: t, task: "c"}
	abandoned.begins()
	abandoned.runs("bash", schemas.Fail, "x y z", "u v w")
	abandoned.replans(schemas.Abandon, 1, 0.05)
	abandoned.ends("R7", schemas.ResultAbandoned)
	unplanned := &talk{T: t, task: "d"}
	unplanned.begins()
	unplanned.say("planner", "R2", "R2", recordRefused, "", map[string]any{"why": "w"})
	unplanned.directs(schemas.Abandon, 1, 0)
	unplanned.ends("R7", schemas.ResultAbandoned)
	cancelled := &talk{T: t, task: "e"}
	cancelled.begins()
	cancelled.plan("bash", "p q r", "l m n")
	cancelled.executes(1, "bash")
	cancelled.ends("", schemas.ResultCancelled)
	list = slices.Concat(list, abandoned.list, unplanned.list, cancelled.list)
	require.Empty(t, Detect(list, Watch{Related: func(a, b schemas.EntityID) bool { return false }}))
	require.Empty(t, Detect(nil, Watch{}))
}

// Each line of the table finds what it is for, says who is accountable, and shows
// the messages; nothing else is found there.
func TestEachDetection(t *testing.T) {
	type want struct {
		detection schemas.Detection
		who       schemas.PipelineRole
		words     string
	}
	const boundary = schemas.DetectBoundary
	for name, tt := range map[string]struct {
		run  func(k *talk)
		want []want
	}{
		"five corrections": {func(k *talk) {
			k.plan("bash", "i")
			for range 7 {
				k.executes(1, "bash")
				k.corrects(1)
			}
		}, []want{{schemas.DetectDrift, "R4a", "corrected 7 times"}}},
		"four": {func(k *talk) {
			k.plan("bash", "i", "j")
			for range 2 {
				k.corrects(1)
				k.corrects(2)
			}
		}, nil},
		"five over the whole task": {func(k *talk) {
			for i := range 3 { // two in each round, as many as there are by default
				k.plan("bash", fmt.Sprint("intent ", i))
				k.corrects(1)
				k.corrects(1)
				k.judges(1, schemas.Fail)
				k.replans(schemas.Refine, 0.9, 0)
			}
		}, []want{{schemas.DetectDrift, "R4a", "corrected 6 times, up to round 3"}}},
		"one fault many times": {func(k *talk) {
			k.begins()
			k.plan("bash", "i", "j", "k")
			for range 7 {
				for i := range 3 {
					k.say("executor", "R3", "R4a", recordResult, k.sub(i+1),
						schemas.ExecutionResult{TaskID: k.task, SubTaskID: k.sub(i + 1), Round: 1,
							Unplanned:       []schemas.Evidence{{Tool: "/bin/rm", Input: "x"}},
							ExecutionReport: schemas.ExecutionReport{Status: schemas.ExecutionFailed}})
				}
			}
		}, []want{{boundary, "R3", `tool "rm", which its subtask had not planned`}}},
		"the loss rises twice": {func(k *talk) {
			for i, rise := range []float64{0, 0.11, 0.2} {
				k.runs(fmt.Sprint("tool", i), schemas.Fail, fmt.Sprint("intent", i))
				k.replans(schemas.Refine, 0.9, rise)
			}
		}, []want{{schemas.DetectDivergence, "R7", "2 times in a row"}}},
		"it rises, rests and rises": {func(k *talk) {
			for i, rise := range []float64{0.2, 0.1, 0.2} {
				k.runs(fmt.Sprint("tool", i), schemas.Fail, fmt.Sprint("intent", i))
				k.replans(schemas.Refine, 0.9, rise)
			}
		}, nil},
		"symmetry broken in vain": {func(k *talk) {
			for i, d := range []float64{0.9, 0.9} {
				k.runs(fmt.Sprint("tool", i), schemas.Fail, fmt.Sprint("intent", i))
				k.replans(schemas.BreakSymmetry, d, 0)
			}
		}, []want{{schemas.DetectThrashing, "R7", "symmetry was broken 2 times"}}},
		"symmetry broken, and D falls": {func(k *talk) {
			for i, d := range []float64{0.9, 0.8, 0.7} {
				k.runs(fmt.Sprint("tool", i), schemas.Fail, fmt.Sprint("intent", i))
				k.replans(schemas.BreakSymmetry, d, 0)
			}
		}, nil},
		"a record nobody sends": {func(k *talk) { k.say("executor", "R3", "R5", recordMemory, "", map[string]any{}) },
			[]want{{boundary, "R3", "no such message"}}},
		"past R7": {func(k *talk) { k.say("", "R4b", "R2", recordRequest, "", map[string]any{}) },
			[]want{{boundary, "R4b", "R4b sent \"ReplanRequest\" to R2"}}},
		"the auditor speaks": {func(k *talk) { k.say("", "R6", "R2", recordDirective, "", 7) },
			[]want{{boundary, "R6", "no such message"}}},
		"a stranger speaks": {func(k *talk) { k.say("", "", "R3", recordSubTask, "", 7) },
			[]want{{boundary, "R6", "the user sent"}}},
		"R1 derives criteria": {func(k *talk) {
			k.say("reader", "R1", "R2", recordTaskSpec, "",
				map[string]any{"intent": "i", "success_criteria": []string{"x"}})
		}, []want{{boundary, "R1", "success_criteria"}}},
		"an approach memory forbids": {func(k *talk) {
			k.begins()
			k.plan("old", "i")
			k.plan("Bash", "do rm -r out")
		}, []want{{boundary, "R2", `tool "bash" on "rm -r out"`}}},
		"a tool a directive blocks": {func(k *talk) {
			k.runs("bash", schemas.Fail, "i")
			k.replans(schemas.ChangeApproach, 0.9, 0, "bash")
			k.plan("bash", "quite another thing")
		}, []want{{boundary, "R2", `tool "bash"`}}},
		"the same plan again": {func(k *talk) {
			for range 2 {
				k.runs("bash", schemas.Fail, "Do it!")
				k.replans(schemas.Refine, 0.9, 0)
			}
		}, []want{{boundary, "R2", "is that of round 1"}}},
		"hardly another plan": {func(k *talk) {
			k.runs("bash", schemas.Fail,
				"sort the long list of names by age, height and weight, then by town and street")
			k.replans(schemas.BreakSymmetry, 0.9, 0)
			k.plan("bash", "sort the long list of names by age, height and weight, then by town and road")
		}, []want{{boundary, "R2", "like that of round 1"}}},
		"R3 reports on another subtask": {func(k *talk) {
			k.plan("bash", "i", "j")
			k.executes(2, "bash")
			k.list[len(k.list)-1].SubTaskID = k.sub(1)
		}, []want{{boundary, "R3", "sat in subtask"}}},
		"R3 reports on what is not there": {func(k *talk) {
			k.plan("bash", "i")
			k.executes(9, "bash")
		}, []want{{boundary, "R3", "which no role had dispatched"}}},
		"R3 uses what is forbidden": {func(k *talk) {
			k.begins()
			k.plan("bash", "i")
			k.say("executor", "R3", "R4a", recordResult, k.sub(1),
				schemas.ExecutionResult{TaskID: k.task, SubTaskID: k.sub(1), Round: 1,
					ExecutionReport: schemas.ExecutionReport{Status: schemas.ExecutionCompleted,
						ToolCalls: []schemas.Evidence{{Tool: "/bin/sh", Input: "rm  -r out"}}}})
		}, []want{{boundary, "R3", `used tool "bash" on "rm  -r out"`}}},
		"R3 works on what a directive blocks": {func(k *talk) {
			k.plan("bash", "i")
			k.judges(1, schemas.Fail)
			d := schemas.PlanDirective{Round: 1, Directive: schemas.ChangePath,
				BlockedTargets: []string{"bash:make deploy"}}
			k.say("", "R4b", "R7", recordRequest, "", schemas.ReplanRequest{Round: 1})
			k.say("", "R7", "R2", recordDirective, "", d)
			k.say("executor", "R3", "R4a", recordResult, k.sub(1),
				schemas.ExecutionResult{TaskID: k.task, SubTaskID: k.sub(1), Round: 1,
					ExecutionReport: schemas.ExecutionReport{Status: schemas.ExecutionFailed,
						ToolCalls: []schemas.Evidence{{Tool: "Bash", Input: "make deploy"}}}})
		}, []want{{boundary, "R3", `used tool "bash" on "make deploy"`}}},
		"R4a on an unknown criterion": {func(k *talk) {
			k.plan("bash", "i")
			o := k.outcome(1, schemas.Pass)
			o.CriteriaVerdicts = append(o.CriteriaVerdicts,
				schemas.CriterionVerdict{Criterion: "it is blue", Verdict: schemas.Pass, Evidence: "e"})
			k.say("validator", "R4a", "R4b", recordOutcome, k.sub(1), o)
		}, []want{{boundary, "R4a", `"it is blue", which is no criterion`}}},
		"R4a leaves one out, and one without evidence": {func(k *talk) {
			k.plan("bash", "i")
			o := k.outcome(1, schemas.Pass)
			o.CriteriaVerdicts = o.CriteriaVerdicts[:1]
			o.CriteriaVerdicts[0].Evidence = " "
			k.say("validator", "R4a", "R4b", recordOutcome, k.sub(1), o)
		}, []want{{boundary, "R4a", "without evidence"}, {boundary, "R4a", "no verdict on \"it reads well\""}}},
		"R4a calls a failure a match": {func(k *talk) {
			k.plan("bash", "i")
			o := k.outcome(1, schemas.Fail)
			o.Status = schemas.Matched
			k.say("validator", "R4a", "R4b", recordOutcome, k.sub(1), o)
		}, []want{{boundary, "R4a", "reported a match"}}},
		"R4b accepts what failed": {func(k *talk) {
			k.runs("bash", schemas.Fail, "i")
			k.merges("", schemas.Pass)
			k.ends("R4b", schemas.ResultAccepted)
		}, []want{{boundary, "R4b", "merged round 1"}, {boundary, "R4b", "accepted the task, and subtask"}}},
		"R4b accepts what it rejected": {func(k *talk) {
			k.runs("bash", schemas.Pass, "i")
			k.merges("", schemas.Fail)
			k.ends("R4b", schemas.ResultAccepted)
		}, []want{{boundary, "R4b", "took the merge"}}},
		"R4b accepts without merging": {func(k *talk) {
			k.runs("bash", schemas.Pass, "i")
			k.merges("R7", schemas.Fail)
			k.ends("R4b", schemas.ResultAccepted)
		}, []want{{boundary, "R4b", "without a merge"}}},
		"R7 unasked": {func(k *talk) {
			k.runs("bash", schemas.Fail, "i")
			k.directs(schemas.Refine, 0.5, 0)
		}, []want{{boundary, "R7", "which no role had asked for"}}},
		"R7 twice": {func(k *talk) {
			k.runs("bash", schemas.Fail, "i")
			k.replans(schemas.Refine, 0.5, 0)
			k.directs(schemas.ChangePath, 0.5, 0)
		}, []want{{boundary, "R7", "second directive"}}},
		"abandoned by nobody": {func(k *talk) {
			k.runs("bash", schemas.Fail, "i")
			k.ends("R7", schemas.ResultAbandoned)
		}, []want{{boundary, "R7", "R7 had not said so"}}},
		"one id for two subtasks": {func(k *talk) {
			k.plan("bash", "i", "j")
			k.list[1].SubTaskID = k.sub(1)
			k.list[1].Message = k.list[0].Message
		}, []want{{schemas.DetectDuplicateID, "R2", "same id"}}},
		"a manifest that counts one twice": {func(k *talk) {
			k.plan("bash", "i")
			k.list[1].Message = []byte(strings.Replace(string(k.list[1].Message), `["t-r1-s1"]`,
				`["t-r1-s1","t-r1-s1"]`, 1))
		}, []want{{schemas.DetectDuplicateID, "R2", "names a subtask twice"}}},
		"two outcomes": {func(k *talk) {
			k.runs("bash", schemas.Pass, "i")
			k.judges(1, schemas.Pass)
		}, []want{{schemas.DetectDuplicateID, "R4a", "two outcomes"}}},
		"decided without one": {func(k *talk) {
			k.plan("bash", "i", "j")
			k.executes(1, "bash")
			k.judges(1, schemas.Pass)
			k.merges("", schemas.Pass)
			k.ends("R4b", schemas.ResultAccepted)
		}, []want{{schemas.DetectFanInGap, "R4b", "round 1 was decided before any report"}}},
		"replanned without one": {func(k *talk) {
			k.plan("bash", "i", "j")
			k.executes(1, "bash")
			k.judges(1, schemas.Fail)
			k.replans(schemas.Refine, 0.5, 0)
		}, []want{{schemas.DetectFanInGap, "R4b", "round 1 was decided before any report"}}},
		"a late report": {func(k *talk) {
			k.say("executor", "R3", "", recordLate, "", map[string]any{"fence": 3})
		}, []want{{schemas.DetectStaleSubmit, "R3", "not counted"}}},
		"judged by who did it": {func(k *talk) {
			k.plan("bash", "i")
			k.executes(1, "bash")
			k.say("executor", "R4a", "R4b", recordOutcome, k.sub(1), k.outcome(1, schemas.Pass))
		}, []want{{schemas.DetectSeparationDuty, "R4a", "judged it"}}},
		"judged by its kin": {func(k *talk) {
			k.plan("bash", "i")
			k.executes(1, "bash")
			k.say("kin of the executor", "R4a", "R4b", recordOutcome, k.sub(1), k.outcome(1, schemas.Pass))
		}, []want{{schemas.DetectSeparationDuty, "R4a", "judged it"}}},
		"judged by code": {func(k *talk) {
			k.plan("bash", "i")
			k.executes(1, "bash")
			k.say("", "R4a", "R4b", recordOutcome, k.sub(1), k.outcome(1, schemas.Pass))
		}, nil},
		"done and judged by code": {func(k *talk) {
			k.plan("bash", "i")
			k.executes(1, "bash")
			k.list[len(k.list)-1].Actor = "node"
			k.say("", "R4a", "R4b", recordOutcome, k.sub(1), k.outcome(1, schemas.Pass))
		}, nil},
		"merged by an executor of the round": {func(k *talk) {
			k.runs("bash", schemas.Pass, "i")
			k.say("executor", "R4b", "", recordMerge, "",
				map[string]any{"output": "all",
					"verdicts": []schemas.CriterionVerdict{{Criterion: "all of it works", Verdict: schemas.Pass,
						Evidence: "e"}}})
			k.say("executor", "R4b", "", recordFinal, "",
				schemas.FinalResult{TaskID: k.task, Result: schemas.ResultAccepted})
		}, []want{{schemas.DetectSeparationDuty, "R4b", "merged it"}}},
		"accepted, and no call proves a criterion": {func(k *talk) {
			k.plan("bash", "i")
			k.executes(1, "bash")
			o := k.outcome(1, schemas.Pass)
			o.Status, o.CriteriaVerdicts[0].Verdict = schemas.OutcomeHeld, schemas.Held
			k.say("validator", "R4a", "R4b", recordOutcome, k.sub(1), o)
			k.merges("", schemas.Pass)
			k.ends("R4b", schemas.ResultAccepted)
		}, []want{{boundary, "R4b", "without a person"}}},
		"an intent in other words": {func(k *talk) {
			k.say("reader", "R1", "R2", recordTaskSpec, "",
				schemas.TaskSpec{TaskID: k.task, Intent: "delete every backup", RawInput: "Do the thing"})
		}, []want{{schemas.DetectIntentDrift, "R1", "less than half of its words"}}},
		"success beside a failed tool": {func(k *talk) {
			k.plan("bash", "i")
			k.say("executor", "R3", "R4a", recordResult, k.sub(1),
				schemas.ExecutionResult{TaskID: k.task, SubTaskID: k.sub(1), Round: 1,
					ExecutionReport: schemas.ExecutionReport{Status: schemas.ExecutionCompleted,
						ToolCalls: []schemas.Evidence{{Tool: "bash", Input: "make", Exit: 2}}}})
		}, []want{{schemas.DetectFailedTool, "R3", "exit 2"}}},
	} {
		t.Run(name, func(t *testing.T) {
			k := &talk{T: t, task: "t"}
			tt.run(k)
			kin := func(a, b schemas.EntityID) bool {
				return a == seated("executor") && b == seated("kin") || a == seated("kin") && b == seated("executor")
			}
			list := append(cleanTask(t, "other").list, k.list...)
			found := Detect(list, Watch{Related: kin})
			var got []want
			for i, f := range found {
				require.Equal(t, "t", f.TaskID)
				require.NotEmpty(t, f.EventIDs)
				for _, id := range f.EventIDs {
					require.True(t, slices.ContainsFunc(k.list,
						func(e schemas.AuditEvent) bool { return e.EventID == id }))
				}
				words := f.Finding
				if i < len(tt.want) && strings.Contains(words, tt.want[i].words) {
					words = tt.want[i].words
				}
				got = append(got, want{f.Detection, f.Accountable, words})
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestIdsAcrossTasksAreDistinct(t *testing.T) {
	one, other := cleanTask(t, "a"), cleanTask(t, "b")
	require.Equal(t, recordSubTask, other.list[3].Record)
	other.list[3].SubTaskID = one.list[3].SubTaskID
	other.list[5].EventID = one.list[4].EventID
	var texts []string
	for _, f := range Detect(append(one.list, other.list...), Watch{}) {
		if f.Detection == schemas.DetectDuplicateID {
			texts = append(texts, f.Finding)
		}
	}
	require.Equal(t, []string{"a subtask of another task has the same id", "two messages have the same id"}, texts)
}

func TestTheOperatorMayLetKinJudge(t *testing.T) {
	k := &talk{T: t, task: "t"}
	k.plan("bash", "i")
	k.executes(1, "bash")
	k.say("executor", "R4a", "R4b", recordOutcome, k.sub(1), k.outcome(1, schemas.Pass))
	require.Len(t, Detect(k.list, Watch{}), 1)
	require.Empty(t, Detect(k.list, Watch{Together: map[string]bool{"t": true}}))
}

// The measure is the task's own, where it has one.
func TestDivergenceUsesTheTasksEpsilon(t *testing.T) {
	k := &talk{T: t, task: "t"}
	for i := range 3 {
		k.runs(fmt.Sprint("tool", i), schemas.Fail, fmt.Sprint("intent", i))
		k.replans(schemas.Refine, 0.9, 0.2)
	}
	require.Len(t, Detect(k.list, Watch{}), 1)
	require.Empty(t, Detect(k.list, Watch{Epsilon: map[string]float64{"t": 0.3}}))
}

// Whatever is in the messages, the auditor reads on.
func FuzzDetect(f *testing.F) {
	f.Add(recordOutcome, "s", `{"criteria_verdicts":null}`)
	f.Add(recordFinal, "", `{"result":"accepted"}`)
	f.Fuzz(func(t *testing.T, record, subtask, message string) {
		k := cleanTask(t, "a")
		n := len(k.list)
		k.list = append(k.list, schemas.AuditEvent{EventID: "z", TaskID: "a", Round: 3, SubTaskID: subtask, From: "R4b",
			Record: record, Message: []byte(message)})
		for _, found := range Detect(k.list, Watch{}) {
			require.Contains(t, found.EventIDs, "z")
		}
		require.Len(t, k.list, n+1)
		Behaviour{}.Count(k.list[n])
	})
}
