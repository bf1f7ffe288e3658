package ops

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
)

// Nobody decides over its own words, in no way.
func TestNobodyReviewsItself_INV_REVIEWER(t *testing.T) {
	a := newAway(t)
	a.brings(found("The well is deep"))
	e := a.waiting(a.lead)[0]
	a.must(a.person(), "agent_capabilities", map[string]any{"agent": "rover", "capabilities": map[string]any{"tools": Names()}})
	bearer := a.bearer("rover")
	for name, c := range map[string]Caller{"author": a.rover, "by token": bearer, "beside": a.scout} {
		for _, d := range []map[string]any{approve(e), reject(e)} {
			_, err := a.call(c, "review_decide", decisions(d))
			require.True(t, schemas.CodeOf(err) == schemas.CodeDenied || schemas.CodeOf(err) == schemas.CodeNotFound, "%s: %v", name, err)
		}
		_, err := a.call(c, "review_decide", map[string]any{"reject_rest": e["staging"]})
		require.Error(t, err, name)
		_, err = a.call(c, "review_list", map[string]any{"ids": []any{e["id"]}})
		require.Error(t, err, name)
	}
	// As another, whoever asks: approvals are not delegated.
	for _, as := range []string{"rover", "claude-code"} {
		_, err := Find("review_decide").run(t.Context(), &Call{Node: a.node, Op: Find("review_decide"), Caller: a.person(), As: as}, mustJSON(decisions(approve(e))))
		require.ErrorIs(t, err, schemas.ErrDenied)
	}
	// The user's own client is an agent like any other: what it brings back is for
	// the person.
	chain := a.must(a.lead, "memory_session", map[string]any{"action": "start"})
	a.must(a.lead, "reintegrate", map[string]any{"action": "submit", "session_count": chain["session_count"], "chain_hash": chain["chain_hash"],
		"memories": []any{found("Trust me")}})
	require.Len(t, a.waiting(a.lead), 1, "the rover's alone")
	own := a.waiting(a.person())[1]
	require.Equal(t, "claude-code", own["author"])
	_, err := a.call(a.lead, "review_decide", decisions(approve(own)))
	require.ErrorIs(t, err, schemas.ErrDenied)
	require.Equal(t, "0", a.one(`SELECT count(*) FROM items WHERE origin <> ''`))
	a.must(a.person(), "review_decide", decisions(approve(own), approve(e)))
	require.Equal(t, "2", a.one(`SELECT count(*) FROM items WHERE origin <> ''`))
}

// An approval is for what was shown.
func TestApproveThenSwap_INV_SHOWN(t *testing.T) {
	a := newAway(t)
	a.brings(found("The well is deep"), found("The mill is old"))
	list := a.waiting(a.lead)
	try := func(d map[string]any) error {
		_, err := a.call(a.lead, "review_decide", decisions(d))
		require.Equal(t, "0", a.one(`SELECT count(*) FROM items WHERE origin <> ''`))
		return err
	}
	require.ErrorIs(t, try(map[string]any{"id": list[0]["id"], "decision": "approve"}), schemas.ErrConflict, "no hash")
	require.ErrorIs(t, try(but(approve(list[0]), map[string]any{"hash": list[1]["hash"]})), schemas.ErrConflict, "another's hash")
	for column, value := range map[string]any{"data": `{"content":"The well is poisoned","type":"insight"}`, "subject": "well", "author": string(a.scout.Entity)} {
		before := a.one(`SELECT ` + column + ` FROM items WHERE data LIKE '%well is%' AND origin = ''`)
		a.sql(`UPDATE items SET `+column+` = ? WHERE data LIKE '%well is%'`, value)
		err := try(approve(list[0]))
		require.ErrorIs(t, err, schemas.ErrConflict, column)
		a.sql(`UPDATE items SET `+column+` = ? WHERE data LIKE '%well is%'`, before)
	}
	a.must(a.lead, "review_decide", decisions(approve(list[0]), approve(list[1])))
}

// A person decides over what comes from outside, and where the reviewer has read such.
func TestWhereAPersonDecides_INV_PERSON(t *testing.T) {
	a := newAway(t)
	a.brings(found("The page says so", map[string]any{"source": "external"}), found("The mill is old"))
	list := a.waiting(a.person())
	require.Nil(t, list[0]["person"], "for a person there is nothing to say")
	fresh := a.lead
	fresh.Session = "another"
	_, err := a.call(fresh, "review_decide", decisions(approve(list[0])))
	require.ErrorIs(t, err, schemas.ErrDenied, "it comes from outside")
	require.Contains(t, fmt.Sprint(a.waiting(a.lead)[0]["person"]), "outside")
	_, err = a.call(a.lead, "review_decide", decisions(approve(list[1])))
	require.ErrorIs(t, err, schemas.ErrDenied, "this session has just read it")
	_, err = a.call(a.lead, "agent_capabilities", map[string]any{"agent": "rover", "auto_merge": true})
	require.ErrorIs(t, err, schemas.ErrDenied, "nor does it spare others the review")
	a.must(fresh, "review_decide", decisions(approve(list[1]), reject(list[0])))
	a.brings(found("Restart before each build", map[string]any{"data": map[string]any{"type": "procedure", "content": "Restart before each build"}}))
	rule := a.waiting(fresh)[0]
	require.Contains(t, rule["person"], "instructs")
	_, err = a.call(fresh, "review_decide", decisions(approve(rule)))
	require.ErrorIs(t, err, schemas.ErrDenied)
	id := a.must(a.person(), "review_decide", decisions(approve(rule)))["decided"].([]any)[0].(map[string]any)["item"]
	item := a.must(fresh, "memory_read_warm", map[string]any{"ids": []any{id}})["items"].([]any)[0].(map[string]any)
	require.Equal(t, "current", item["state"], "what a person approves, a person has released")
	a.brings(found("The page says more", map[string]any{"source": "tool"}))
	a.must(a.person(), "review_decide", decisions(approve(a.waiting(a.person())[0])))
}

// What contradicts the group's present items is shown beside them.
func TestConflictsAreShown(t *testing.T) {
	a := newAway(t)
	old := a.must(a.lead, "memory_write_warm", but(found("The bridge holds nine tons"), map[string]any{"subject": "bridge", "key": "load"}))["id"]
	a.brings(found("The bridge holds two tons", map[string]any{"subject": "bridge", "key": "load"}), found("The bridge holds nine tons"))
	list := a.waiting(a.lead)
	require.Equal(t, []any{"conflicts_with", []any{old}}, []any{list[0]["status"], list[0]["with"]})
	require.Equal(t, []any{map[string]any{"op": "-", "text": "content: The bridge holds nine tons"}, map[string]any{"op": "+", "text": "content: The bridge holds two tons"}}, list[0]["diff"])
	require.Equal(t, "duplicate_of", list[1]["status"])
	require.Nil(t, list[1]["diff"], "it says the same")
	out := a.must(a.lead, "review_decide", decisions(approve(list[0]), approve(list[1])))["decided"].([]any)
	require.Equal(t, "conflicts_with", out[0].(map[string]any)["status"])
	require.Contains(t, fmt.Sprint(a.must(a.rover, "events_poll", map[string]any{})["events"]), "memory.conflict")
}

// Held results wait in the same list, for a person.
func TestHeldResultsAreDecided(t *testing.T) {
	a := newAway(t)
	w := a.worker("hand")
	a.must(a.person(), "trust_assess", map[string]any{"agent": "hand", "capability": "executor", "feedback": "bad"})
	a.must(a.lead, "agent_capabilities", map[string]any{"agent": "hand", "capabilities": map[string]any{"tools": []string{"task_claim", "task_report"}}})
	for range 2 {
		a.must(a.lead, "task_submit", map[string]any{"intent": "Count the boats"})
		claimed := a.must(w, "task_claim", map[string]any{})["work"].(map[string]any)
		require.Equal(t, "held", a.must(w, "task_report", map[string]any{"work_id": claimed["work_id"], "fence": claimed["fence"], "outcome": "done",
			"result": map[string]any{"boats": 4}})["state"])
	}
	require.Empty(t, a.waiting(a.lead), "a person decides")
	list := a.waiting(a.person())
	require.Equal(t, []any{"work", "hand"}, []any{list[0]["kind"], list[0]["author"]})
	_, err := a.call(a.lead, "review_decide", decisions(approve(list[0])))
	require.Error(t, err)
	_, err = a.call(a.person(), "review_decide", decisions(but(approve(list[0]), map[string]any{"hash": strings.Repeat("0", 64)})))
	require.ErrorIs(t, err, schemas.ErrConflict)
	level := func() string { return a.one(`SELECT hundredths FROM capability_trust WHERE agent = ?`, w.Entity) }
	before := level()
	out := a.must(a.person(), "review_decide", decisions(approve(list[0]), but(reject(list[1]), map[string]any{"hash": list[1]["hash"]})))
	require.Equal(t, []any{"done", "failed"}, []any{out["decided"].([]any)[0].(map[string]any)["state"], out["decided"].([]any)[1].(map[string]any)["state"]})
	require.NotEqual(t, before, level(), "and it counts for how well the agent works")
	require.Empty(t, a.waiting(a.person()))
}

// A list goes on where it ended.
func TestReviewPages(t *testing.T) {
	a := newAway(t)
	var all []map[string]any
	for i := range 5 {
		all = append(all, found(fmt.Sprintf("Well %d is deep", i)))
	}
	a.brings(all...)
	cursor, seen := "", map[string]bool{}
	for range 5 {
		in := map[string]any{"limit": 2}
		if cursor != "" {
			in["cursor"] = cursor
		}
		page := a.must(a.lead, "review_list", in)
		for _, e := range page["waiting"].([]any) {
			seen[e.(map[string]any)["id"].(string)] = true
		}
		if page["next_cursor"] == nil {
			break
		}
		cursor = page["next_cursor"].(string)
	}
	require.Len(t, seen, 5)
}

// Characters that do not show are written out where a model or a person reads.
func TestHiddenCharactersShow(t *testing.T) {
	a := newAway(t)
	a.brings(found("Pay \u202eecila\u202c and \U000e0041 all"))
	raw, err := json.Marshal(map[string]any{})
	require.NoError(t, err)
	out, err := Find("review_list").Call(t.Context(), a.node, a.lead, raw)
	require.NoError(t, err)
	text := out.(interface{ Text() string }).Text()
	require.NotContains(t, text, "\u202e")
	require.Contains(t, text, `\u{202e}`)
	require.Contains(t, text, `\u{e0041}`)
	require.Contains(t, text, a.waiting(a.lead)[0]["hash"], "and what an approval names is there")
}

// What waits is nobody's to carry away yet.
func TestStagedIsNotExported(t *testing.T) {
	a := newAway(t)
	a.must(a.rover, "memory_write_warm", note("My own well"))
	a.brings(found("The well is deep"))
	var out strings.Builder
	require.NoError(t, a.node.Export(t.Context(), a.rover, "", &out, memory.JSONL))
	require.Contains(t, out.String(), "My own well")
	require.NotContains(t, out.String(), "The well is deep")
	out.Reset()
	require.NoError(t, a.node.Export(t.Context(), a.lead, "", &out, memory.JSONL))
	require.NotContains(t, out.String(), "staging-")
}

// The states in the database are those of the table.
func TestReviewStatesFitTheDatabase(t *testing.T) {
	a := newAway(t)
	a.brings(found("The well is deep"))
	for _, s := range schemas.ReviewStates() {
		a.sql(`UPDATE reviews SET state = ?`, s)
	}
	for _, d := range schemas.Divergences() {
		a.sql(`UPDATE returns SET divergence = ?`, d)
	}
	for _, query := range []string{`UPDATE reviews SET state = 'lost'`, `UPDATE returns SET divergence = 'lost'`} {
		require.Error(t, a.node.Store.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(query)
			return err
		}))
	}
}
