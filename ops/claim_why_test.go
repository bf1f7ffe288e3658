package ops

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
	"cordelia/work"
)

// A claim that names work and finds none says why, and whether waiting helps.
func TestAClaimSaysWhyItFindsNothing(t *testing.T) {
	h := newHouse(t)
	crew := h.crew("one", "two", "three")
	h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count them"})
	h.sit(crew[0], "R2", planOf(part("look", 1, nil)))
	out := h.must(crew[1], "task_claim", map[string]any{"role": "R3"})["work"].(map[string]any)
	why := func(c Caller, args map[string]any) string {
		t.Helper()
		text := h.textOf(c, "task_claim", args)
		require.NotContains(t, text, "yours until")
		return text
	}
	id := map[string]any{"work_id": out["work_id"]}
	require.Contains(t, why(h.lead, id), "held by two, for ")
	require.Contains(t, why(h.lead, id), "to wait for it")
	h.must(crew[1], "task_report", map[string]any{"work_id": out["work_id"], "fence": out["fence"], "outcome": "done",
		"result": 1, "evidence": []any{map[string]any{"tool": "bash", "input": "ls", "exit": 0}}})
	require.Contains(t, why(h.lead, id), "you cannot take what you named: it is done; task_claim without "+
		"arguments takes other work")

	var judging map[string]any
	for _, item := range h.must(h.lead, "task_status", map[string]any{})["items"].([]any) {
		if i := item.(map[string]any); i["role"] == "R4a" {
			judging = map[string]any{"work_id": i["work_id"]}
		}
	}
	require.Contains(t, why(h.lead, judging), "another agent takes it", "it stands above who did it")
	require.NotContains(t, why(h.lead, judging), "to wait for it")

	_, err := h.call(h.lead, "task_claim", map[string]any{"swarm": "nope"})
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.ErrorContains(t, err, `there is no swarm "nope" here`)
}

// An item whose deadline is over is not just ready, or just failed.
func TestAnOverdueItemSaysSo(t *testing.T) {
	open := TaskStatusOut{Items: []work.Status{{State: schemas.WorkReady, Overdue: true,
		Deadline: "2027-03-01T09:00:00.5Z"}}}
	require.Contains(t, open.Text(), "ready, overdue, deadline 2027-03-01 09:00:00Z")

	h := newHouse(t)
	made := h.must(h.lead, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "soon",
		"within_seconds": 60}}})["items"].([]any)[0].(map[string]any)
	id := map[string]any{"work_id": made["work_id"]}
	require.Contains(t, h.textOf(h.lead, "task_status", id), "deadline ")
	require.Contains(t, h.textOf(h.lead, "task_claim", id), ", its deadline is 20")
	h.clock.advance(61 * time.Second)
	require.Contains(t, h.textOf(h.lead, "task_claim", id), "it failed: its deadline was over")
}

// A person reads reports that did not count; what the record says of them is what happened.
func TestLateReportsAreShownToThePerson(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "task_submit", map[string]any{"intent": "soon"})
	w := h.must(h.lead, "task_claim", map[string]any{})["work"].(map[string]any)
	id := map[string]any{"work_id": w["work_id"], "detail": true}
	report := map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done", "result": 1}
	h.must(h.lead, "task_report", report)
	_, err := h.call(h.lead, "task_report", with(report, map[string]any{"outcome": "failed", "result": 2,
		"note": "the tide was in"}))
	require.ErrorIs(t, err, schemas.ErrConflict)
	require.NotContains(t, h.textOf(h.lead, "task_status", id), "late report")
	require.Regexp(t, `late report by claude-code with fence 1, .*: failed; the tide was in; 2$`,
		h.textOf(h.person(), "task_status", id))
	r, err := h.node.AuditReport(t.Context(), h.person().Principal, schemas.AuditQuery{})
	require.NoError(t, err)
	require.Len(t, r.Findings, 1)
	require.Contains(t, r.Findings[0].Finding, "reported otherwise on a lease that was reported done before")
}

// Only readers of a group learn that its work is not for them.
func TestAViewerLearnsThatItTakesNoWork(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "readers"})
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "eye", "name": "eye",
		"groups": []string{"readers"}})
	h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "readers", "entity": "eye",
		"role": "viewer"})
	require.Contains(t, h.textOf(h.caller("eye"), "task_claim", map[string]any{"group": "readers"}),
		"you may only read in readers")
}

// An agent with a cell that claims work of the swarm's own group learns the argument by which work comes.
func TestAClaimOfASwarmsGroupNamesTheSwarm(t *testing.T) {
	for strategy, item := range map[string]map[string]any{"pipeline": {"intent": "Count", "role": "first"},
		"hierarchical": {"intent": "Count", "assigned_to": "second"}} {
		h := newHouse(t)
		h.swarm(strategy, slotOf("first", 1), slotOf("second", 1))
		agent := map[string]string{"pipeline": "first", "hierarchical": "second"}[strategy]
		h.must(h.lead, "task_submit", map[string]any{"group": "swarm-sheep", "items": []any{item}})
		out, err := taskClaim.Call(t.Context(), h.node, h.caller(agent), []byte(`{"group": "swarm-sheep"}`))
		require.NoError(t, err)
		claim := out.(TaskClaimOut)
		require.Nil(t, claim.Work)
		_, args := offered(t, &schemas.Error{Hint: claim.Next})
		out, err = taskClaim.Call(t.Context(), h.node, h.caller(agent), []byte(args))
		require.NoError(t, err)
		require.NotNil(t, out.(TaskClaimOut).Work, "%s: %s", strategy, args)
	}
}

// What waits for something that will not be done says so, and what ends it.
func TestWhatIsDoomedSaysWhatToDo(t *testing.T) {
	h := newHouse(t)
	made := h.must(h.lead, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "one"},
		map[string]any{"intent": "two", "depends_on": []int{0}}}})["items"].([]any)
	h.must(h.lead, "task_cancel", map[string]any{"work_id": made[0].(map[string]any)["work_id"]})
	second := made[1].(map[string]any)["work_id"].(string)
	text := h.textOf(h.lead, "task_status", map[string]any{"work_id": second})
	require.Contains(t, text, "what it waited for will not be done")
	require.Contains(t, text, `task_cancel {"work_id": "`+short(second)+`"} ends it`)
	require.NotContains(t, text, "doomed")
}

// What goes on without an item that failed learns so. The failed one is tried again by nobody.
func TestWhatGoesOnWithoutAFailedItemLearnsWhy(t *testing.T) {
	h := newHouse(t)
	made := h.must(h.lead, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "one"},
		map[string]any{"intent": "two", "depends_on": []int{0}}}})["items"].([]any)
	first, second := made[0].(map[string]any)["work_id"], made[1].(map[string]any)["work_id"]
	w := h.must(h.lead, "task_claim", map[string]any{})["work"].(map[string]any)
	h.must(h.lead, "task_report", map[string]any{"work_id": first, "fence": w["fence"], "outcome": "failed",
		"note": "the tide was in"})
	for _, c := range []Caller{h.lead, h.person()} {
		_, err := h.call(c, "task_submit", map[string]any{"retry": first})
		require.ErrorIs(t, err, schemas.ErrConflict)
		require.ErrorContains(t, err, "this work is failed, and that is final")
	}
	require.Contains(t, h.textOf(h.lead, "task_status", map[string]any{"work_id": second}), "goes on without that")
	h.must(h.person(), "task_submit", map[string]any{"retry": second})
	require.Contains(t, h.textOf(h.lead, "task_claim", map[string]any{}),
		"result of "+short(first.(string))+", which is failed (the tide was in): none")
	w = h.must(h.lead, "task_claim", map[string]any{})["work"].(map[string]any)
	before := w["results_before"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"failed", "the tide was in"}, []any{before["state"], before["note"]})
}

// A swarm for the goal of one that runs is made, and says so.
func TestASwarmNamesItsTwin(t *testing.T) {
	h := newHouse(t)
	made := func() map[string]any {
		return h.must(h.lead, "swarm_create", map[string]any{"goal": "Count the sheep", "strategy": "broadcast",
			"agents": []any{slotOf("hand", 1)}})
	}
	first := made()
	require.Nil(t, first["notes"])
	second := made()
	require.NotEqual(t, first["swarm_id"], second["swarm_id"])
	require.Contains(t, second["notes"].([]any)[0], first["swarm_id"].(string)+" of yours runs already for this goal")
	for _, one := range []map[string]any{first, second} {
		h.must(h.lead, "swarm_disband", map[string]any{"swarm_id": one["swarm_id"]})
	}
	require.Nil(t, made()["notes"], "those have ended")
}

// Of a seat that somebody has, a status does not say that an agent takes it.
func TestATakenSeatIsNotOffered(t *testing.T) {
	h := newHouse(t)
	crew := h.crew("one", "two")
	made := h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count them"})
	status := func() string {
		return h.textOf(h.lead, "task_status", map[string]any{"task_id": made["task_id"]})
	}
	require.Contains(t, status(), "an agent takes role R2")
	h.take(crew[0], "R2")
	require.NotContains(t, status(), "an agent takes role R2", "one has it")
}

// A claim of an executor shows that its report takes evidence; one of another role does not.
func TestAClaimOfAnExecutorShowsItsEvidence(t *testing.T) {
	h := newHouse(t)
	crew := h.crew("one", "two")
	h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count them"})
	require.NotContains(t, h.textOf(crew[0], "task_claim", map[string]any{}), `"evidence": […]}`)
	h.sit(crew[0], "R2", planOf(part("look", 1, nil)))
	require.Contains(t, h.textOf(crew[1], "task_claim", map[string]any{}), `"evidence": […]}`)
}
