package ops_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops/opstest"
)

// A file and an approved draft change of a role's rights what they are about: what its owner took from the
// role's agent stays taken.
func TestWhatWasTakenFromARoleStaysTaken(t *testing.T) {
	f := newFirm(t, company)
	rights := func(change map[string]any) map[string]any {
		return f.Must(f.person, "agent_capabilities", opstest.With(map[string]any{"agent": "cmo"},
			change))["capabilities"].(map[string]any)
	}
	fresh := rights(nil)
	taken := rights(map[string]any{"tools": []string{"-task_claim", "-review_decide"}, "capabilities": map[string]any{
		"max_parallel_ops": 1, "memory_read": map[string]any{"visibility": []string{"private"}}}})
	require.Len(t, taken["tools"], len(fresh["tools"].([]any))-2)
	is := func(spawns bool, ttl float64) {
		t.Helper()
		want, got := maps.Clone(taken), rights(nil)
		want["ttl_seconds"] = ttl
		if spawns {
			want["tools"] = append(slices.Clone(taken["tools"].([]any)), "role_spawn")
			want["max_delegation_depth"] = taken["max_delegation_depth"].(float64) + 1
		}
		require.ElementsMatch(t, want["tools"], got["tools"])
		want["tools"] = got["tools"]
		require.Equal(t, want, got)
	}
	lives := func(file string) string {
		return strings.Replace(file, "  - role_id: cmo\n", "  - role_id: cmo\n    ttl: 90d\n", 1)
	}
	spawns := strings.Replace(company, "allowed_spawners: [cro]", "allowed_spawners: [cro, cmo]", 1)
	cmo := f.Caller("cmo")
	f.apply(lives(company))
	is(false, 90*24*3600)
	f.apply(spawns)
	is(true, 0)
	f.apply(company)
	is(false, 0)
	f.Must(cmo, "role_draft", map[string]any{"name": "writer", "intent": "more words", "template": map[string]any{
		"name_pattern": "Writer {topic}", "soul_template": "You write of {topic}.", "parameters": []string{"topic"}}})
	_, err := f.decide(f.person, f.waiting(f.person), "approve", "")
	require.NoError(t, err)
	is(true, 0)

	f.apply(spawns)
	rights(map[string]any{"tools": []string{"-role_spawn"}})
	f.apply(lives(spawns))
	require.NotContains(t, rights(nil)["tools"], "role_spawn")
}
