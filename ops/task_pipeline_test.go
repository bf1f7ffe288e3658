package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// crew are agents that sit in roles.
func (h *house) crew(names ...string) (list []Caller) {
	for _, name := range names {
		h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name,
			"name": name, "capabilities": map[string]any{
				"memory_read": map[string]any{"layers": []string{"l1"}, "groups": []string{},
					"visibility": []string{}},
				"memory_write": map[string]any{"layers": []string{"l1"}, "groups": []string{},
					"visibility": []string{}},
				"tools": []string{"task_claim", "task_report", "task_submit"}, "max_parallel_ops": 5,
				"autonomous": true, "ttl_seconds": 3600}})
		list = append(list, h.caller(name))
	}
	return list
}

// sit claims a role's seat and reports an answer to it.
func (h *house) sit(c Caller, role string, answer map[string]any) map[string]any {
	h.t.Helper()
	w, ok := h.must(c, "task_claim", map[string]any{"role": role})["work"].(map[string]any)
	require.True(h.t, ok, "there is no %s to claim", role)
	return h.must(c, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
		"result":   answer,
		"evidence": []any{map[string]any{"tool": "bash", "input": role, "exit": 0, "head": "fine"}}})
}

func passing(criteria ...string) map[string]any {
	list := []any{}
	for _, c := range criteria {
		list = append(list, map[string]any{"criterion": c, "verdict": "pass", "evidence": "seen"})
	}
	return map[string]any{"verdicts": list}
}

// A task through the tools, with a file that a machine looks at and a person who looks
// at the result.
func TestPipelineByTools(t *testing.T) {
	root := t.TempDir()
	h := newHouseOf(t, "ann", root)
	one := h.crew("one", "two", "three")
	made := h.must(h.lead, "task_submit", map[string]any{"request": "Write the report", "hold": true,
		"tools": []string{"bash", "write"}})
	require.Equal(t, "perceiving", made["state"])
	id := made["task_id"]
	require.Equal(t, "the task is clarifying", h.sit(one[0], "R1",
		map[string]any{"intent": "", "questions": []string{"Which report?"}})["led_to"])
	status := h.must(h.lead, "task_status", map[string]any{"task_id": id})
	require.Equal(t, []any{"Which report?"}, status["task"].(map[string]any)["questions"])
	_, err := h.call(one[0], "task_submit", map[string]any{"task_id": id, "answers": "mine"})
	require.Error(t, err)
	require.Equal(t, "perceiving", h.must(h.lead, "task_submit",
		map[string]any{"task_id": id, "answers": "the yearly one"})["state"])
	h.sit(one[0], "R1", map[string]any{"intent": "write the yearly report"})

	_, err = h.call(h.lead, "task_submit", map[string]any{"task_id": id})
	require.ErrorIs(t, err, schemas.ErrConflict)
	plan := map[string]any{"task_criteria": []any{"the report is whole"}, "subtasks": []any{
		map[string]any{"intent": "write it to report.txt", "sequence": 1, "tools": []string{"write"},
			"success_criteria": []any{
				map[string]any{"criterion": "report.txt says done",
					"check": map[string]any{"kind": "regex", "path": "report.txt", "pattern": "done"}},
				"it reads well"}}}}
	h.sit(one[0], "R2", plan)

	w := h.must(one[0], "task_claim", map[string]any{"role": "R3"})["work"].(map[string]any)
	report := func(fence any) map[string]any {
		return h.must(one[0], "task_report", map[string]any{"work_id": w["work_id"], "fence": fence, "outcome": "done",
			"result":   map[string]any{"file": "report.txt"},
			"evidence": []any{map[string]any{"tool": "write", "input": "report.txt", "exit": 0}}})
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "report.txt"), []byte("not yet"), 0o600))
	report(w["fence"])
	h.sit(one[1], "R4a", passing("it reads well"))
	w = h.must(one[0], "task_claim", map[string]any{"role": "R3"})["work"].(map[string]any)
	correction := w["brief"].(map[string]any)["inputs"].(map[string]any)["correction"].(map[string]any)
	require.Equal(t, "report.txt says done", correction["failed_criterion"],
		"whatever the executor and the validator say")
	h.clock.set(time.Now())
	require.NoError(t, os.WriteFile(filepath.Join(root, "report.txt"), []byte("done"), 0o600))
	report(w["fence"])
	h.sit(one[1], "R4a", passing("it reads well"))

	merge := passing("the report is whole")
	merge["output"] = map[string]any{"report": "report.txt"}
	require.Equal(t, "the task is review", h.sit(one[2], "R4b", merge)["led_to"])
	person := h.person()
	listed := h.must(person, "review_list", map[string]any{})["waiting"].([]any)
	require.Len(t, listed, 1)
	entry := listed[0].(map[string]any)
	require.Equal(t, "task", entry["kind"])
	whole := h.must(person, "review_list", map[string]any{"ids": []any{id}})["waiting"].([]any)[0].(map[string]any)
	require.Equal(t, entry["hash"], whole["hash"])
	shown := fmt.Sprint(whole["diff"])
	require.NotContains(t, shown, "Omega", "what the node measured is no part of what it says")
	for _, part := range []string{"output.report: report.txt", "the whole, planned by one, merged by three",
		"pass: the report is whole", "done by one, judged by two, attempt 2",
		"pass: it reads well", "evidence: seen", "evidence: check_regex:report.txt"} {
		require.Contains(t, shown, part)
	}
	for _, word := range []string{"approve", "reject"} {
		_, err = h.call(person, "review_decide",
			map[string]any{"decisions": []any{map[string]any{"id": id, "decision": word}}})
		require.ErrorIs(t, err, schemas.ErrConflict)
		require.ErrorContains(t, err, "names no hash")
	}
	require.Empty(t, h.must(h.lead, "review_list", map[string]any{})["waiting"])
	_, err = h.call(h.lead, "review_decide",
		map[string]any{"decisions": []any{map[string]any{"id": id, "decision": "approve", "hash": entry["hash"]}}})
	require.ErrorIs(t, err, schemas.ErrDenied)
	decided := h.must(person, "review_decide",
		map[string]any{"decisions": []any{map[string]any{"id": id, "decision": "approve", "hash": entry["hash"]}}})
	require.Equal(t, "accepted", decided["decided"].([]any)[0].(map[string]any)["state"])
	require.Equal(t, "accepted", h.must(h.lead, "task_status",
		map[string]any{"task_id": id})["task"].(map[string]any)["state"])
	require.Equal(t, []int{0, 35}, []int{h.trusted("one", "executor"), h.trusted("one", "planner")},
		"its sibling's pass earns nothing, the person's does")
}

// A refused answer is counted and committed, with an idempotency key too, and its
// repetition gets the same answer.
func TestRefusedAnswerIsCommitted(t *testing.T) {
	h := newHouse(t)
	one := h.crew("one")[0]
	h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "x"})
	w := h.must(one, "task_claim", map[string]any{})["work"].(map[string]any)
	for i, key := range []string{"k1", "k1", "k2"} {
		_, err := h.call(one, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"],
			"outcome": "done",
			"result":  map[string]any{"subtasks": "none", "n": 7}, "idempotency_key": key, "claim_next": true})
		require.ErrorIs(t, err, schemas.ErrInvalid, "%d", i)
		require.ErrorContains(t, err, "/subtasks: must be an array")
		require.ErrorContains(t, err, "2 more answers are taken")
	}
	require.Equal(t, 1, h.number(`SELECT answers FROM task_seats`))
	require.Equal(t, 1, h.number(`SELECT count(*) FROM task_messages WHERE record = 'Refused'`))
	require.NotNil(t, h.must(one, "task_claim", map[string]any{})["work"].(map[string]any)["resumed"])
}

// What ends otherwise than by a report moves the task on without anybody calling.
func TestRoutineMovesTasks(t *testing.T) {
	h := newHouse(t)
	h.crew("one")
	made := h.must(h.lead, "task_submit", map[string]any{"request": "x", "within_seconds": 60})
	h.clock.advance(2 * time.Minute)
	require.NoError(t, h.node.ReapWork(context.Background()))
	task := h.must(h.lead, "task_status", map[string]any{"task_id": made["task_id"]})["task"].(map[string]any)
	require.Equal(t, "abandoned", task["state"])
	made = h.must(h.lead, "task_submit", map[string]any{"request": "y"})
	item := h.must(h.lead, "task_status", map[string]any{})["items"].([]any)[0].(map[string]any)["work_id"]
	h.must(h.lead, "task_cancel", map[string]any{"work_id": item})
	require.Equal(t, "abandoned", h.must(h.lead, "task_status",
		map[string]any{"task_id": made["task_id"]})["task"].(map[string]any)["state"],
		"in the transaction that cancelled its only seat")
}

// What does not go together is refused.
func TestSubmitRefusesWhatIsUnclear(t *testing.T) {
	h := newHouse(t)
	for _, args := range []map[string]any{
		{"request": "x", "items": []any{map[string]any{"intent": "y"}}}, {"intent": "x", "tools": []string{"bash"}},
		{"task_id": "x", "request": "y"},
		{"request": " "}, {"request": "x", "tools": []string{"a b"}}, {"request": "x", "replans": 99}, {"answers": "x"},
	} {
		_, err := h.call(h.lead, "task_submit", args)
		require.ErrorIs(t, err, schemas.ErrInvalid, "%v", args)
	}
	raw, err := json.Marshal(h.must(h.lead, "task_status", map[string]any{}))
	require.NoError(t, err)
	require.JSONEq(t, `{"items":[]}`, string(raw))
}

// A task that a defect keeps from going on is given up, and keeps nobody from theirs.
func TestPoisonedTaskIsGivenUp(t *testing.T) {
	h := newHouse(t)
	one := h.crew("one")[0]
	bad := h.must(h.lead, "task_submit", map[string]any{"request": "x"})
	good := h.must(h.lead, "task_submit", map[string]any{"request": "y"})
	item := func(of map[string]any) string {
		task := h.must(h.lead, "task_status", map[string]any{"task_id": of["task_id"]})["task"].(map[string]any)
		return task["seats"].([]any)[0].(map[string]any)["work_id"].(string)
	}
	end := `UPDATE work_items SET state = 'done', result = '{"intent": "x y"}' WHERE id = ?`
	h.sql(end, item(bad))
	h.sql(end, item(good))
	h.sql(`CREATE TRIGGER defect BEFORE UPDATE ON tasks WHEN old.id = '` + bad["task_id"].(string) +
		`' AND new.state = 'planning' BEGIN SELECT RAISE(ABORT, 'defect'); END`)
	w := h.must(one, "task_claim", map[string]any{"role": "R2"})["work"].(map[string]any)
	require.Equal(t, good["task_id"], w["task_id"])
	task := h.must(h.lead, "task_status", map[string]any{"task_id": bad["task_id"]})["task"].(map[string]any)
	require.Equal(t, "abandoned", task["state"])
	require.Contains(t, task["result"].(map[string]any)["reason"], "could not go on")
}

// Not even a task that cannot be given up is the trouble of who looks for work.
func TestClaimGoesOnBesideTrouble(t *testing.T) {
	h := newHouse(t)
	one := h.crew("one")[0]
	bad := h.must(h.lead, "task_submit", map[string]any{"request": "x"})
	h.sql(`UPDATE work_items SET state = 'failed' WHERE task_id = ?`, bad["task_id"])
	h.sql(`CREATE TRIGGER defect BEFORE UPDATE ON tasks BEGIN SELECT RAISE(ABORT, 'defect'); END`)
	h.node.ReapWork(t.Context()) //nolint:errcheck // or the node's routine met it before
	require.NoError(t, h.node.ReapWork(t.Context()), "it is left alone for a while")
	require.Equal(t, taskClaimIn{}.noWork().String(), h.must(one, "task_claim", map[string]any{})["next"])
}

// Who repeats a report with its key gets the item that came next again.
func TestRepeatedReportHasTheNextItem(t *testing.T) {
	h := newHouse(t)
	one := h.crew("one")[0]
	h.must(h.lead, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "first"},
		map[string]any{"intent": "second"}}})
	w := h.must(one, "task_claim", map[string]any{})["work"].(map[string]any)
	report := func() map[string]any {
		return h.must(one, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"],
			"outcome": "done", "idempotency_key": "k", "claim_next": true})
	}
	first := report()
	require.Equal(t, "second", first["work"].(map[string]any)["intent"])
	require.Equal(t, first, report())
}

// Tasks end with the swarm whose they are, and with who submitted them, however far
// they came, and nobody is left with a seat of one.
func TestTasksEndWithTheirSwarm(t *testing.T) {
	h := newHouse(t)
	h.swarm("broadcast", slotOf("hand", 2))
	one, two := h.caller("hand"), h.caller("hand-2")
	asks := h.must(h.lead, "task_submit", map[string]any{"request": "x", "group": "swarm-sheep"})
	h.sit(one, "R1", map[string]any{"intent": "", "questions": []string{"Which?"}})
	runs := h.must(h.lead, "task_submit", map[string]any{"request": "y", "intent": "y", "group": "swarm-sheep"})
	h.sit(one, "R2", map[string]any{"task_criteria": []any{"all is done"}, "subtasks": []any{
		map[string]any{"intent": "do a", "sequence": 1, "tools": []string{"bash"},
			"success_criteria": []any{"a is done"}},
		map[string]any{"intent": "do b", "sequence": 1, "tools": []string{"bash"},
			"success_criteria": []any{"b is done"}}}})
	w := h.must(two, "task_claim", map[string]any{"role": "R3"})["work"].(map[string]any)
	state := func(of map[string]any) any {
		return h.must(h.lead, "task_status", map[string]any{"task_id": of["task_id"]})["task"].(map[string]any)["state"]
	}
	h.must(h.lead, "swarm_disband", map[string]any{"swarm_id": "swarm-sheep"})
	require.NoError(t, h.node.ReapWork(t.Context()))
	require.Equal(t, "abandoned", state(runs))
	require.Zero(t, h.number(`SELECT count(*) FROM work_items WHERE seat = 1`))
	require.Zero(t, h.number(`SELECT count(*) FROM work_items WHERE state NOT IN ('done', 'failed', 'cancelled')`))
	_, err := h.call(two, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"],
		"outcome": "done"})
	require.Error(t, err)
	require.Equal(t, "clarifying", state(asks), "it waits for the user")
	h.must(h.lead, "task_submit", map[string]any{"task_id": asks["task_id"], "answers": "that one"})
	require.Equal(t, "abandoned", state(asks), "there is nobody left to ask")
}

// A task that cannot even be given up keeps no other from ending at its deadline.
func TestDeadlinesBesideTrouble(t *testing.T) {
	h := newHouse(t)
	made := []map[string]any{}
	for range 3 {
		made = append(made, h.must(h.lead, "task_submit", map[string]any{"request": "x", "within_seconds": 60}))
	}
	h.sql(`CREATE TRIGGER defect BEFORE UPDATE ON tasks WHEN old.id = '` + made[0]["task_id"].(string) +
		`' BEGIN SELECT RAISE(ABORT, 'defect'); END`)
	h.sql(`UPDATE work_items SET seat = 2`) // the deadline of the tasks alone ends them
	h.clock.advance(2 * time.Minute)
	h.node.ReapWork(t.Context()) //nolint:errcheck // or the node's routine met it before
	require.Equal(t, 2, h.number(`SELECT count(*) FROM tasks WHERE state = 'abandoned'`))
}

// A check that this node cannot make is refused with the plan that asks for it: nobody
// who executes it could pass.
func TestPlansAskForChecksThatCanBeMade(t *testing.T) {
	h := newHouse(t)
	one := h.crew("one")[0]
	h.must(h.lead, "task_submit", map[string]any{"request": "Write", "intent": "write the report",
		"tools": []string{"write"}})
	plan := map[string]any{"task_criteria": []any{"the report is whole"}, "subtasks": []any{
		map[string]any{"intent": "write it to report.txt", "sequence": 1, "tools": []string{"write"},
			"success_criteria": []any{
				map[string]any{"criterion": "it is there", "mode": "verifiable",
					"check": map[string]any{"kind": "file", "path": "report.txt"}}}}}}
	c := h.must(one, "task_claim", map[string]any{"role": "R2"})["work"].(map[string]any)
	require.Equal(t, []any{"date"}, c["brief"].(map[string]any)["inputs"].(map[string]any)["checks"])
	_, err := h.call(one, "task_report", map[string]any{"work_id": c["work_id"], "fence": c["fence"], "outcome": "done",
		"result": plan})
	var e *schemas.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "/subtasks/0/success_criteria/0/check", e.Violations[0].Path)
	require.Contains(t, e.Violations[0].Msg, "only of date; without one a validator judges")
}

// A result is any JSON value, and what went well has no reason to have failed.
func TestResultsAreAnyJSON(t *testing.T) {
	h := newHouse(t)
	crew := h.crew("one", "two")
	id := h.must(h.lead, "task_submit", map[string]any{"request": "Count", "intent": "count"})["task_id"]
	h.sit(crew[0], "R2", map[string]any{"task_criteria": []any{"it is a number"}, "subtasks": []any{
		map[string]any{"intent": "count them", "sequence": 1, "tools": []string{"bash"},
			"success_criteria": []any{"`wc -l` exits 0"}}}})
	w := h.must(crew[0], "task_claim", map[string]any{"role": "R3"})["work"].(map[string]any)
	h.must(crew[0], "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
		"result":   []any{7, "seven"},
		"evidence": []any{map[string]any{"tool": "bash", "input": "wc -l", "exit": 0, "head": "7"}}})
	h.sit(crew[1], "R4a", passing("`wc -l` exits 0"))
	h.sit(crew[1], "R4b", map[string]any{"output": 7, "verdicts": passing("it is a number")["verdicts"]})
	task := h.must(h.lead, "task_status", map[string]any{"task_id": id, "detail": true})["task"].(map[string]any)
	require.Equal(t, "accepted", task["state"])
	outcome := task["outcomes"].([]any)[0].(map[string]any)
	require.Equal(t, []any{7.0, "seven"}, outcome["output"])
	reason, present := outcome["failure_reason"]
	require.True(t, present)
	require.Nil(t, reason)
}
