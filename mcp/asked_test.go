package mcp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// firstAnswers names what a task asks first.
const firstAnswers = "answers-1"

// asked sends one request of a client that takes tasks and can ask its user.
func (c *crew) asked(who, method string, params obj) obj {
	c.t.Helper()
	params["_meta"] = meta(obj{"io.modelcontextprotocol/clientCapabilities": obj{"elicitation": obj{},
		"extensions": obj{tasksExtension: obj{}}}})
	return c.ask(who, method, params)
}

// A wait for a task asks the client's user what R1 asks, and goes on with the answer;
// a client that asks nobody gets the questions as what the wait ended with.
func TestAWaitForATaskAsksTheUser(t *testing.T) {
	c := newCrew(t)
	submit := func() (task, wait any) {
		made := c.asked("", "tools/call", obj{"name": "task_submit", "arguments": obj{"request": "write the report"}})
		task = dig(made, "result", "structuredContent", "task_id")
		created := c.asked("", "tools/call", obj{"name": "task_status",
			"arguments": obj{"task_id": task, "wait_seconds": 600}})
		wait = dig(created, "result", "taskId")
		require.NotNil(t, wait, "%v", created)
		return task, wait
	}
	perceive := func(result obj) {
		w := dig(c.ok(c.ask("w", "tools/call", obj{"name": "task_claim", "arguments": obj{"role": "R1"}})),
			"structuredContent", "work").(map[string]any)
		c.ok(c.ask("w", "tools/call", obj{"name": "task_report",
			"arguments": obj{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done", "result": result}}))
	}
	get := func(wait any) obj {
		return dig(c.asked("", "tasks/get", obj{"taskId": wait}), "result").(map[string]any)
	}
	state := func(task any) any {
		return dig(c.asked("", "tools/call", obj{"name": "task_status", "arguments": obj{"task_id": task}}), "result",
			"structuredContent", "task", "state")
	}
	questions := obj{"intent": "", "questions": []any{"Which \u202ereport?"}}

	task, wait := submit()
	require.Equal(t, "working", get(wait)["status"])
	perceive(questions)
	shown := get(wait)
	require.Equal(t, "input_required", shown["status"], "%v", shown)
	require.Equal(t, "elicitation/create", dig(shown, "inputRequests", firstAnswers, "method"))
	require.Contains(t, dig(shown, "inputRequests", firstAnswers, "params", "message"), `Which \u{202e}report?`)
	for _, none := range []obj{{}, {"else": obj{"action": "accept"}}, {firstAnswers: obj{"action": "cancel"}}} {
		require.NotNil(t, c.asked("", "tasks/update", obj{"taskId": wait, "inputResponses": none})["result"])
		require.Equal(t, "input_required", get(wait)["status"])
	}
	require.NotNil(t, c.asked("w", "tasks/update", obj{"taskId": wait,
		"inputResponses": obj{firstAnswers: obj{"action": "decline"}}})["error"], "not its own")
	answer := obj{"taskId": wait, "inputResponses": obj{firstAnswers: obj{"action": "accept",
		"content": obj{answersKey: "the yearly one"}}}}
	require.NotNil(t, c.asked("", "tasks/update", answer)["result"])
	require.Equal(t, "perceiving", state(task))
	require.Equal(t, "working", get(wait)["status"])
	require.NotNil(t, c.asked("", "tasks/update", answer)["result"], "nothing is asked any more")

	_, wait = submit()
	perceive(obj{"intent": "write the report"}) // of the first
	perceive(questions)
	require.NotNil(t, c.asked("", "tasks/update", obj{"taskId": wait,
		"inputResponses": obj{firstAnswers: obj{"action": "decline"}}})["result"])
	require.Equal(t, "working", get(wait)["status"], "declined: it goes on as it is")

	_, wait = submit()
	perceive(obj{"intent": "write the report"})
	perceive(questions)
	plain := dig(c.ask("", "tasks/get", obj{"taskId": wait}), "result").(map[string]any)
	require.Equal(t, "completed", plain["status"], "%v", plain)
	require.Equal(t, []any{"Which \\u{202e}report?"}, dig(plain, "result", "structuredContent", "task", "questions"))
}

// An answer is one to the questions it was given to: sent again, it is none to those
// that R1 asks next, which have a name of their own.
func TestAnAnswerSentAgainAnswersNothingElse(t *testing.T) {
	c := newCrew(t)
	task := dig(c.asked("", "tools/call", obj{"name": "task_submit", "arguments": obj{"request": "write the report"}}),
		"result", "structuredContent", "task_id")
	wait := dig(c.asked("", "tools/call", obj{"name": "task_status",
		"arguments": obj{"task_id": task, "wait_seconds": 600}}), "result", "taskId")
	asks := func(question string) (key string) {
		w := dig(c.ok(c.ask("w", "tools/call", obj{"name": "task_claim", "arguments": obj{"role": "R1"}})),
			"structuredContent", "work").(map[string]any)
		c.ok(c.ask("w", "tools/call", obj{"name": "task_report",
			"arguments": obj{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
				"result": obj{"intent": "", "questions": []any{question}}}}))
		for key = range dig(c.asked("", "tasks/get", obj{"taskId": wait}), "result", "inputRequests").(map[string]any) {
		}
		return key
	}
	state := func() any {
		return dig(c.asked("", "tools/call", obj{"name": "task_status", "arguments": obj{"task_id": task}}), "result",
			"structuredContent", "task", "state")
	}
	first := asks("Which report?")
	answer := obj{"taskId": wait, "inputResponses": obj{first: obj{"action": "accept",
		"content": obj{answersKey: "the yearly one"}}}}
	require.NotNil(t, c.asked("", "tasks/update", answer)["result"])
	require.Equal(t, "perceiving", state())
	second := asks("May it be deleted?")
	require.NotEqual(t, first, second)
	require.NotNil(t, c.asked("", "tasks/update", answer)["result"])
	require.Equal(t, "clarifying", state())
	require.NotNil(t, c.asked("", "tasks/update", obj{"taskId": wait,
		"inputResponses": obj{second: obj{"action": "decline"}}})["result"])
	require.Equal(t, "perceiving", state())
}

// Who may see a task but not answer for it is not asked, and hears that it waits.
func TestOnlyWhoRunsATaskIsAsked(t *testing.T) {
	c := newCrew(t)
	c.ok(c.ask("", "tools/call", obj{"name": "memory_group", "arguments": obj{"action": "create", "group": "team"}}))
	c.ok(c.ask("", "tools/call", obj{"name": "agent_capabilities",
		"arguments": obj{"agent": "w", "groups": []any{"team"}, "capabilities": obj{
			"memory_read": obj{"groups": []any{"team"}}, "memory_write": obj{"groups": []any{"team"}},
			"tools": []any{"task_claim", "task_report", "task_status", "task_submit"}}}}))
	c.ok(c.ask("", "tools/call", obj{"name": "memory_group",
		"arguments": obj{"action": "add", "group": "team", "entity": "w"}}))
	task := dig(c.asked("", "tools/call", obj{"name": "task_submit",
		"arguments": obj{"request": "write the report", "group": "team"}}), "result", "structuredContent", "task_id")
	wait := dig(c.asked("w", "tools/call", obj{"name": "task_status",
		"arguments": obj{"task_id": task, "wait_seconds": 600}}), "result", "taskId")
	require.NotNil(t, wait)
	w := dig(c.ok(c.ask("w", "tools/call", obj{"name": "task_claim", "arguments": obj{"role": "R1"}})),
		"structuredContent", "work").(map[string]any)
	c.ok(c.ask("w", "tools/call", obj{"name": "task_report",
		"arguments": obj{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
			"result": obj{"intent": "", "questions": []any{"What is your password?"}}}}))
	got := dig(c.asked("w", "tasks/get", obj{"taskId": wait}), "result").(map[string]any)
	require.Equal(t, "completed", got["status"], "%v", got)
	require.Equal(t, "clarifying", dig(got, "result", "structuredContent", "task", "state"))
}
