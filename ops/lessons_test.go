package ops

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/memory/archive"
	"cordelia/node"
	"cordelia/schemas"
)

// What lessons say, and no other text of these tests.
const (
	taughtWords = "tweezers bent the rings while a cold rain fell upon every nest along our muddy northern ditch " +
		"and nobody found dry gloves or any spare clamp"
	taughtIntent = "ring the heron chicks of dawnmarsh"
)

// learns keeps a lesson as a task does.
func (h *house) learns(scope memory.LessonScope) string {
	h.t.Helper()
	e := schemas.MemoryEntry{EntryID: schemas.NewID(), TaskID: schemas.NewID(), Type: schemas.Procedural,
		Tags:    []string{},
		Content: schemas.Lesson{Intent: taughtIntent, Lesson: taughtWords, Avoid: []string{"bash:pull the rings"}}}
	require.NoError(h.t, h.node.Routine(h.t.Context(), "task_settle",
		func(g access.Grant) error { return memory.Learn(g, scope, e) }))
	h.clock.advance(time.Minute)
	return e.EntryID
}

// ringer is an agent of the group crew that may call every tool.
func (h *house) ringer(name string) Caller {
	h.t.Helper()
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name, "name": name,
		"groups": []string{"crew", "other"},
		"capabilities": map[string]any{
			"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"*"},
				"visibility": []string{"private", "group"}},
			"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"*"},
				"visibility": []string{"private", "group"}},
			"tools": Names(), "max_parallel_ops": 5, "autonomous": true, "ttl_seconds": 36000}})
	c := h.caller(name)
	h.must(c, "memory_search", map[string]any{}) // it is active
	return c
}

// says is all that a call shows: what it answers, as data and as text, or why it fails.
func (h *house) says(c Caller, tool string, args map[string]any) string {
	h.t.Helper()
	raw, err := json.Marshal(args)
	require.NoError(h.t, err)
	out, err := Find(tool).Call(h.t.Context(), h.node, c, raw)
	if err != nil {
		e, ok := errors.AsType[*schemas.Error](err)
		require.True(h.t, ok, "%s: %v", tool, err)
		return fmt.Sprintf("%s %+v", e, *e)
	}
	said, err := json.Marshal(out)
	require.NoError(h.t, err)
	if words, ok := out.(interface{ Text() string }); ok {
		return string(said) + words.Text()
	}
	return string(said)
}

// gives lists what an answer gives away of lessons: their words, and ids.
func gives(answer string, ids ...string) (found []string) {
	for _, sign := range append([]string{"tweezers", "dawnmarsh"}, ids...) {
		if strings.Contains(answer, sign) {
			found = append(found, sign)
		}
	}
	return found
}

// probe is a call that may show a lesson.
type probe struct {
	args map[string]any
	// shows: who may see lessons is given one by it, so that it would be noticed.
	shows bool
	// names are ids of lessons that the answer must not hold, where the call holds none.
	names bool
}

// INV-WITHHELD: no tool gives a lesson to who holds a lease of R1, R3 or R4a. The table
// has a row for each operation there is; whoever adds one says in it how it may show
// items, or nothing, if it has no words of items in its answer.
func TestNoToolGivesLessons_INV_WITHHELD(t *testing.T) {
	h := newHouse(t)
	for _, group := range []string{"crew", "other"} {
		h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": group,
			"culture": map[string]any{"broadcast_eagerness": "chatty"}})
	}
	alone, mate := h.ringer("alone"), h.ringer("mate")
	group := memory.LessonScope{Owner: alone.Entity, Group: "crew"}
	h.learns(group)
	first := h.learns(group)
	require.NoError(t, h.node.Release(t.Context(), h.person(), schemas.ItemID(first), 1, true)) // it binds
	copied := h.must(h.lead, "memory_share", map[string]any{"id": first, "group": "other"})["id"].(string)
	own := h.learns(memory.LessonScope{Owner: alone.Entity})
	h.must(alone, "memory_write_warm", map[string]any{"id": own, "type": "learning",
		"data": map[string]any{"type": "insight", "content": "pliers do"}})
	follows := h.must(mate, "memory_write_warm", with(note("pliers are better"),
		map[string]any{"group": "crew", "derived_from": []string{first}}))["id"]
	task := h.must(alone, "task_submit", map[string]any{"request": "Ring them", "intent": "ring the heron chicks",
		"group": "crew", "tools": []string{"bash", "write"}})["task_id"]
	planning := h.take(mate, "R2")
	require.NotEmpty(t, gives(wordsOf(planning["brief"]), first), "R2 is handed lessons")
	_, err := h.call(mate, "task_report", reportOf(planning,
		planOf(map[string]any{"intent": "pull the rings", "sequence": 1, "tools": []string{"bash"},
			"success_criteria": []any{"rung"}})))
	require.ErrorContains(t, err, first)
	require.NotContains(t, err.Error(), "tweezers", "why a plan is refused is shown to others")
	h.done(mate, planning, planOf(map[string]any{"intent": "ring", "sequence": 1, "tools": []string{"write"},
		"success_criteria": []any{"rung"}}))
	seat := h.take(alone, "R3")
	require.Contains(t, wordsOf(seat["brief"]), first, "its rule, with the source")

	long := taughtWords + " twice"
	faces := map[string][]probe{
		"memory_search": {{args: map[string]any{"query": "tweezers ring heron"}, shows: true},
			{args: map[string]any{}, shows: true, names: true},
			{args: map[string]any{"query": "rain nest ditch", "detail": "full"}, shows: true, names: true},
			{args: map[string]any{"group": "crew", "type": "learning"}, shows: true},
			{args: map[string]any{"query": "tweezerss"}, shows: true},
			{args: map[string]any{"query": "gloves", "author": "alone", "as_of": "2099-01-01"}, shows: true},
			{args: map[string]any{"query": "gloves", "type": "session"}, shows: true, names: true}},
		"memory_read_warm": {{args: map[string]any{"ids": []string{first}}, shows: true},
			{args: map[string]any{"ids": []string{copied}}, shows: true},
			{args: map[string]any{"ids": []any{first, follows}}, shows: true},
			{args: map[string]any{"ids": []any{follows}}},
			{args: map[string]any{"ids": []string{own}, "history": true}},
			{args: map[string]any{"ids": []string{own}, "version": 1}}},
		"memory_write_warm": {{args: with(note(long), map[string]any{"group": "crew"}), names: true},
			{args: with(note("no"), map[string]any{"group": "crew", "supersedes": first})},
			{args: map[string]any{"id": first, "if_version": 1, "validated": true}},
			{args: with(note("none"), map[string]any{"derived_from": []string{first, copied}})}},
		"memory_share": {{args: map[string]any{"id": first, "group": "other"}}},
		"memory_delete_warm": {{args: map[string]any{"id": first}},
			{args: map[string]any{"id": first, "mode": "purge"}}},
		"trust_assess": {{args: map[string]any{"id": copied, "verdict": "wrong", "basis": first}}},
		"events_poll":  {{args: map[string]any{"peek": true}, shows: true}},
		"task_status": {{args: map[string]any{"work_id": planning["work_id"], "detail": true}, shows: true},
			{args: map[string]any{"task_id": task, "detail": true}},
			{args: map[string]any{"work_id": seat["work_id"], "detail": true}}, {args: map[string]any{}}},
		"task_claim": {{args: map[string]any{}}, {args: map[string]any{"role": "R3"}}},
		"task_report": {{args: map[string]any{"work_id": seat["work_id"], "fence": seat["fence"],
			"outcome": "progress", "note": "half"}}},
		"task_submit": {{args: map[string]any{"items": []any{map[string]any{"intent": "look",
			"context": []string{first}}}}}},
		"memory_group": {{args: map[string]any{"action": "read", "group": "crew"}},
			{args: map[string]any{"action": "list"}}},
		"review_list": {{args: map[string]any{}}, {args: map[string]any{"ids": []string{first}}}},
		"review_decide": {{args: map[string]any{"decisions": []any{map[string]any{"id": first,
			"decision": "approve"}}}}},
		"swarm_status":    {{args: map[string]any{"swarm_id": "crew"}}},
		"swarm_disband":   {{args: map[string]any{"swarm_id": "crew", "synthesis_item": first}}},
		"memory_read_hot": {{args: map[string]any{}}}, "memory_session": {{args: map[string]any{"action": "start"}}},
		"trust_score": {{args: map[string]any{}}},
		"agent_list":  {{args: map[string]any{}}},

		// Nothing of what they answer was said by an item.
		"agent_register": nil, "agent_capabilities": nil, "agent_deactivate": nil, "agent_lifecycle": nil,
		"memory_write_hot": nil, "events_subscribe": nil,
		"task_cancel": nil, "swarm_create": nil, "reintegrate": nil,
		"role_event": nil, "role_spawn": nil, "role_message": nil, "role_list": nil, "role_draft": nil,
	}
	for _, o := range Catalogue() {
		probes, known := faces[o.Name]
		require.True(t, known, "%s is not in this table: say what it shows of items", o.Name)
		for _, p := range probes {
			ids := []string{}
			if p.names {
				ids = []string{first, copied}
			}
			got := h.says(alone, o.Name, p.args)
			require.Empty(t, gives(got, ids...), "%s %v: %s", o.Name, p.args, got)
			if p.shows {
				require.NotEmpty(t, gives(h.says(mate, o.Name, p.args), ids...),
					"%s %v shows lessons, to who may see them", o.Name, p.args)
			}
		}
	}
	require.Len(t, faces, len(Catalogue()))
	require.Equal(t, 1, h.number(`SELECT count(*) FROM items WHERE id = ? AND deleted_at = 0 AND version = 1`, first))
	require.Contains(t, h.says(alone, "memory_search", map[string]any{"query": "nothing like it"}),
		memory.WithoutLessons)
	require.NotContains(t, h.says(mate, "memory_search", map[string]any{"query": "nothing like it"}),
		memory.WithoutLessons)

	var out bytes.Buffer
	_, err = h.node.Export(t.Context(), alone, ExportRequest{Format: archive.JSONL}, &out)
	require.ErrorIs(t, err, schemas.ErrConflict)
	_, err = h.node.Export(t.Context(), h.person(), ExportRequest{Of: alone.Entity, Format: archive.JSONL}, &out)
	require.NoError(t, err, "a person's export is whole")
	require.Contains(t, out.String(), "tweezers")
	require.NotEmpty(t, gives(h.says(h.person(), "memory_search", map[string]any{"query": "tweezers"})))

	h.done(alone, seat, map[string]any{"text": "rung"})
	for tool, probes := range faces {
		for _, p := range probes {
			if p.shows {
				require.NotEmpty(t, gives(h.says(alone, tool, p.args), first, copied), "%s %v after the lease", tool,
					p.args)
			}
		}
	}
	_, err = h.node.Export(t.Context(), alone, ExportRequest{Format: archive.JSONL}, &out)
	require.NoError(t, err)
}

// INV-WITHHELD: it is for the time of a lease of these roles and no other, and for whom
// what is read reaches: who holds it, who acts as them or as whom they act, and the
// sub-agents of their session.
func TestWhoGetsNoLessons_INV_WITHHELD(t *testing.T) {
	h := newHouse(t)
	for _, group := range []string{"crew", "other"} {
		h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": group})
	}
	one, two := h.ringer("one"), h.ringer("two")
	h.learns(memory.LessonScope{Owner: one.Entity, Group: "crew"})
	dir := t.TempDir()
	_, err := h.node.Bind(t.Context(), h.person().Principal, dir, "crew")
	require.NoError(t, err)
	h.lead.Dir, err = node.Folder(dir)
	require.NoError(t, err)
	sub := func(id string) Caller { // as a hook makes one
		h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": id, "name": id,
			"groups": []string{"crew"}})
		c := h.caller(id)
		c.Session, c.Dir, c.Within = h.lead.Session+"/"+id, h.lead.Dir, h.lead.Entity
		return c
	}
	a1, a2 := sub("a1"), sub("a2")
	readers := map[string]struct {
		c  Caller
		as string
	}{"one": {c: one}, "two": {c: two}, "lead": {c: h.lead}, "lead as one": {h.lead, "one"}, "a1": {c: a1},
		"a2": {c: a2}, "person": {c: h.person()}, "person as one": {h.person(), "one"}}
	finds := func(when string, not ...string) {
		t.Helper()
		for name, r := range readers {
			args := map[string]any{"query": "tweezers ring heron"}
			if r.as != "" {
				args["as"] = r.as
			}
			found := len(gives(h.says(r.c, "memory_search", args))) > 0
			require.Equal(t, !slices.Contains(not, name), found, "%s: %s", when, name)
		}
	}
	finds("nobody holds anything")
	for _, tt := range []struct {
		who  Caller
		role string
		not  []string
	}{
		{one, "R1", []string{"one", "lead as one"}}, {one, "R3", []string{"one", "lead as one"}},
		{one, "R4a", []string{"one", "lead as one"}},
		{one, "R2", nil}, {one, "R4b", nil}, {one, "", nil}, {one, "painter", nil},
		{a1, "R3", []string{"a1"}}, {h.lead, "R4a", []string{"lead", "lead as one", "a1", "a2"}},
	} {
		h.must(h.lead, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "do it", "role": tt.role}},
			"group": "crew"})
		w := h.must(tt.who, "task_claim", map[string]any{})["work"].(map[string]any)
		finds("during "+tt.role, tt.not...)
		h.must(tt.who, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"],
			"outcome": "released"})
		finds("after " + tt.role)
		h.must(h.lead, "task_cancel", map[string]any{"work_id": w["work_id"]})
	}
}
