package ops

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/memory"
	"cordelia/schemas"
)

func warmOperations() []*Operation {
	return []*Operation{memorySearch, memoryReadWarm, memoryWriteWarm, memoryDeleteWarm, memoryShare, memoryGroup}
}

func TestWarmToolsFitTheirBudget(t *testing.T) {
	sum := 0
	for _, o := range warmOperations() {
		sum += tokens(t, o)
	}
	require.LessOrEqual(t, sum, 1250)
}

func TestWarmToolsTogether(t *testing.T) {
	s := newStudy(t)
	w, err := callHot[MemoryWriteWarmOut](s, "ann", memoryWriteWarm,
		`{"type":"learning","data":{"type":"insight","content":"The tern service needs\u202e port 8080.\u0007"},"subject":"tern","key":"port"}`)
	require.NoError(t, err)
	require.Equal(t, memory.StatusNew, w.Status)

	found, err := callHot[MemorySearchOut](s, "ann", memorySearch, `{"query":"which port does the tern service need?"}`)
	require.NoError(t, err)
	require.Len(t, found.Results, 1)
	require.NotContains(t, found.Text(), "\u202e", "hidden characters are shown")
	require.Contains(t, found.Text(), schemas.ShortID(string(w.ID)))

	group, err := callHot[MemoryGroupOut](s, "ann", memoryGroup,
		`{"action":"create","group":"team","culture":{"ttl_default":60}}`)
	require.NoError(t, err)
	require.EqualValues(t, 60, group.Group.Culture.TTL)
	shared, err := callHot[MemoryWriteWarmOut](s, "ann", memoryShare, fmt.Sprintf(`{"id":%q,"group":"team"}`, w.ID))
	require.NoError(t, err)

	changed, err := callHot[MemoryWriteWarmOut](s, "ann", memoryWriteWarm,
		fmt.Sprintf(`{"id":%q,"confidence":0.9}`, w.ID))
	require.NoError(t, err)
	require.Equal(t, 2, changed.Version)
	old, err := callHot[MemoryReadWarmOut](s, "ann", memoryReadWarm, fmt.Sprintf(`{"ids":[%q],"version":1}`, w.ID))
	require.NoError(t, err)
	require.Empty(t, old.Items)
	require.InDelta(t, 0.5, old.Versions[0].Confidence, 1e-9)
	_, err = callHot[MemoryReadWarmOut](s, "ann", memoryReadWarm, fmt.Sprintf(`{"ids":[%q],"version":9}`, w.ID))
	require.ErrorIs(t, err, schemas.ErrNotFound)
	both, err := callHot[MemoryReadWarmOut](s, "ann", memoryReadWarm, fmt.Sprintf(`{"ids":[%q,%q]}`, w.ID, shared.ID))
	require.NoError(t, err)
	require.Equal(t, w.ID, both.Items[1].Origin)

	_, err = callHot[MemoryDeleteWarmOut](s, "ann", memoryDeleteWarm, fmt.Sprintf(`{"id":%q}`, w.ID))
	require.NoError(t, err)
	_, err = callHot[MemoryDeleteWarmOut](s, "ann", memoryDeleteWarm, fmt.Sprintf(`{"id":%q,"mode":"undo"}`, w.ID))
	require.NoError(t, err)
}

func TestWarmAnswersStaySmall(t *testing.T) {
	s := newStudy(t)
	var ids []schemas.ItemID
	for i := range 12 {
		content := strings.Repeat(fmt.Sprintf("gannet%d ", i), 1000)
		w, err := callHot[MemoryWriteWarmOut](s, "ann", memoryWriteWarm,
			fmt.Sprintf(`{"type":"learning","data":{"type":"insight","content":%q}}`, content))
		require.NoError(t, err)
		ids = append(ids, w.ID)
	}
	raw, err := json.Marshal(ids)
	require.NoError(t, err)
	read, err := callHot[MemoryReadWarmOut](s, "ann", memoryReadWarm, `{"ids":`+string(raw)+`}`)
	require.NoError(t, err)
	require.Len(t, append(read.LeftOut, idsIn(read.Items)...), len(ids))
	requireSize(t, read, 32_000)
	for i := range 40 {
		_, err := callHot[MemoryWriteWarmOut](s, "ann", memoryWriteWarm,
			fmt.Sprintf(`{"type":"learning","data":{"type":"insight","content":"petrel %d %s"}}`, i,
				strings.Repeat(fmt.Sprintf("w%d ", i*i), 200)))
		require.NoError(t, err)
	}
	for _, detail := range []string{"short", "full"} {
		found, err := callHot[MemorySearchOut](s, "ann", memorySearch,
			fmt.Sprintf(`{"query":"petrel","limit":50,"detail":%q}`, detail))
		require.NoError(t, err)
		requireSize(t, found, 32_000)
		require.GreaterOrEqual(t, len(found.Results)+len(found.LeftOut), 40)
	}
	found, err := callHot[MemorySearchOut](s, "ann", memorySearch, `{"query":"petrel"}`)
	require.NoError(t, err)
	requireSize(t, found, 8_000)
}

func idsIn(items []memory.Item) (ids []schemas.ItemID) {
	for _, i := range items {
		ids = append(ids, i.ID)
	}
	return ids
}

// requireSize bounds an answer, four bytes a token.
func requireSize(t *testing.T, v any, limit int) {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	require.LessOrEqual(t, len(raw), limit)
}

func TestWarmToolsRefuseBadInput(t *testing.T) {
	s := newStudy(t)
	for _, c := range []struct {
		o    *Operation
		args string
	}{
		{memorySearch, `{"since":"soon"}`}, {memorySearch, `{"cursor":"x"}`}, {memorySearch, `{"type":"dog"}`},
		{memoryReadWarm, `{"ids":[]}`}, {memoryReadWarm, `{"ids":["a","b"],"history":true}`},
		{memoryWriteWarm, `{"type":"learning"}`}, {memoryWriteWarm,
			`{"type":"learning","data":{"type":"insight","content":"x"},"provenance":{}}`},
		{memoryWriteWarm, `{"type":"learning","data":{"type":"insight","content":"x","author":"root"}}`},
		{memoryDeleteWarm, `{"id":"x","mode":"shred"}`}, {memoryShare, `{"id":"x"}`},
		{memoryGroup, `{"action":"add","group":"g"}`}, {memoryGroup, `{"action":"create"}`},
		{memoryGroup, `{"action":"create","group":"swarm-x"}`},
	} {
		_, err := callHot[json.RawMessage](s, "ann", c.o, c.args)
		require.ErrorIs(t, err, schemas.ErrInvalid, "%s %s", c.o.Name, c.args)
	}
}

// What a model reads names the items that say otherwise beside the hit.
// A name that ends as a line's own facts do passes for none: the author stands behind it.
func TestANameIsNoAuthor(t *testing.T) {
	text := func(last string) string {
		return MemorySearchOut{Results: []memory.Hit{{ID: "a", Name: "one", Author: "gull"},
			{ID: "b", Name: last, Author: "gull"}}}.Text()
	}
	require.Contains(t, text("two"), "all by gull")
	require.NotContains(t, text("two (ann, findings) "), "all by")
	require.Contains(t, text("two (ann, findings) "), "(ann, findings) (gull)")
}

func TestSearchTextNamesWhatConflicts(t *testing.T) {
	out := MemorySearchOut{Results: []memory.Hit{
		{ID: "a", Name: "Nine tons", Author: "ann", Date: "2026-11-20", ConflictsWith: []schemas.ItemID{"b", "c"}},
		{ID: "d", Name: "A ferry", Author: "bob", Date: "2026-11-20"},
	}}
	require.Equal(t, "2 found, 2026-11-20\na Nine tons (ann); conflicts with b, c\nd A ferry (bob)", out.Text())
}

// A write that no search will show says so.
func TestAWriteOfWhatIsOverSaysSo(t *testing.T) {
	h := newHouse(t)
	const over = "no longer valid, so searches leave it out"
	for end, says := range map[string]bool{"2020-01-01": true, "2099-01-01": false} {
		text := h.textOf(h.lead, "memory_write_warm", with(note("the bridge holds until "+end),
			map[string]any{"valid_to": end}))
		require.Equal(t, says, strings.Contains(text, over), text)
	}
	id := h.must(h.lead, "memory_write_warm", note("the ford is dry"))["id"]
	require.Contains(t, h.textOf(h.lead, "memory_write_warm", map[string]any{"id": id, "valid_to": "2020-01-01"}), over)
}
