package ops

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// Every argument that names something by its id takes a short form.
func TestEveryIDIsTakenInShort(t *testing.T) {
	// names, not UUIDs
	named := []string{"session_id", "swarm_id", "group_id", "agent_id", "parent_entity_id", "coordinator_agent_id"}
	var walk func(tool, path string, s *schema)
	walk = func(tool, path string, s *schema) {
		for _, p := range s.properties {
			of := p.schema
			if of.items != nil {
				of = of.items
			}
			isID := p.name == "id" || p.name == "ids" || strings.HasSuffix(p.name, "_id") ||
				strings.HasSuffix(p.name, "_ids")
			if isID && of.kind == "string" && !slices.Contains(named, p.name) {
				require.NotEmpty(t, of.ref, "%s: %s/%s takes whole ids alone", tool, path, p.name)
			}
			walk(tool, path+"/"+p.name, of)
		}
	}
	for _, o := range Catalogue() {
		s, err := o.schemas()
		require.NoError(t, err)
		walk(o.Name, "", s.arguments)
	}
}

// An agent claims a seat of a task by a short id although it sees nothing of the task before. A short id
// of what it may not claim stands for nothing.
func TestASeatIsClaimedByItsShortID(t *testing.T) {
	h := newHouseOf(t, "ann", t.TempDir())
	one := h.crew("one", "two")
	task := h.must(h.lead, "task_submit", map[string]any{"request": "Write the report", "tools": []string{"bash"}})
	items := h.must(h.lead, "task_status", map[string]any{})["items"]
	seat := items.([]any)[0].(map[string]any)["work_id"].(string)
	for name, id := range map[string]string{"task_id": task["task_id"].(string), "work_id": seat} {
		got := h.must(one[0], "task_claim", map[string]any{name: short(id)})["work"].(map[string]any)
		require.Equal(t, seat, got["work_id"], name)
		_, err := h.call(one[1], "task_claim", map[string]any{name: short(id)})
		require.ErrorIs(t, err, schemas.ErrNotFound, "it is taken")
		h.must(one[0], "task_report", map[string]any{"work_id": seat, "fence": got["fence"], "outcome": "released"})
	}
}

// What a short form does not tell apart is answered with forms that do, each of which is
// taken; what the caller may not see is no candidate.
func TestAnAmbiguousShortIDIsAnsweredWithItsCandidates(t *testing.T) {
	h := newHouse(t)
	var ids []string
	for len(ids) < 2 || ids[0][:9] != ids[1][:9] { // the first digits are a clock: equal for a minute
		ids = ids[:0]
		for _, text := range []string{"Retries need jitter", "Caches need a bound"} {
			ids = append(ids, h.must(h.lead, "memory_write_warm", note(text))["id"].(string))
			h.must(h.lead, "memory_write_warm", map[string]any{"id": ids[len(ids)-1], "confidence": 0.6})
		}
		if ids[0][:9] != ids[1][:9] {
			for _, id := range ids {
				h.must(h.lead, "memory_delete_warm", map[string]any{"id": id, "mode": "purge"})
			}
		}
	}
	_, err := h.call(h.lead, "memory_read_warm", map[string]any{"ids": []string{ids[0][:9]}})
	e, ok := errors.AsType[*schemas.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, schemas.CodeInvalid, e.Code)
	require.Contains(t, e.Msg, "stands for more than one item")
	require.Contains(t, e.Hint.String(), "memory_read_warm")
	candidates := strings.Split(strings.TrimPrefix(e.Expected, "one of "), ", ")
	require.Len(t, candidates, 2)
	for _, one := range candidates {
		read := h.must(h.lead, "memory_read_warm", map[string]any{"ids": []string{one}})
		require.Contains(t, ids, read["items"].([]any)[0].(map[string]any)["id"])
	}
	scout := h.worker("scout")
	_, err = h.call(scout, "memory_read_warm", map[string]any{"ids": []string{ids[0][:9]}})
	require.Equal(t, schemas.CodeNotFound, schemas.CodeOf(err), "%v", err)
}

// Reviews, proposals and invitations are decided by their short ids; those of others are
// not there.
func TestWhatWaitsIsDecidedByItsShortID(t *testing.T) {
	a := newAway(t)
	old := a.must(a.person(), "memory_write_warm", found("The port of the beacon is 8080"))["id"].(string)
	a.must(a.rover, "memory_write_warm", found("The beacon listens on port 9090", map[string]any{"supersedes": old}))
	short := schemas.ShortID(a.waiting(a.person())[0]["id"].(string))
	shown := a.text(a.person(), "review_list", map[string]any{"ids": []any{short}})
	require.Contains(t, shown, short+" ")
	_, err := a.call(a.scout, "review_list", map[string]any{"ids": []any{short}})
	require.ErrorIs(t, err, schemas.ErrNotFound)
	decided := a.must(a.person(), "review_decide", decisions(map[string]any{"id": short, "decision": "reject"}))
	require.Equal(t, "rejected", decided["decided"].([]any)[0].(map[string]any)["state"])

	stranger := a.founding("stranger")
	a.must(a.person(), "memory_group", map[string]any{"action": "add", "group": "lab", "entity": "stranger"})
	a.must(stranger, "memory_group", map[string]any{"action": "create", "group": "outside"})
	a.must(stranger, "memory_group", map[string]any{"action": "add", "group": "outside", "entity": "rover"})
	w := a.waiting(a.lead)
	require.Equal(t, "invitation", w[0]["kind"])
	short = schemas.ShortID(w[0]["id"].(string))
	require.Contains(t, a.text(a.lead, "review_list", map[string]any{}), short)
	a.must(a.lead, "review_decide", decisions(map[string]any{"id": short, "decision": "approve", "hash": w[0]["hash"]}))
}

// Two agents of one name are told apart by parent/name, in what is asked and in what is
// answered.
func TestAgentsOfOneNameAreCalledByTheirParents(t *testing.T) {
	h := newHouse(t)
	capable := json.RawMessage(`{"tools":["agent_register","memory_search"],"max_delegation_depth":1}`)
	for _, boss := range []string{"east", "west"} {
		h.must(h.person(), "agent_register", map[string]any{"agent_type": "claude-code", "name": boss,
			"display_name": boss, "capabilities": capable})
		h.must(h.caller(boss), "agent_register", map[string]any{"agent_type": "swarm-worker", "name": "helper",
			"display_name": "H",
			"capabilities": json.RawMessage(`{"tools":["memory_search"]}`)})
	}
	_, err := h.call(h.person(), "agent_list", map[string]any{"agent": "helper"})
	require.Equal(t, schemas.CodeConflict, schemas.CodeOf(err))
	require.ErrorContains(t, err, "east/helper, west/helper")
	id := func(ref string) string {
		return h.must(h.person(), "agent_list",
			map[string]any{"agent": ref})["agents"].([]any)[0].(map[string]any)["agent_id"].(string)
	}
	require.NotEqual(t, id("east/helper"), id("west/helper"))
	require.Equal(t, id("east/helper"), string(h.caller("east/helper").Entity))
	for _, ref := range []string{"north/helper", "east/nobody", "/helper", "east/", "claude-code/helper"} {
		_, err := h.call(h.person(), "agent_list", map[string]any{"agent": ref})
		require.Equal(t, schemas.CodeNotFound, schemas.CodeOf(err), ref)
	}
	var who names
	east, west := schemas.EntityID(id("east/helper")), schemas.EntityID(id("west/helper"))
	require.NoError(t, h.node.Auth.Do(t.Context(), h.person().Principal, pollOp(""), func(g access.Grant) error {
		who.add(g, east, h.person().Entity, west)
		return nil
	}))
	require.Equal(t, []string{"east/helper", "west/helper", "ann"}, []string{who.of(east), who.of(west), who.of("ann")})
}

// Who deletes another's item of a group brings it back by the id that the answer names.
func TestADeletionOfAnothersItemIsUndoneByTheIDItNames(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "team"})
	for _, name := range []string{"hand", "chief"} {
		h.worker(name)
		h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "team", "entity": name,
			"role": map[string]string{"hand": "member", "chief": "admin"}[name]})
	}
	h.must(h.lead, "agent_capabilities", map[string]any{"agent": "chief",
		"tools": []string{"+memory_delete_warm"}})
	item := h.must(h.caller("hand"), "memory_write_warm", with(note("the bridge holds"),
		map[string]any{"group": "team"}))["id"].(string)
	chief := h.caller("chief")
	said := h.text(chief, "memory_delete_warm", map[string]any{"id": schemas.ShortID(item)})
	named := regexp.MustCompile(`^deleted (\S+); mode undo brings it back$`).FindStringSubmatch(said)
	require.NotNil(t, named, said)
	h.must(chief, "memory_delete_warm", map[string]any{"id": named[1], "mode": "undo"})
	h.must(h.caller("hand"), "memory_read_warm", map[string]any{"ids": []string{item}})
}
