package ops

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/agents"
	"cordelia/schemas"
)

// text is what a model gets of a call.
func (h *house) text(c Caller, tool string, in map[string]any) string {
	h.t.Helper()
	out, err := Find(tool).Call(h.t.Context(), h.node, c, mustJSON(in))
	require.NoError(h.t, err)
	return out.(interface{ Text() string }).Text()
}

// low makes an agent's tier Low, by the person's verdicts.
func (h *house) low(c Caller) {
	h.t.Helper()
	for i := 0; ; i++ {
		require.Less(h.t, i, 20)
		id := h.must(c, "memory_write_warm", with(note(fmt.Sprintf("rumour %d of the sea", i)),
			map[string]any{"group": "lab"}))
		if id["proposal"] != nil {
			h.must(h.person(), "review_decide", decisions(map[string]any{"id": id["proposal"], "decision": "reject"}))
			return
		}
		out := h.text(h.person(), "trust_assess", map[string]any{"id": id["id"], "verdict": "wrong"})
		require.Contains(h.t, out, `memory_write_warm {"data": {…}, "group": "lab", "supersedes": "`+
			schemas.ShortID(id["id"].(string))+`", "type": "learning"}`)
		require.Equal(h.t, strings.Contains(out, "now low"), strings.Contains(out, "waits as proposals"))
	}
}

// An item that its writer may not supersede stays, and the writer's stands beside it as a
// conflict until a person decides.
func TestSupersedingAPersonsWordsIsAProposal_INV_PROPOSAL(t *testing.T) {
	a := newAway(t)
	old := a.must(a.person(), "memory_write_warm", found("The port of the beacon is 8080"))["id"].(string)
	try := found("The beacon listens on port 9090", map[string]any{"supersedes": old})
	said := a.text(a.rover, "memory_write_warm", try)
	require.Contains(t, said, "supersedes nothing yet")
	require.Contains(t, said, "waits for ann")
	search := func(c Caller) string {
		return a.text(c, "memory_search", map[string]any{"query": "port of the beacon"})
	}
	require.Contains(t, search(a.scout), schemas.ShortID(old))
	require.Contains(t, search(a.scout), "conflicts with "+schemas.ShortID(old))

	// Its parent sees it and cannot approve it; the person can, and the author's words count.
	w := a.waiting(a.lead)
	require.Len(t, w, 1)
	require.Equal(t, []any{"proposal", "rover", old}, []any{w[0]["kind"], w[0]["author"], w[0]["replaces"]})
	require.Contains(t, w[0]["person"], "a person wrote")
	_, err := a.call(a.lead, "review_decide", decisions(approve(w[0])))
	require.ErrorIs(t, err, schemas.ErrPerson)
	for _, c := range []Caller{a.rover, a.scout} {
		require.Empty(t, a.waiting(c))
		_, err = a.call(c, "review_decide", decisions(approve(w[0])))
		require.Error(t, err)
		_, err = a.call(c, "review_list", map[string]any{"ids": []any{w[0]["id"]}})
		require.ErrorIs(t, err, schemas.ErrNotFound)
	}
	mine := a.waiting(a.person())[0]
	_, err = a.call(a.person(), "review_decide",
		decisions(but(approve(mine), map[string]any{"hash": strings.Repeat("0", 64)})))
	require.ErrorIs(t, err, schemas.ErrConflict)
	a.must(a.person(), "review_decide", decisions(approve(mine)))
	require.NotContains(t, search(a.scout), old)
	require.Contains(t, search(a.scout), "9090")
	require.Contains(t, search(a.scout), "1 superseded")
	require.Contains(t, fmt.Sprint(a.must(a.rover, "events_poll", map[string]any{})["events"]), "review.closed")

	// Rejected, it is gone.
	next := a.must(a.person(), "memory_write_warm", found("The mast of the beacon is red"))["id"].(string)
	a.must(a.rover, "memory_write_warm", found("Blue is the beacon's mast", map[string]any{"supersedes": next}))
	a.must(a.person(), "review_decide", decisions(reject(a.waiting(a.person())[0])))
	require.NotContains(t, a.text(a.scout, "memory_search", map[string]any{"query": "mast of the beacon"}), "Blue")
	require.Empty(t, a.waiting(a.person()))
}

// A correction waits beside what it corrects: of a sign, a number, a type or a time, which the
// letters and digits of the text do not show.
func TestACorrectionIsAProposalOfItsOwn_INV_PROPOSAL(t *testing.T) {
	a := newAway(t)
	a.low(a.rover)
	seen := map[any]string{}
	for _, next := range []map[string]any{
		found("The offset is 35"), found("The offset is -35"), found("The offset is 3.5"),
		found("The offset is 35%"), found("The offset is != 35"), found("The offset is > 35"), found("The offset is < 35"),
		found("The offset is $35"), found("The offset is +35"),
		found("The offset is 35", map[string]any{"valid_to": "2030-01-01"}),
		found("The offset is 35", map[string]any{"subject": "mast", "key": "offset"}),
		found("", map[string]any{"data": map[string]any{"type": "pattern", "content": "The offset is 35"}}),
	} {
		text := fmt.Sprint(next)
		out := a.must(a.rover, "memory_write_warm", next)
		require.Empty(t, seen[out["proposal"]], "%s is taken for it", text)
		seen[out["proposal"]] = text
	}
	same := a.must(a.rover, "memory_write_warm", found("the  Offset, is: 35"))
	require.NotEmpty(t, seen[same["proposal"]], "equal words wait once")
}

// What an agent of tier Low writes to a group waits; its parent or the person decides, and
// it reaches the group under its author's name.
func TestALowAgentProposes_INV_PROPOSAL(t *testing.T) {
	a := newAway(t)
	a.low(a.rover)
	answer := a.text(a.rover, "memory_write_warm", found("Whales pass in May"))
	require.Contains(t, answer, "claude-code or ann")
	require.Empty(t, a.must(a.scout, "memory_search", map[string]any{"query": "whales pass may"})["results"])
	require.Empty(t, a.must(a.rover, "memory_search", map[string]any{"query": "whales pass may"})["results"])
	again := a.must(a.rover, "memory_write_warm", found("Whales, pass in MAY!"))
	require.Contains(t, answer, "proposal "+short(again["proposal"].(string))+" ", "equal words wait once")

	own := a.must(a.lead, "memory_write_warm", found("Seals rest at noon"))["id"]
	put := a.must(a.rover, "memory_write_warm", found("Seals rest at dusk", map[string]any{"supersedes": own}))
	require.Equal(t, true, put["stored"], "it is not there twice")
	w := a.waiting(a.lead)
	require.Len(t, w, 1, "one entry for the agent")
	require.Equal(t, []any{"proposals/rover", "2 proposals"}, []any{w[0]["id"], w[0]["name"]})
	shown := a.text(a.lead, "review_list", map[string]any{"ids": []any{"proposals/rover"}})
	require.Contains(t, shown, "Whales pass in May")
	require.Contains(t, shown, "to supersede "+own.(string))
	decided := a.must(a.lead, "review_decide", decisions(approve(w[0])))["decided"].([]any)[0].(map[string]any)
	require.Equal(t, "approved", decided["state"])
	require.Equal(t, 2, strings.Count(decided["note"].(string), " as "))
	hits := a.must(a.scout, "memory_search", map[string]any{"query": "whales pass may"})["results"].([]any)
	require.Equal(t, []any{"Whales pass in May", "rover"},
		[]any{hits[0].(map[string]any)["name"], hits[0].(map[string]any)["author"]})
	require.NotContains(t, a.text(a.scout, "memory_search", map[string]any{"query": "seals rest noon dusk"}), "noon")
	require.Empty(t, a.waiting(a.lead))
	require.Equal(t, "0", a.one(
		`SELECT count(*) FROM items i JOIN proposals p ON p.item = i.id WHERE p.staging <> '' AND i.data <> ''`))

	// Twenty wait, then the agent is slowed; all are decided at once; others see nothing.
	for i := range 20 {
		a.must(a.rover, "memory_write_warm", found(fmt.Sprintf("Whale %d has %d scars", i, i*i)))
	}
	_, err := a.call(a.rover, "memory_write_warm", found("One more whale"))
	require.Equal(t, schemas.CodeBusy, schemas.CodeOf(err))
	require.ErrorContains(t, err, "20 proposals of this agent wait")
	require.Empty(t, a.waiting(a.scout))
	require.Len(t, a.waiting(a.person()), 1)
	a.must(a.person(), "review_decide", decisions(map[string]any{"id": "proposals/rover", "decision": "reject"}))
	require.Equal(t, "21", a.one(`SELECT count(*) FROM proposals WHERE state = 'rejected' AND decided_by = 'ann'`),
		"with the one that showed its tier")
	require.Equal(t, "0", a.one(`SELECT count(*) FROM items WHERE data LIKE '%scars%'`), "the text goes")

	// Its own item it does not change, and an Untrusted agent proposes nothing.
	_, err = a.call(a.rover, "memory_share",
		map[string]any{"id": a.must(a.rover, "memory_write_warm", note("my own"))["id"], "group": "lab"})
	require.ErrorContains(t, err, "waits as a proposal")
	for i := range 10 {
		id := a.must(a.rover, "memory_write_warm", note(fmt.Sprintf("private rumour %d", i)))["id"]
		a.must(a.person(), "trust_assess", map[string]any{"id": id, "verdict": "wrong"})
		if a.must(a.person(), "trust_score", map[string]any{"agent": "rover"})["tier"] == "untrusted" {
			break
		}
	}
	_, err = a.call(a.rover, "memory_write_warm", found("Whales never pass"))
	require.Error(t, err)
	require.Equal(t, "0", a.one(`SELECT count(*) FROM proposals WHERE state = 'pending'`))
}

// Proposals that nobody decides are gone after 14 days, whatever the clock says at once.
func TestProposalsExpire_INV_PROPOSAL(t *testing.T) {
	a := newAway(t)
	old := a.must(a.person(), "memory_write_warm", found("The port of the beacon is 8080"))["id"].(string)
	a.must(a.rover, "memory_write_warm", found("The beacon listens on port 9090", map[string]any{"supersedes": old}))
	at := a.clock.Now()
	sweep := func(days int, up time.Duration) int {
		a.clock.set(at.Add(time.Duration(days) * 24 * time.Hour))
		a.mono.Store(&agents.Monotonic{Boot: "b2", Micros: up.Microseconds()})
		require.NoError(t, a.node.Reap(t.Context()))
		return a.number(`SELECT count(*) FROM proposals WHERE state = 'pending'`)
	}
	require.Equal(t, 1, sweep(13, time.Hour))
	require.Equal(t, 1, sweep(15, 2*time.Hour), "seen once")
	require.Equal(t, 1, sweep(1, 4*time.Hour), "the clock had jumped")
	require.Equal(t, 0, sweep(15, 4*time.Hour))
	require.Empty(t, a.waiting(a.person()))
	require.Equal(t, 1, a.number(`SELECT count(*) FROM proposals WHERE state = 'expired' AND decided_by = 'node'`))

	// Nobody said no, so the words stay, as an item that contradicts the person's.
	found := a.text(a.lead, "memory_search", map[string]any{"query": "port of the beacon"})
	require.Contains(t, found, "9090")
	require.Contains(t, found, "conflicts with "+schemas.ShortID(old))
}
