package access

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

var knownTools = []string{"agent_register", "memory_search", "memory_share", "memory_write_warm"}

func TestParseCapabilitiesRefuses(t *testing.T) {
	tests := []struct {
		name, raw string
		want      []string
	}{
		{"nothing", ``, []string{"invalid_json"}},
		{"not JSON", `{`, []string{"invalid_json"}},
		{"two values", `{} {}`, []string{"invalid_json"}},
		{"not UTF-8", "{\"tools\":[\"\xff\"]}", []string{"invalid_json"}},
		{"too large", `{"tools":["` + strings.Repeat("a", maxDeclarationBytes) + `"]}`, []string{"too_large"}},
		{"no object", `[]`, []string{"invalid_type"}},
		{"null", `null`, []string{"invalid_type"}},
		{"scope of a wrong type", `{"memory_read":[]}`, []string{"invalid_type:memory_read"}},
		{"scope null", `{"memory_write":null}`, []string{"invalid_type:memory_write"}},
		{"list null", `{"tools":null}`, []string{"invalid_type:tools"}},
		{"list of a wrong type", `{"memory_read":{"groups":"*"}}`, []string{"invalid_type:memory_read.groups"}},
		{"element of a wrong type", `{"memory_read":{"layers":[1,"l2"]}}`, []string{"invalid_type:memory_read.layers"}},
		{"list too long", `{"tools":[` + strings.Repeat(`"memory_search",`, maxListLen) + `"memory_search"]}`,
			[]string{"too_many:tools"}},
		{"visibility", `{"memory_read":{"visibility":["Public"]}}`, []string{"invalid_visibility:memory_read:Public"}},
		{"boolean null", `{"autonomous":null}`, []string{"invalid_type:autonomous"}},
		{"boolean number", `{"autonomous":1}`, []string{"invalid_type:autonomous"}},
		{"ttl null", `{"ttl_seconds":null}`, []string{"invalid_range:ttl_seconds"}},
		{"ttl beyond int64", `{"ttl_seconds":99999999999999999999}`, []string{"invalid_range:ttl_seconds"}},
		{"ttl one over", `{"ttl_seconds":315360001}`, []string{"invalid_range:ttl_seconds"}},
		{"ttl exponent", `{"ttl_seconds":1e2}`, []string{"invalid_range:ttl_seconds"}},
		{"ttl text", `{"ttl_seconds":"1"}`, []string{"invalid_range:ttl_seconds"}},
		{"depth negative", `{"max_delegation_depth":-1}`, []string{"invalid_range:max_delegation_depth"}},
		{"unknown field", `{"tool":[]}`, []string{"unknown_field:tool"}},
		{"unknown field in a scope", `{"memory_read":{"group":[]}}`, []string{"unknown_field:memory_read.group"}},
		{"field in another case", `{"Tools":[]}`, []string{"unknown_field:Tools"}},
		{"field folded by Unicode", `{"tool\u017f":[]}`, []string{"unknown_field:toolſ"}},
		{"repeated field", `{"tools":[],"tools":["memory_search"]}`, []string{"duplicate_field:tools"}},
		{"repeated field, escaped", `{"tools":[],"t\u006fols":["memory_search"]}`, []string{"duplicate_field:tools"}},
		{"repeated in a scope", `{"memory_read":{"groups":[],"groups":["*"]}}`,
			[]string{"duplicate_field:memory_read.groups"}},
		{
			"everything at once, in field order whatever the order sent",
			`{"zzz":1,"max_delegation_depth":9,"autonomous":"x","ttl_seconds":-1,"max_parallel_ops":0,"tools":["*","memory_serch"],
			  "memory_write":{"visibility":["public","all"],"groups":["?"],"layers":["l3"],"x":1},
			  "memory_read":{"visibility":[1],"groups":["A"],"layers":["L1"]}}`,
			[]string{
				"invalid_layer:memory_read:L1", "invalid_pattern:memory_read:A", "invalid_type:memory_read.visibility",
				"invalid_layer:memory_write:l3", "invalid_pattern:memory_write:?", "public_write_forbidden",
				"invalid_visibility:memory_write:all", "unknown_field:memory_write.x",
				"invalid_tool:*", "invalid_tool:memory_serch",
				"invalid_range:max_parallel_ops", "invalid_range:ttl_seconds", "invalid_type:autonomous",
				"invalid_range:max_delegation_depth", "unknown_field:zzz",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := ParseCapabilities([]byte(tt.raw), knownTools)
			require.ErrorIs(t, err, schemas.ErrInvalid)
			require.Equal(t, tt.want, reasons(err))
			require.Zero(t, d)
		})
	}
}

func TestParseCapabilitiesSaysWhereAndWhat(t *testing.T) {
	_, err := ParseCapabilities([]byte(`{"memory_read":{"groups":["ok","no/"]},"tools":["memory_serch","*"],"a/b~":1}`),
		knownTools)
	e := err.(*schemas.Error)
	require.Equal(t, "/memory_read/groups/1", e.Violations[0].Path)
	require.Equal(t, "/tools/0", e.Violations[1].Path)
	require.Contains(t, e.Violations[1].Msg, `did you mean memory_search?`)
	require.Equal(t, "/tools/1", e.Violations[2].Path)
	require.NotContains(t, e.Violations[2].Msg, "did you mean")
	require.Equal(t, "/a~1b~0", e.Violations[3].Path)
}

func TestParseCapabilitiesNormalises(t *testing.T) {
	d, err := ParseCapabilities([]byte(` {
		"memory_read" : { "layers" : ["l2", "l1", "l2"], "groups": ["a**b", "a*b", "c"], "visibility": ["public"] },
		"tools": ["memory_search", "agent_register", "memory_search"],
		"max_parallel_ops" : 100 , "ttl_seconds" : 0 , "autonomous" : true , "max_delegation_depth" : 8 } `), knownTools)
	require.NoError(t, err)
	require.Equal(t, schemas.Capabilities{
		MemoryRead: schemas.MemoryScope{
			Layers: []schemas.Layer{"l2", "l1"}, Groups: []string{"a*b", "c"},
			Visibility: []schemas.Visibility{"public"},
		},
		MemoryWrite: schemas.MemoryScope{Layers: []schemas.Layer{}, Groups: []string{},
			Visibility: []schemas.Visibility{}},
		Tools:          []string{"memory_search", "agent_register"},
		MaxParallelOps: 100, TTLSeconds: 0, Autonomous: true, MaxDelegationDepth: 8,
	}, d.Resolve(schemas.SwarmWorker, nil, 0))
}

func TestResolveFillsOmittedNumbers(t *testing.T) {
	const second = 1_000_000
	empty, err := ParseCapabilities([]byte(`{}`), knownTools)
	require.NoError(t, err)

	link := func(expiresAt int64, depth int) ChainLink {
		return ChainLink{Boundary: Bounded(schemas.Capabilities{MaxDelegationDepth: depth}), ExpiresAt: expiresAt}
	}
	root := ChainLink{Boundary: Top()}
	tests := []struct {
		name      string
		agent     schemas.AgentType
		chain     []ChainLink
		wantTTL   int64
		wantDepth int
	}{
		{"under the human", schemas.SwarmWorker, []ChainLink{root}, 3600, 0},
		{"claude-code under the human", schemas.ClaudeCode, []ChainLink{root}, 3600, 1},
		{"the parent's remaining time", schemas.Custom, []ChainLink{root, link(100*second, 1)}, 90, 0},
		{"never more than an hour", schemas.Custom, []ChainLink{root, link(9999*second, 1)}, 3600, 0},
		{"the earliest of the chain", schemas.Custom, []ChainLink{root, link(50*second, 2), link(100*second, 1)}, 40,
			0},
		{"an unlimited parent", schemas.Custom, []ChainLink{root, link(0, 1)}, 3600, 0},
		{"less than a second left is not unlimited", schemas.Custom, []ChainLink{root, link(10*second+1, 1)}, 1, 0},
		{"nothing left is not unlimited", schemas.Custom, []ChainLink{root, link(1, 1)}, 1, 0},
		{"no depth left", schemas.ClaudeCode, []ChainLink{root, link(0, 1)}, 3600, 0},
		{"depth left", schemas.ClaudeCode, []ChainLink{root, link(0, 3), link(0, 2)}, 3600, 1},
		{"an ancestor reduced since", schemas.ClaudeCode, []ChainLink{root, link(0, 2), link(0, 2)}, 3600, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := empty.Resolve(tt.agent, tt.chain, 10*second)
			require.Equal(t, tt.wantTTL, got.TTLSeconds)
			require.Equal(t, tt.wantDepth, got.MaxDelegationDepth)
			require.Equal(t, 1, got.MaxParallelOps)
			require.False(t, got.Autonomous)
		})
	}
}

// FuzzParseCapabilities checks that what is accepted is valid in every field and
// survives being stored and read back.
func FuzzParseCapabilities(f *testing.F) {
	f.Add([]byte(`{"memory_read":{"layers":["l1"],"groups":["a**"],"visibility":["private"]},"tools":["memory_search"],"ttl_seconds":1}`))
	f.Add([]byte(`{"tools":[],"tools":["*"],"ttl_seconds":-0}`))
	f.Add([]byte(`{"memory_write":{"visibility":["public"]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := ParseCapabilities(raw, knownTools)
		if err != nil {
			require.NotEmpty(t, reasons(err))
			return
		}
		c := d.Resolve(schemas.ClaudeCode, nil, 0)
		require.Subset(t, knownTools, c.Tools)
		require.NotContains(t, c.MemoryWrite.Visibility, schemas.Public)
		for _, p := range append(c.MemoryRead.Groups, c.MemoryWrite.Groups...) {
			require.NoError(t, CheckPattern(p))
		}
		require.Empty(t, Within(c, Top()))
		stored, err := json.Marshal(c)
		require.NoError(t, err)
		again, err := ParseCapabilities(stored, knownTools)
		require.NoError(t, err, string(stored))
		require.Equal(t, c, again.Resolve(schemas.Custom, nil, 0))
	})
}

// +name and -name change the present list of tools; what they leave out stays.
func TestParseOverChangesToolsByDifference(t *testing.T) {
	present := json.RawMessage(`{"tools":["memory_search","memory_share"],"ttl_seconds":60}`)
	for given, want := range map[string][]string{
		`{"tools":["+memory_write_warm"]}`:                  {"memory_search", "memory_share", "memory_write_warm"},
		`{"tools":["+memory_write_warm","-memory_search"]}`: {"memory_share", "memory_write_warm"},
		`{"tools":["-memory_share","+memory_search"]}`:      {"memory_search"},
		`{"tools":["-memory_write_warm"]}`:                  {"memory_search", "memory_share"},
		`{"tools":["memory_write_warm"]}`:                   {"memory_write_warm"},
		`{"tools":[]}`:                                      {},
	} {
		d, err := ParseOver(present, json.RawMessage(given), knownTools)
		require.NoError(t, err, given)
		require.Equal(t, want, d.Tools, given)
		require.EqualValues(t, 60, *d.TTLSeconds, given)
	}
	for given, says := range map[string]string{
		`{"tools":["+memory_serch"]}`:                             "invalid_tool:+memory_serch",
		`{"tools":["+memory_search","memory_share"]}`:             "mixed_tools",
		`{"tools":["+memory_search"],"tools":["-memory_search"]}`: "duplicate_field:tools",
		`{"tools":["+"]}`:                                         "invalid_tool:+",
	} {
		_, err := ParseOver(present, json.RawMessage(given), knownTools)
		require.Contains(t, reasons(err), says, given)
	}
	_, err := ParseCapabilities([]byte(`{"tools":["+memory_search"]}`), knownTools)
	require.Contains(t, reasons(err), "invalid_tool:+memory_search", "there is nothing to change")
}
