package ops

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// take claims a role's seat.
func (h *house) take(c Caller, role string) map[string]any {
	h.t.Helper()
	w, ok := h.must(c, "task_claim", map[string]any{"role": role})["work"].(map[string]any)
	require.True(h.t, ok, "there is no %s to claim", role)
	return w
}

// none requires that there is nothing of a role for these.
func (h *house) none(role string, list ...Caller) {
	h.t.Helper()
	for _, c := range list {
		require.Nil(h.t, h.must(c, "task_claim", map[string]any{"role": role})["work"], role)
	}
}

// done reports on a claimed seat.
func (h *house) done(c Caller, w, answer map[string]any) {
	h.t.Helper()
	h.must(c, "task_report", reportOf(w, answer))
}

func reportOf(w, answer map[string]any) map[string]any {
	return map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done", "result": answer,
		"evidence": []any{map[string]any{"tool": "bash", "input": "make", "exit": 0, "head": "fine"}}}
}

// refused requires that an answer is not taken, and why.
func (h *house) refused(c Caller, w, answer map[string]any, why string) {
	h.t.Helper()
	_, err := h.call(c, "task_report", reportOf(w, answer))
	require.ErrorIs(h.t, err, schemas.ErrInvalid)
	require.ErrorContains(h.t, err, why)
	require.ErrorContains(h.t, err, "call task_report again")
}

// unseen requires that nothing of a task is shown to these, by its id or the items'.
func (h *house) unseen(task any, items []any, list ...Caller) {
	h.t.Helper()
	for _, c := range list {
		shown, err := h.call(c, "task_status", map[string]any{"task_id": task, "detail": true})
		if err != nil {
			require.ErrorIs(h.t, err, schemas.ErrNotFound)
		}
		require.Nil(h.t, shown["task"])
		for _, item := range items {
			require.NotContains(h.t, wordsOf(shown), item)
			_, err := h.call(c, "task_status", map[string]any{"work_id": item})
			require.ErrorIs(h.t, err, schemas.ErrNotFound)
		}
	}
}

func inputsOf(w map[string]any) map[string]any {
	return w["brief"].(map[string]any)["inputs"].(map[string]any)
}

func wordsOf(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// part is a planned subtask of one criterion.
func part(intent string, sequence int, more map[string]any) map[string]any {
	p := map[string]any{"intent": intent, "sequence": sequence, "tools": []string{"bash"},
		"success_criteria": []any{intent + " is shown"}}
	maps.Copy(p, more)
	return p
}

func planOf(parts ...any) map[string]any {
	return map[string]any{"task_criteria": []any{"all of it is there"}, "subtasks": parts}
}

func wholeOf(output string) map[string]any {
	m := passing("all of it is there")
	m["output"] = map[string]any{"text": output}
	return m
}

// The coordinator understands, plans, assigns, judges and merges; who works sees its
// own part alone.
func TestTaskInHierarchicalSwarm(t *testing.T) {
	h := newHouse(t)
	h.swarm("hierarchical", slotOf("boss", 1), slotOf("hand", 2), slotOf("eye", 1))
	boss, one, two, eye := h.caller("boss"), h.caller("hand"), h.caller("hand-2"), h.caller("eye")
	id := h.must(h.lead, "task_submit", map[string]any{"request": "count the sheep", "group": "swarm-sheep"})["task_id"]
	h.none("R1", one, two, eye, h.lead)
	w := h.take(boss, "R1")
	h.unseen(id, []any{w["work_id"]}, one, two, eye)
	h.done(boss, w, map[string]any{"intent": "count the sheep"})

	h.none("R2", one, two, eye, h.lead)
	w = h.take(boss, "R2")
	members := inputsOf(w)["members"].([]any)
	require.Equal(t, `[{"name":"boss","slot":"boss"},{"name":"hand","slot":"hand"},{"name":"hand-2","slot":"hand"},{"name":"eye","slot":"eye"}]`, wordsOf(members))
	h.refused(boss, w, planOf(part("look north", 1, nil)), "must name who does it: one of boss, hand, hand-2, eye")
	h.refused(boss, w, planOf(part("look north", 1, map[string]any{"assigned_to": "hand-3", "role": "hand"})),
		"there are no stages here")
	h.done(boss, w, planOf(part("look north", 1, map[string]any{"assigned_to": "hand"}),
		part("look south", 1, map[string]any{"assigned_to": "hand-2"}),
		part("add up", 2, map[string]any{"assigned_to": "eye"})))

	h.none("R3", eye, boss, h.lead)
	north, south := h.take(one, "R3"), h.take(two, "R3")
	require.Contains(t, north["intent"], "look north")
	require.Contains(t, south["intent"], "look south")
	h.unseen(id, []any{north["work_id"]}, two, eye)
	h.unseen(id, []any{south["work_id"]}, one, eye)
	h.done(one, north, map[string]any{"text": "seven in the north"})
	h.unseen(id, []any{north["work_id"]}, two, eye)
	h.none("R4a", one, eye, h.lead)
	judge := h.take(boss, "R4a")
	require.Contains(t, wordsOf(judge), "seven in the north")
	h.unseen(id, []any{judge["work_id"]}, one, two, eye)
	h.done(boss, judge, passing("look north is shown"))
	h.done(two, south, map[string]any{"text": "five in the south"})
	h.done(boss, h.take(boss, "R4a"), passing("look south is shown"))

	sum := h.take(eye, "R3")
	require.Contains(t, wordsOf(inputsOf(sum)["before"]), "seven in the north")
	require.Contains(t, wordsOf(inputsOf(sum)["before"]), "five in the south")
	h.done(eye, sum, map[string]any{"text": "twelve"})
	h.done(boss, h.take(boss, "R4a"), passing("add up is shown"))
	h.none("R4b", one, two, eye)
	merge := h.take(boss, "R4b")
	h.unseen(id, []any{merge["work_id"], sum["work_id"]}, one, two)
	h.done(boss, merge, wholeOf("twelve sheep"))
	require.Equal(t, "accepted", h.must(h.lead, "task_status",
		map[string]any{"task_id": id})["task"].(map[string]any)["state"])
	require.Equal(t, "accepted", h.must(boss, "task_status",
		map[string]any{"task_id": id})["task"].(map[string]any)["state"])
	h.unseen(id, []any{merge["work_id"]}, one, two, eye)
	require.Zero(t, h.number(`SELECT count(*) FROM items WHERE group_id LIKE 'swarm-sheep%'`))
}

// A coordinator that stands above who executed may not judge, and one that executed may
// not either, nor merge: somebody else of the swarm does, and sees what it judges.
func TestCoordinatorAboveWorkersDoesNotJudge(t *testing.T) {
	h := newHouse(t)
	args := map[string]any{"goal": "Count the sheep", "swarm_id": "swarm-sheep", "strategy": "hierarchical",
		"coordinator_agent_id": string(h.lead.Entity), "agents": []any{slotOf("hand", 2)}}
	h.must(h.lead, "swarm_create", args)
	one, two := h.caller("hand"), h.caller("hand-2")
	id := h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count them",
		"group": "swarm-sheep"})["task_id"]
	h.done(h.lead, h.take(h.lead, "R2"), planOf(part("look north", 1, map[string]any{"assigned_to": "hand"})))
	w := h.take(one, "R3")
	h.done(one, w, map[string]any{"text": "seven"})
	h.none("R4a", h.lead, one)
	seat := h.must(h.lead, "task_status",
		map[string]any{"task_id": id})["task"].(map[string]any)["seats"].([]any)[0].(map[string]any)
	require.Contains(t, seat["waits"], "an agent to take it")
	h.unseen(id, []any{seat["work_id"], w["work_id"]}, two)
	judge := h.take(two, "R4a")
	require.Equal(t, seat["work_id"], judge["work_id"])
	h.unseen(id, []any{judge["work_id"]}, one)
	h.done(two, judge, passing("look north is shown"))
	h.none("R4b", h.lead, one) // nor merge
	h.done(two, h.take(two, "R4b"), wholeOf("seven"))
}

// Stages do their parts in their order, each with what came out of the one before.
func TestTaskInPipelineSwarm(t *testing.T) {
	h := newHouse(t)
	args := map[string]any{"goal": "Count the sheep", "swarm_id": "swarm-sheep", "strategy": "pipeline",
		"coordinator_slot": "boss",
		"agents":           []any{slotOf("boss", 1), slotOf("look", 2), slotOf("count", 1), slotOf("tell", 1)}}
	h.must(h.lead, "swarm_create", args)
	boss, look, other, count, tell := h.caller("boss"), h.caller("look"), h.caller("look-2"), h.caller(
		"count"), h.caller("tell")
	id := h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count the sheep",
		"group": "swarm-sheep"})["task_id"]
	h.none("R2", look, count, tell)
	w := h.take(boss, "R2")
	require.Equal(t, []any{"look", "count", "tell"}, inputsOf(w)["stages"])
	h.refused(boss, w, planOf(part("look north", 1, nil)), "must name the stage that does it: one of look, count, tell")
	h.refused(boss, w, planOf(part("count them", 1, map[string]any{"role": "count"}),
		part("look north", 1, map[string]any{"role": "look"})),
		"/subtasks/0/sequence: must be higher")
	h.done(boss, w, planOf(part("look north", 1, map[string]any{"role": "look"}),
		part("count them", 2, map[string]any{"role": "count"}),
		part("tell it", 3, map[string]any{"role": "tell"})))

	step := func(c Caller, text string, judge Caller, criterion string) map[string]any {
		w := h.take(c, "R3")
		h.done(c, w, map[string]any{"text": text})
		h.none("R4a", c)
		h.done(judge, h.take(judge, "R4a"), passing(criterion))
		return w
	}
	h.none("R3", count, tell)
	first := step(look, "white dots", other, "look north is shown")
	require.NotEmpty(t, h.must(other, "task_status", map[string]any{"work_id": first["work_id"]}),
		"it is of the same stage")
	h.unseen(id, []any{first["work_id"]}, count, tell)
	h.none("R3", look, other, tell)
	second := step(count, "there are seven", boss, "count them is shown")
	require.Contains(t, wordsOf(inputsOf(second)["before"]), "white dots")
	h.unseen(id, []any{second["work_id"]}, look, other, tell)
	third := step(tell, "told", boss, "tell it is shown")
	require.Contains(t, wordsOf(inputsOf(third)["before"]), "there are seven")
	require.NotContains(t, wordsOf(third), "white dots", "that is of the stage before the one before")
	h.done(boss, h.take(boss, "R4b"), wholeOf("seven"))
	require.Equal(t, "accepted", h.must(boss, "task_status",
		map[string]any{"task_id": id})["task"].(map[string]any)["state"])
	h.unseen(id, nil, look, other, count, tell)
}

// Elsewhere work is anyone's: what names a stage, or nobody who could do it, is refused.
func TestPlacesInPlansElsewhere(t *testing.T) {
	h := newHouse(t)
	h.swarm("broadcast", slotOf("hand", 2))
	one, two := h.caller("hand"), h.caller("hand-2")
	h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count them", "group": "swarm-sheep"})
	w := h.take(one, "R2")
	h.refused(one, w, planOf(part("look", 1, map[string]any{"role": "hand"})), "there are no stages here")
	h.refused(one, w, planOf(part("look", 1, map[string]any{"assigned_to": "hand-3"})), "did you mean hand")
	h.done(one, w, planOf(part("look", 1, map[string]any{"assigned_to": "hand-2"})))
	h.none("R3", one)
	h.take(two, "R3")

	crew := h.crew("alone")[0]
	h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count them"})
	h.refused(crew, h.take(crew, "R2"), planOf(part("look", 1, map[string]any{"assigned_to": "alone"})),
		"any free agent takes it")
}

// With its swarm a task ends that only waits for seats nobody else sees.
func TestHiddenSeatsEndWithTheirSwarm(t *testing.T) {
	h := newHouse(t)
	h.swarm("hierarchical", slotOf("boss", 1), slotOf("hand", 1))
	id := h.must(h.lead, "task_submit", map[string]any{"request": "x", "group": "swarm-sheep"})["task_id"]
	h.must(h.lead, "swarm_disband", map[string]any{"swarm_id": "swarm-sheep"})
	require.NoError(t, h.node.ReapWork(t.Context()))
	require.Equal(t, "abandoned", h.must(h.lead, "task_status",
		map[string]any{"task_id": id})["task"].(map[string]any)["state"])
	require.Zero(t, h.number(`SELECT count(*) FROM work_items WHERE state NOT IN ('done', 'failed', 'cancelled')`))
}

// Who leaves the swarm keeps no seat that rested on looking on there.
func TestJudgeOutsideTheSwarmLosesItsSeat(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "swarm_create", map[string]any{"goal": "Count the sheep", "swarm_id": "swarm-sheep",
		"strategy":             "hierarchical",
		"coordinator_agent_id": string(h.lead.Entity), "agents": []any{slotOf("hand", 2)}})
	one, two := h.caller("hand"), h.caller("hand-2")
	h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count them", "group": "swarm-sheep"})
	h.done(h.lead, h.take(h.lead, "R2"), planOf(part("look north", 1, map[string]any{"assigned_to": "hand"})))
	h.done(one, h.take(one, "R3"), map[string]any{"text": "seven"})
	judge := h.take(two, "R4a")
	h.must(h.lead, "memory_group", map[string]any{"action": "remove", "group": "swarm-sheep", "entity": "hand-2"})
	_, err := h.call(two, "task_report", reportOf(judge, passing("look north is shown")))
	require.Error(t, err)
	require.Zero(t, h.number(`SELECT count(*) FROM work_items WHERE state = 'leased'`))
	h.none("R4a", one, two)
}

// Where nobody coordinates, who made the swarm does; and where who was to do a part has
// gone, the coordinator does it.
func TestSeatsOfWhoIsNotThere(t *testing.T) {
	h := newHouse(t)
	h.swarm("pipeline", slotOf("look", 1), slotOf("tell", 1))
	look, tell := h.caller("look"), h.caller("tell")
	h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count them", "group": "swarm-sheep"})
	h.none("R2", look, tell)
	h.done(h.lead, h.take(h.lead, "R2"), planOf(part("look north", 1, map[string]any{"role": "look"}),
		part("tell it", 2, map[string]any{"role": "tell"})))
	h.done(look, h.take(look, "R3"), map[string]any{"text": "seven"})
	h.must(h.lead, "agent_deactivate", map[string]any{"agent": "tell"})
	h.none("R4a", look, h.lead)
	h.must(h.lead, "swarm_create", map[string]any{"add_to": "swarm-sheep", "agents": []any{slotOf("look", 1)}})
	again := h.caller("look-2")
	h.done(again, h.take(again, "R4a"), passing("look north is shown"))
	h.none("R3", look, again)
	require.Contains(t, h.take(h.lead, "R3")["intent"], "tell it")
}
