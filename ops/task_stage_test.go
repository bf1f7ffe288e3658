package ops

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// reports ends a claimed item with a result.
func (h *house) reports(c Caller, w any, outcome string, result map[string]any) {
	h.t.Helper()
	claimed := w.(map[string]any)
	args := map[string]any{"work_id": claimed["work_id"], "fence": claimed["fence"], "outcome": outcome}
	if result != nil {
		args["result"] = result
	}
	h.must(c, "task_report", args)
}

// Work for a later stage that is submitted after that of the stage before takes over what
// that got accepted, waits for what is open of it, and leaves out what failed.
func TestLaterWorkOfAStageTakesOver_INV_STAGE(t *testing.T) {
	h := newHouse(t)
	made := h.swarm("pipeline", map[string]any{"slot": "draft", "work": []string{"North", "South", "West"}},
		slotOf("edit", 1), slotOf("print", 1))
	require.Contains(t, fmt.Sprint(made["notes"]), "stage edit has no work yet")
	draft, edit, print := h.caller("draft"), h.caller("edit"), h.caller("print")
	item := h.must(draft, "memory_write_warm", with(note("Forty sheep"),
		map[string]any{"group": "swarm-sheep.draft"}))["id"].(string)
	secret := h.must(draft, "memory_write_warm", with(note("A wolf nearby"),
		map[string]any{"group": "swarm-sheep.draft"}))["id"].(string)
	h.clock.advance(time.Second)
	h.reports(draft, h.must(draft, "task_claim", map[string]any{})["work"], "done", map[string]any{"see": item})
	h.reports(draft, h.must(draft, "task_claim", map[string]any{})["work"], "failed", map[string]any{"see": secret})
	open := h.must(draft, "task_claim", map[string]any{})["work"]

	later := func(role string) map[string]any {
		out := h.must(h.lead, "task_submit", map[string]any{"group": "swarm-sheep",
			"items": []any{map[string]any{"intent": "Mend it", "role": role}}})
		return out["items"].([]any)[0].(map[string]any)
	}
	require.Equal(t, "waiting", later("edit")["state"])
	require.Nil(t, h.must(edit, "task_claim", map[string]any{})["work"], "one of the stage before is open")
	h.reports(draft, open, "done", map[string]any{"also": []any{item}})

	w, ok := h.must(edit, "task_claim", map[string]any{})["work"].(map[string]any)
	require.True(t, ok)
	context := w["brief"].(map[string]any)["context"].([]any)
	require.Len(t, context, 1, "one copy, though two results name it")
	before := w["results_before"].([]any)
	require.Len(t, before, 2, "and not what failed")
	require.Equal(t, map[string]any{"see": context[0]}, before[0].(map[string]any)["result"],
		"named by what can be read")
	require.Equal(t, map[string]any{"also": context}, before[1].(map[string]any)["result"])
	require.Len(t, h.must(edit, "memory_read_warm", map[string]any{"ids": context})["items"], 1)
	require.NotContains(t, wordsOf(w), secret)
	again := h.must(edit, "task_claim", map[string]any{})["work"].(map[string]any)
	require.Equal(t, w["results_before"], again["results_before"], "a resumed lease says the same")
	h.reports(edit, w, "done", map[string]any{"text": "mended"})

	// All of it is accepted, so it is ready at once; the stage after gets the one before it.
	require.Equal(t, "ready", later("edit")["state"])
	require.Len(t, h.must(edit, "task_claim", map[string]any{})["work"].(map[string]any)["results_before"], 2)
	require.Equal(t, "waiting", later("print")["state"])
	require.Nil(t, h.must(print, "task_claim", map[string]any{})["work"])
	require.Equal(t, "ready", later("draft")["state"], "the first stage waits for nobody")
}

// The work of a swarm is that of its cells, too, for who may see it.
func TestWorkOfASwarmIsListedWithItsCells(t *testing.T) {
	h := newHouse(t)
	h.swarm("pipeline", map[string]any{"slot": "draft", "work": []string{"North"}},
		map[string]any{"slot": "edit", "work": []string{"Mend"}})
	h.must(h.lead, "task_submit", map[string]any{"intent": "Elsewhere"})
	listed := func(c Caller, more map[string]any) int {
		return len(h.must(c, "task_status", with(map[string]any{"group": "swarm-sheep"}, more))["items"].([]any))
	}
	require.Equal(t, 2, listed(h.lead, nil))
	require.Equal(t, 1, listed(h.lead, map[string]any{"state": "waiting"}))
	require.Equal(t, 1, listed(h.lead, map[string]any{"group": "swarm-sheep.edit"}))
	require.Equal(t, 1, listed(h.caller("edit"), nil), "its own stage's")
	h.must(h.lead, "task_cancel", map[string]any{"work_id": h.must(h.lead, "task_status",
		map[string]any{"group": "swarm-sheep.edit"})["items"].([]any)[0].(map[string]any)["work_id"]})
	require.Equal(t, 1, listed(h.lead, map[string]any{"state": "cancelled"}), "of a rare state")
}

// Who claims for a role that nobody ever offered it is told so, whatever others do.
func TestAClaimNamesARoleThatIsUnknown(t *testing.T) {
	h := newHouse(t)
	one := h.crew("one")[0]
	h.swarm("broadcast", slotOf("hand", 1))
	h.must(h.lead, "task_submit", map[string]any{"group": "swarm-sheep",
		"items": []any{map[string]any{"intent": "x", "role": "shear"}}})
	next := func(c Caller, role string) any { return h.must(c, "task_claim", map[string]any{"role": role})["next"] }
	require.Contains(t, next(one, "R9"), `none of role "R9" was ever offered to you`)
	require.Contains(t, next(one, "shear"), `none of role "shear" was ever offered to you`, "that is the swarm's")
	for _, role := range []string{"", "R1", "R4b"} {
		require.Equal(t, taskClaimIn{Role: role}.noWork().String(), next(one, role))
	}
	hand := h.caller("hand")
	h.reports(hand, h.must(hand, "task_claim", map[string]any{"role": "shear"})["work"], "done", map[string]any{})
	require.Equal(t, taskClaimIn{Role: "shear"}.noWork().String(), next(hand, "shear"), "it was there")
	require.Contains(t, next(hand, "R5"), "was ever offered to you")
}

// Until a person agrees a result is proposed: nothing of it reads as accepted, and an
// agent is not sent to a decision that it cannot take.
func TestAResultThatWaitsIsNotAccepted(t *testing.T) {
	h := newHouse(t)
	crew := h.crew("planner", "doer", "judge", "merger")
	id := h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "write it", "hold": true,
		"tools": []string{"bash"}})["task_id"]
	h.sit(crew[0], "R2", planOf(part("write", 1, nil)))
	h.does(crew[1], "bash")
	h.sit(crew[2], "R4a", passing("write is shown"))
	h.sit(crew[3], "R4b", wholeOf("a report"))
	task := func(c Caller) map[string]any {
		return h.must(c, "task_status", map[string]any{"task_id": id})["task"].(map[string]any)
	}
	held := task(h.lead)
	require.Equal(t, "review", held["state"])
	require.Nil(t, held["result"])
	require.NotContains(t, wordsOf(held), `"accepted"`)
	require.NotContains(t, wordsOf(held), "finished_at")
	require.Contains(t, wordsOf(held["proposed"]), "a report")
	require.Contains(t, held["next"], "cordelia review at the terminal")
	require.NotContains(t, held["next"], "review_decide")
	person := h.person()
	require.Contains(t, task(person)["next"], "review_decide")
	w := h.must(person, "review_list", map[string]any{})["waiting"].([]any)[0].(map[string]any)
	require.Equal(t, held["result_hash"], w["hash"])
	h.must(person, "review_decide", map[string]any{"decisions": []any{map[string]any{"id": id, "decision": "approve",
		"hash": w["hash"]}}})
	done := task(h.lead)
	require.Nil(t, done["proposed"])
	require.Equal(t, "accepted", done["result"].(map[string]any)["result"])
	require.NotEmpty(t, done["result"].(map[string]any)["finished_at"])
}

// R1 may ask and say nothing else, and that costs no answer.
func TestQuestionsAloneAreAnAnswer(t *testing.T) {
	h := newHouse(t)
	id := h.must(h.lead, "task_submit", map[string]any{"request": "Count them"})["task_id"]
	one := h.crew("reader")[0]
	w := h.take(one, "R1")
	h.refused(one, w, map[string]any{"questions": []any{}}, "/intent: is missing, and nothing is asked")
	h.done(one, w, map[string]any{"questions": []any{"Which?"}})
	require.Equal(t, "clarifying", h.must(h.lead, "task_status",
		map[string]any{"task_id": id})["task"].(map[string]any)["state"])
}
