package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// talk is the messages of a task as they come about.
type talk struct {
	*testing.T
	task  string
	round int
	list  []schemas.AuditEvent
}

func seated(name string) schemas.EntityID {
	return schemas.EntityID(strings.Repeat(fmt.Sprintf("%02x", name[0]), 32))
}

func (k *talk) say(actor string, from, to schemas.PipelineRole, record, subtask string, body any) {
	raw, err := json.Marshal(body)
	require.NoError(k, err)
	who := schemas.EntityID("node")
	if actor != "" {
		who = seated(actor)
	}
	k.list = append(k.list, schemas.AuditEvent{EventID: fmt.Sprintf("%s-%d", k.task, len(k.list)), TaskID: k.task,
		Round: k.round, SubTaskID: subtask,
		From: from, To: to, Actor: who, Record: record, Message: raw})
}

var subtaskCriteria = []schemas.Criterion{{Criterion: "the tests pass", Mode: schemas.Verifiable},
	{Criterion: "it reads well", Mode: schemas.Plausible}}

func (k *talk) plan(tool string, intents ...string) {
	k.round++
	m := schemas.DispatchManifest{TaskID: k.task, Round: k.round,
		TaskCriteria: []schemas.Criterion{{Criterion: "all of it works", Mode: schemas.Verifiable}}}
	for i, intent := range intents {
		id := fmt.Sprintf("%s-r%d-s%d", k.task, k.round, i+1)
		m.SubTaskIDs = append(m.SubTaskIDs, id)
		k.say("planner", "R2", "R3", recordSubTask, id,
			schemas.SubTask{SubTaskID: id, ParentTaskID: k.task, Round: k.round,
				PlannedSubTask: schemas.PlannedSubTask{Intent: intent, SuccessCriteria: subtaskCriteria,
					Tools: []string{tool}, Sequence: 1}})
	}
	k.say("planner", "R2", "R4b", recordManifest, "", m)
}

func (k *talk) sub(n int) string { return fmt.Sprintf("%s-r%d-s%d", k.task, k.round, n) }

func (k *talk) executes(n int, tool string) {
	k.say("executor", "R3", "R4a", recordResult, k.sub(n),
		schemas.ExecutionResult{TaskID: k.task, SubTaskID: k.sub(n), Round: k.round, Attempt: 1,
			ExecutionReport: schemas.ExecutionReport{Status: schemas.ExecutionCompleted, Output: []byte(`"done"`),
				ToolCalls: []schemas.Evidence{{Tool: tool, Input: "make test"}}}})
}

func (k *talk) corrects(n int) {
	k.say("validator", "R4a", "R3", recordCorrection, k.sub(n),
		schemas.CorrectionSignal{TaskID: k.task, SubTaskID: k.sub(n), Round: k.round, AttemptNumber: 1,
			FailedCriterion: "it reads well"})
}

func (k *talk) outcome(n int, verdict schemas.Verdict) schemas.SubTaskOutcome {
	o := schemas.SubTaskOutcome{SubTaskID: k.sub(n), ParentTaskID: k.task, Round: k.round, Status: schemas.Matched}
	if verdict == schemas.Fail {
		o.Status = schemas.OutcomeFailed
	}
	for _, c := range subtaskCriteria {
		o.CriteriaVerdicts = append(o.CriteriaVerdicts,
			schemas.CriterionVerdict{Criterion: c.Criterion, Mode: c.Mode, Verdict: verdict,
				Evidence: "bash:make test → ok"})
	}
	return o
}

func (k *talk) judges(n int, verdict schemas.Verdict) {
	k.say("validator", "R4a", "R4b", recordOutcome, k.sub(n), k.outcome(n, verdict))
}

func (k *talk) replans(d schemas.Directive, loss, rise float64, blocked ...string) {
	k.say("", "R4b", "R7", recordRequest, "", schemas.ReplanRequest{TaskID: k.task, Round: k.round})
	k.directs(d, loss, rise, blocked...)
}

func (k *talk) directs(d schemas.Directive, dist, rise float64, blocked ...string) {
	k.say("", "R7", "R2", recordDirective, "", schemas.PlanDirective{TaskID: k.task, Round: k.round, Directive: d,
		GradL: rise,
		Loss:  schemas.Loss{D: dist, L: dist}, BlockedTools: blocked})
}

func (k *talk) merges(to schemas.PipelineRole, verdict schemas.Verdict) {
	k.say("merger", "R4b", to, recordMerge, "", map[string]any{"output": "all",
		"verdicts": []schemas.CriterionVerdict{{Criterion: "all of it works", Verdict: verdict, Evidence: "e"}}})
}

func (k *talk) ends(from schemas.PipelineRole, how schemas.TaskResult) {
	k.say("", from, "", recordFinal, "", schemas.FinalResult{TaskID: k.task, Result: how})
}

func (k *talk) begins() {
	k.say("", "", "R1", recordAnswers, "", map[string]string{"answers": ""})
	k.say("reader", "R1", "R2", recordTaskSpec, "", schemas.TaskSpec{TaskID: k.task, Intent: "mend the shop"})
	k.say("", "R5", "R2", recordConstraints, "", map[string]any{"constraints": []string{"…"},
		"must_not": []string{"bash:rm -r out", "old"}})
}

// round is one that runs to its outcomes.
func (k *talk) runs(tool string, verdict schemas.Verdict, intents ...string) {
	k.plan(tool, intents...)
	for i := range intents {
		k.executes(i+1, tool)
	}
	k.corrects(1)
	k.executes(1, tool)
	for i := range intents {
		k.judges(i+1, verdict)
	}
}

// cleanTask has three rounds, each planned otherwise, and is accepted.
func cleanTask(t *testing.T, name string) *talk {
	k := &talk{T: t, task: name}
	k.begins()
	k.runs("bash", schemas.Fail, "make the till work", "make the door open")
	k.replans(schemas.BreakSymmetry, 0.9, 0, "bash")
	k.runs("go", schemas.Fail, "compile a new till", "hang the door the other way")
	k.replans(schemas.Refine, 0.5, -0.2, "bash")
	k.runs("make", schemas.Pass, "build the till from parts", "grease the hinges")
	k.merges("", schemas.Pass)
	k.ends("R4b", schemas.ResultAccepted)
	k.say("", "R4b", "R5", recordMemory, "", schemas.MemoryEntry{EntryID: "e"})
	return k
}
