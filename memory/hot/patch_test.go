package hot

import (
	"math/rand/v2"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/memory/canonical"
	"cordelia/schemas"
)

// Every example of RFC 7396, appendix A.
func TestMergePatchRFC7396(t *testing.T) {
	for _, c := range []struct{ original, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		original := decoded(t, c.original)
		require.Equal(t, decoded(t, c.want), mergePatch(original, decoded(t, c.patch)), "%s + %s", c.original,
			c.patch)
		require.Equal(t, decoded(t, c.original), original, "the original was changed by %s", c.patch)
	}
}

// The example of RFC 7396, section 3.
func TestMergePatchExample(t *testing.T) {
	got := mergePatch(
		decoded(t, `{"title":"Goodbye!","author":{"givenName":"John","familyName":"Doe"},"tags":["example","sample"],"content":"This will be unchanged"}`),
		decoded(t, `{"title":"Hello!","phoneNumber":"+01-123-456-7890","author":{"familyName":null},"tags":["example"]}`))
	require.Equal(t, decoded(
		t, `{"title":"Hello!","author":{"givenName":"John"},"tags":["example"],"content":"This will be unchanged","phoneNumber":"+01-123-456-7890"}`), got)
}

func FuzzMergePatch(f *testing.F) {
	f.Add([]byte(`{"a":{"b":1}}`), []byte(`{"a":{"b":null,"c":[null]}}`))
	f.Add([]byte(`[1]`), []byte(`{"a":{"b":{"c":null}}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var target, patch any
		if len(a)+len(b) > 4096 || json.Unmarshal(a, &target) != nil || json.Unmarshal(b, &patch) != nil {
			return
		}
		before, err := canonical.Of(target)
		if err != nil {
			return
		}
		got := mergePatch(target, patch)
		after, err := canonical.Of(target)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "the target was changed")
		require.Equal(t, reference(target, patch), got)
		require.Equal(t, got, mergePatch(got, patch), "a second application changes nothing")
	})
}

// reference is the pseudocode of RFC 7396, section 2, word for word, on a copy.
func reference(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	result := map[string]any{}
	if t, ok := target.(map[string]any); ok {
		for name, value := range t {
			result[name] = value
		}
	}
	for name, value := range p {
		if value == nil {
			delete(result, name)
		} else {
			result[name] = reference(result[name], value)
		}
	}
	return result
}

// Patch then read is what RFC 7396 says, but for updated_at.
func TestPatchThenReadIsRFC7396(t *testing.T) {
	n := newNode(t)
	r := rand.New(rand.NewPCG(7, 396))
	accepted := 0
	for range 150 {
		before := n.read(workerAgent)
		patch := randomPatch(r)
		raw, err := json.Marshal(patch)
		require.NoError(t, err)
		after, err := n.tryWrite(workerAgent, Patch, string(raw), "")
		if err != nil {
			require.ErrorIs(t, err, schemas.ErrInvalid)
			require.Equal(t, before.Context, n.read(workerAgent).Context, "a refused patch changed something")
			continue
		}
		accepted++
		want := reference(before.Context, patch).(map[string]any)
		want["updated_at"] = after.UpdatedAt
		require.Equal(t, want, after.Context, string(raw))
		require.Equal(t, after.Context, n.read(workerAgent).Context)
	}
	require.Greater(t, accepted, 75)
	require.Less(t, accepted, 150)
}

// randomPatch mostly fits the schema, and deletes as often as it sets.
func randomPatch(r *rand.Rand) map[string]any {
	patch := map[string]any{}
	fields := []struct{ section, field string }{
		{"identity", "name"}, {"identity", "tz"}, {"active", "focus"}, {"active", "project"},
		{"ephemeral", "last_summary"}, {"agent", "working_memory"}, {"agent", "task"},
	}
	for range 1 + r.IntN(4) {
		f := fields[r.IntN(len(fields))]
		object := holder(patch, f.section)
		if object == nil {
			object = map[string]any{}
			patch[f.section] = object
		}
		switch {
		case r.IntN(3) == 0:
			object[f.field] = nil
		case f.field == "working_memory":
			object[f.field] = map[string]any{string(rune('a' + r.IntN(3))): []any{nil, float64(r.IntN(9)),
				map[string]any{"x": nil}, "s"}[r.IntN(4)]}
		case f.field == "task":
			object[f.field] = map[string]any{"progress": r.Float64() * 1.1}
		default:
			object[f.field] = string(rune('a' + r.IntN(26)))
		}
	}
	if r.IntN(10) == 0 { // a whole section, and one that the node has a part in
		patch[[]string{"active", "prefs", "identity"}[r.IntN(3)]] = nil
	}
	return patch
}

// No write changes a node-owned field, and each is refused by name.
func TestNodeOwnedFieldsAreRefused(t *testing.T) {
	n := newNode(t)
	n.mustStart(workerAgent, "s0")
	n.mustEnd(workerAgent, "s0", Note{})
	n.mustStart(workerAgent, "s1")
	read := n.read(workerAgent)
	owned := []string{
		"/version", "/updated_at", "/identity/id",
		"/ephemeral/session_count", "/ephemeral/current_session_start", "/ephemeral/last_session_end",
		"/ephemeral/integrity",
		"/agent/parent_entity_id", "/agent/agent_type", "/agent/capabilities", "/agent/event_queue",
	}
	for _, pointer := range owned {
		section, field := split(pointer)
		for name, value := range map[string]any{"changed": "x", "deleted": nil} {
			require.Contains(t, holder(read.Context, section), field)
			data := map[string]any{field: value}
			if section != "" {
				data = map[string]any{section: data}
			}
			raw, err := json.Marshal(data)
			require.NoError(t, err)
			_, err = n.tryWrite(workerAgent, Patch, string(raw), "")
			require.Contains(t, accesstest.Paths(t, err), pointer, "%s patch", name)
			_, err = n.tryWrite(workerAgent, Replace, string(raw), "")
			require.Contains(t, accesstest.Paths(t, err), pointer, "%s replace", name)
		}
	}
	_, err := n.tryWrite(workerAgent, Patch, `{"identity":null}`, "")
	require.Contains(t, accesstest.Paths(t, err), "/identity/id")
	require.Equal(t, read.Context, n.read(workerAgent).Context)
}

// What was read can be written back, whole.
func TestReplaceRoundTrip(t *testing.T) {
	n := newNode(t)
	n.mustStart(workerAgent, "s1")
	n.write(workerAgent, Patch, `{"identity":{"style":["terse"]},"agent":{"task":{"goal":"g","progress":0.5},"working_memory":{"k":{"deep":[1,null]}}}}`)
	read := n.read(workerAgent)
	raw, err := read.JSON()
	require.NoError(t, err)
	for _, op := range []Operation{Replace, Patch} {
		if op == Patch { // a null inside an object would delete there, and working_memory holds none
			raw, err = n.read(workerAgent).JSON()
			require.NoError(t, err)
		}
		after, err := n.tryWrite(workerAgent, op, string(raw), "")
		require.NoError(t, err)
		want := read.Context
		want["updated_at"] = after.UpdatedAt
		require.Equal(t, want, after.Context)
	}
}

func TestReplaceClearsWhatItLeavesOut(t *testing.T) {
	n := newNode(t)
	n.write(workerAgent, Patch, `{"active":{"focus":"old","next":["x"]},"agent":{"working_memory":{"a":1}}}`)
	after := n.write(workerAgent, Replace, `{"active":{"focus":"new"}}`)
	require.Equal(t, map[string]any{"focus": "new"}, after.Context["active"])
	require.Equal(t, map[string]any{"id": string(workerAgent)}, after.Context["identity"])
	require.NotContains(t, after.Context["agent"], "working_memory")
	require.NoError(t, n.do(workerAgent, access.Read, func(g access.Grant) error { return Verify(g, workerAgent) }))
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return v
}
