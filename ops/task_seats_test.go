package ops

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// Who cannot give an answer that holds loses the seat to others; the task ends only
// when nobody is left to try, or enough have.
func TestBadAnswersCostTheSeat(t *testing.T) {
	bad := func(n int) map[string]any { return map[string]any{"subtasks": "none", "n": n} }
	fail := func(h *house, c Caller, left, state string) {
		w := h.take(c, "R2")
		h.refused(c, w, bad(1), "2 more answers")
		h.refused(c, w, bad(2), "1 more answer is taken")
		for _, says := range []string{left, "no more of yours are"} { // and the same report again
			_, err := h.call(c, "task_report", reportOf(w, bad(3)))
			require.ErrorIs(h.t, err, schemas.ErrInvalid)
			require.ErrorContains(h.t, err, says)
			require.ErrorContains(h.t, err, "take other work with task_claim")
		}
		require.Equal(h.t, 1, h.number(`SELECT count(*) FROM work_items WHERE id = ? AND state = ?`, w["work_id"], state))
	}
	state := func(h *house, of map[string]any) any {
		return h.must(h.lead, "task_status", map[string]any{"task_id": of["task_id"]})["task"].(map[string]any)["state"]
	}
	t.Run("another takes it", func(t *testing.T) {
		h := newHouse(t)
		crew := h.crew("one", "two")
		made := h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count them"})
		fail(h, crew[0], "another agent has to take it", "ready")
		require.Equal(t, "planning", state(h, made))
		h.none("R2", crew[0])
		w := h.take(crew[1], "R2")
		require.Contains(t, h.textOf(crew[1], "task_claim", map[string]any{}), "not what was asked for",
			"why, from the one before")
		h.refused(crew[1], w, bad(1), "2 more answers") // the other's word, but this one's first
		h.done(crew[1], w, planOf(part("look", 1, nil)))
		require.Equal(t, "running", state(h, made))
	})
	t.Run("nobody is left", func(t *testing.T) {
		h := newHouse(t)
		crew := h.crew("one")
		made := h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count them"})
		fail(h, crew[0], "the item failed; the task is abandoned", "failed")
		require.Equal(t, "abandoned", state(h, made))
	})
	t.Run("enough have tried", func(t *testing.T) {
		h := newHouse(t)
		crew := h.crew("one", "two", "three", "four")
		made := h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count them"})
		fail(h, crew[0], "offered to others", "ready")
		fail(h, crew[1], "offered to others", "ready")
		fail(h, crew[2], "the last answer that is taken", "failed")
		require.Equal(t, "abandoned", state(h, made))
	})
}

// A refused answer that is sent over and over is a loop, and counts.
func TestTheSameBadAnswerCountsInTheEnd(t *testing.T) {
	h := newHouse(t)
	one := h.crew("one", "two")[0]
	h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "x"})
	w := h.take(one, "R2")
	bad := map[string]any{"subtasks": "none"}
	for _, left := range []string{"2 more answers", "2 more answers", "2 more answers", "1 more answer is"} {
		h.refused(one, w, bad, left)
	}
	_, err := h.call(one, "task_report", reportOf(w, bad))
	require.ErrorIs(t, err, schemas.ErrSpent)
	require.Equal(t, 3, h.number(`SELECT count(*) FROM task_messages WHERE record = 'Refused'`))
}

// A seat that waits for a member that has ended waits for somebody else at once.
func TestSeatsOfEndedMembersAreOfferedAgain(t *testing.T) {
	h := newHouse(t)
	h.swarm("hierarchical", slotOf("boss", 1), slotOf("hand", 2))
	boss, one := h.caller("boss"), h.caller("hand")
	h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count the sheep", "group": "swarm-sheep"})
	h.done(boss, h.take(boss, "R2"), planOf(part("look north", 1, map[string]any{"assigned_to": "hand"}),
		part("look south", 1, map[string]any{"assigned_to": "hand-2"})))
	held := h.take(one, "R3")
	h.none("R3", boss)
	h.must(h.lead, "agent_deactivate", map[string]any{"agent": "hand"})
	w := h.take(boss, "R3")
	require.Equal(t, held["work_id"], w["work_id"])
	require.Contains(t, w["intent"], "look north")
	h.done(boss, w, map[string]any{"text": "seven"})
	h.must(h.lead, "task_submit", map[string]any{"request": "y", "intent": "shear them", "group": "swarm-sheep"})
	h.none("R2", h.lead)
	h.must(h.lead, "agent_deactivate", map[string]any{"agent": "boss"})
	require.Contains(t, wordsOf(h.take(h.lead, "R2")), "shear them", "its maker coordinates it now")
}

// A task of who is suspended says so.
func TestATaskOfASuspendedSubmitterSaysSo(t *testing.T) {
	h := newHouse(t)
	scout := h.crew("scout", "below")[0]
	id := h.must(scout, "task_submit", map[string]any{"request": "x"})["task_id"]
	shown := func() map[string]any {
		return h.must(h.lead, "task_status", map[string]any{"task_id": id})["task"].(map[string]any)
	}
	require.Nil(t, shown()["suspended"])
	h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "scout", "action": "suspend"})
	require.Equal(t, true, shown()["suspended"])
	require.Contains(t, shown()["next"], "resume")
	require.Contains(t, h.textOf(h.lead, "task_status", map[string]any{"task_id": id}), "(suspended)")
	lifts := `agent_lifecycle {"agent": "scout", "action": "resume"}`
	require.Contains(t, shown()["next"], lifts)
	h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "scout", "action": "resume"})
	require.Nil(t, shown()["suspended"])

	// An agent not above the suspended one gets no call that it may not make.
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "hall"})
	h.must(h.person(), "agent_register", map[string]any{"agent_type": "claude-code", "display_name": "other",
		"name": "other", "groups": []string{"hall"}})
	other := h.caller("other")
	h.must(h.person(), "agent_capabilities", map[string]any{"agent": "other",
		"tools": []string{"+task_status"}})
	id = h.must(h.lead, "task_submit", map[string]any{"request": "x", "group": "hall"})["task_id"]
	h.must(h.person(), "agent_lifecycle", map[string]any{"agent": "claude-code", "action": "suspend"})
	said := h.textOf(other, "task_status", map[string]any{"task_id": id})
	require.Contains(t, said, "so nothing new begins until the user ends that")
	require.NotContains(t, said, "agent_lifecycle")
}

// What is reported for a suspended submitter counts, and its task goes on once it is resumed.
func TestATaskGoesOnWhenItsSubmitterIsResumed_INV_SETTLED(t *testing.T) {
	h := newHouse(t)
	h.swarm("broadcast", slotOf("hand", 2))
	h.must(h.lead, "agent_capabilities", map[string]any{"agent": "hand", "tools": []string{"+task_submit"}})
	one, two := h.caller("hand"), h.caller("hand-2")
	id := h.must(one, "task_submit", map[string]any{"request": "count the sheep",
		"group": "swarm-sheep"})["task_id"]
	w := h.take(two, "R1")
	h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "hand", "action": "suspend"})
	out := h.must(two, "task_report", reportOf(w, map[string]any{"intent": "count the sheep"}))
	require.Contains(t, out["led_to"], "its submitter is suspended")
	require.NoError(t, h.node.ReapWork(t.Context()))
	h.none("R2", two)
	h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "hand", "action": "resume"})
	require.Equal(t, id, h.take(two, "R2")["task_id"])
}

// A stage of a task gets copies of the items that the outputs before it name, as a
// stage of plain work does, and of no other stage's.
func TestOutputsHandTheirItemsOn_INV_STAGE(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "swarm_create", map[string]any{"goal": "Count the sheep", "swarm_id": "swarm-sheep",
		"strategy": "pipeline", "coordinator_slot": "boss",
		"agents": []any{slotOf("boss", 1), slotOf("look", 1), slotOf("count", 1), slotOf("tell", 1)}})
	boss := h.caller("boss")
	h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count the sheep", "group": "swarm-sheep"})
	h.done(boss, h.take(boss, "R2"), planOf(part("look north", 1, map[string]any{"role": "look"}),
		part("count them", 2, map[string]any{"role": "count"}),
		part("tell it", 3, map[string]any{"role": "tell"})))
	step := func(slot, intent string) (context []any) {
		c := h.caller(slot)
		item := h.must(c, "memory_write_warm", with(note("Found by "+slot),
			map[string]any{"group": "swarm-sheep." + slot}))["id"]
		h.clock.advance(time.Second)
		w := h.take(c, "R3")
		context, _ = w["brief"].(map[string]any)["context"].([]any)
		again, _ := h.take(c, "R3")["brief"].(map[string]any)["context"].([]any)
		require.Equal(t, context, again)
		h.done(c, w, map[string]any{"items": []any{item}})
		h.done(boss, h.take(boss, "R4a"), passing(intent+" is shown"))
		return context
	}
	require.Empty(t, step("look", "look north"))
	for _, stage := range []struct{ slot, intent, before string }{{"count", "count them", "look"},
		{"tell", "tell it", "count"}} {
		got := step(stage.slot, stage.intent)
		require.Len(t, got, 1)
		text := wordsOf(h.must(h.caller(stage.slot), "memory_read_warm", map[string]any{"ids": got})["items"])
		require.Contains(t, text, "Found by "+stage.before)
	}
	_, err := h.call(h.caller("tell"), "memory_search", map[string]any{"query": "look", "group": "swarm-sheep.look"})
	require.ErrorIs(t, err, schemas.ErrNotFound)
}
