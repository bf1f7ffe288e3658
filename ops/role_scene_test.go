package ops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops/opstest"
	"cordelia/schemas"
)

// A workspace is apart: its roles neither see nor reach those of another, its policy bounds how
// many there are, and with strict isolation none reads what the owner keeps for it.
func TestAWorkspaceIsABoundary(t *testing.T) {
	f := newFirm(t, strings.Replace(company, "max_roles: 100", "max_roles: 3", 1))
	f.apply(triage)
	cro, triager := f.Caller("cro"), f.Caller("triager")
	require.NotContains(t, fmt.Sprint(f.Must(triager, "role_list", map[string]any{})), "cro")
	for tool, args := range map[string]map[string]any{
		"role_list":    {"role": "cro"},
		"role_message": {"to": "cro", "content": "Are you there?"},
		"role_event":   {"type": "lead.created", "role": "cro"},
	} {
		_, err := f.Call(triager, tool, args)
		require.ErrorIs(t, err, schemas.ErrNotFound, tool)
		args["workspace"] = "vibe-team"
		_, err = f.Call(triager, tool, args)
		require.ErrorIs(t, err, schemas.ErrNotFound, tool)
	}
	f.Must(f.person, "memory_write_warm", opstest.With(opstest.Note("Common ground"), map[string]any{
		"group": "ws-vibe-team"}))
	require.Empty(t, f.Must(cro, "memory_search", map[string]any{"query": "common ground"})["results"])

	f.Must(cro, "role_spawn", map[string]any{"template": "bdr", "params": map[string]any{"territory": "APAC"}})
	_, err := f.Call(cro, "role_spawn", map[string]any{"template": "bdr", "params": map[string]any{"territory": "EMEA"}})
	require.ErrorIs(t, err, schemas.ErrConflict)
	require.ErrorContains(t, err, "has 3 roles, as many as its policy allows")
	_, err = f.Call(f.Caller("cmo"), "role_spawn", map[string]any{"template": "bdr",
		"params": map[string]any{"territory": "EMEA"}})
	require.ErrorIs(t, err, schemas.ErrDenied, "no allowed spawner")
}

// A child inherits at most 20 insights that its parameters are about, each at 0.7 of its
// confidence, and so does its child again.
func TestInheritanceIsBoundedAndCompounds(t *testing.T) {
	file := strings.Replace(company, "    allowed_spawners: [cro]\n", "    allowed_spawners: [cro, bdr-apac]\n", 1)
	f := newFirm(t, file)
	cro := f.Caller("cro")
	for i := range 25 {
		f.Must(cro, "memory_write_warm", opstest.Note(fmt.Sprintf("Buyers of APAC region %d want invoice form %d", i, i*i)))
	}
	out := f.Must(cro, "role_spawn", map[string]any{"template": "bdr", "params": map[string]any{"territory": "APAC"}})
	require.Equal(t, 20.0, out["inherited"])
	bdr := f.Caller("bdr-apac")
	require.Equal(t, 20, f.Number(`SELECT count(*) FROM items WHERE owner = ? AND confidence = 350
		AND data LIKE '%"inherited"%'`, bdr.Entity))
	out = f.Must(bdr, "role_spawn", map[string]any{"template": "bdr",
		"params": map[string]any{"territory": "APAC region"}})
	require.Positive(t, out["inherited"])
	require.Equal(t, int(out["inherited"].(float64)), f.Number(`SELECT count(*) FROM items WHERE owner = ? AND
		confidence = 245`, f.Caller("bdr-apac-region").Entity))
}

// What a role lost of its trust it does not win back by a child.
func TestAChildIsTrustedNoMore_INV_ROLE_CEILING(t *testing.T) {
	f := newFirm(t, company)
	cro := f.Caller("cro")
	f.send(f.Lead, lead(0, "EMEA"))
	w := f.Must(cro, "task_claim", map[string]any{})["work"].(map[string]any)
	f.Must(cro, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "failed"})
	f.settle()
	out := f.Must(cro, "role_spawn", map[string]any{"template": "bdr", "params": map[string]any{"territory": "APAC"}})
	require.Contains(t, fmt.Sprint(out["clamped"]), "0.30 with qualify_lead becomes 0.15, as cro has")
	d := f.send(f.Lead, map[string]any{"type": "lead.created", "role": "bdr-apac"})
	require.Equal(t, []any{"escalate", true}, []any{d["action"], d["needs_approval"]})
}
