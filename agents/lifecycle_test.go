package agents_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/agents"
	"cordelia/schemas"
)

// The table decides every move; walking it shows that no state is out of reach,
// no trigger is ambiguous, and removed is final.
func TestLifecycleTable_INV_EDGE(t *testing.T) {
	reached := map[schemas.AgentStatus]bool{schemas.Registered: true}
	type choice struct {
		from schemas.AgentStatus
		on   schemas.Trigger
	}
	seen := map[choice]bool{}
	for range schemas.AgentStatuses() {
		for _, e := range schemas.AgentEdges() {
			if reached[e.From] {
				reached[e.To] = true
			}
		}
	}
	diagram := "stateDiagram-v2\n    [*] --> registered\n"
	for _, e := range schemas.AgentEdges() {
		c := choice{e.From, e.On}
		require.False(t, seen[c], "%s --%s--> is ambiguous", e.From, e.On)
		seen[c] = true
		require.NotEqual(t, schemas.Removed, e.From, "removed is final")
		diagram += "    " + string(e.From) + " --> " + string(e.To) + ": " + string(e.On) + " (" + string(e.By) + ")\n"
	}
	for _, s := range schemas.AgentStatuses() {
		require.True(t, reached[s], "%s cannot be reached", s)
	}
	diagram += "    removed --> [*]\n"
	golden(t, filepath.Join("testdata", "lifecycle.mmd"), diagram)
}

// Every trigger is pulled in every state, by the person above the agent and by the node: a
// move is made only along an edge, and the node's edges are the node's alone.
func TestMoves_INV_EDGE(t *testing.T) {
	n := accesstest.New(t, access.Config{RefusedPerMinute: 1 << 30, FailedPerMinute: 1 << 30})
	bob := accesstest.Named("bob")
	n.Person("ann")
	n.Agent(bob, "ann", "ann", schemas.SwarmWorker, "bob")
	for _, from := range schemas.AgentStatuses() {
		for _, e := range schemas.AgentEdges() {
			for _, who := range []schemas.EntityID{"ann", access.NodeEntity} {
				to, by, known := schemas.NextStatus(from, e.On)
				n.SQL(`UPDATE entities SET status = ?, status_by = 'ann', grace_until = ? WHERE id = ?`, from,
					n.Clock.Micros+1, bob)
				require.NoError(t, n.Store.Write(t.Context(), access.BumpEpoch))
				err := n.Do(who, "agent_lifecycle", access.Write, func(g access.Grant) error {
					_, err := agents.Move(g, string(bob), e.On, "", agents.DefaultPeriods())
					return err
				})
				if !known || by == schemas.ByNode && who != access.NodeEntity {
					require.Error(t, err, "%s pulls %s in %s", who, e.On, from)
					to = from
				} else {
					require.NoError(t, err, "%s pulls %s in %s", who, e.On, from)
				}
				require.Equal(t, to, accesstest.One[schemas.AgentStatus](n, `SELECT status FROM entities WHERE id = ?`,
					bob))
			}
		}
	}
}

func golden(t *testing.T, path, content string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run UPDATE_GOLDEN=1 go test ./...")
	require.Equal(t, string(want), content)
}

// SQL's own list of states is the table's.
func TestLifecycleStatesAgreeWithSQL(t *testing.T) {
	ddl, err := os.ReadFile(filepath.Join("..", "internal", "store", "migrations", "0001_foundation.sql"))
	require.NoError(t, err)
	list := "'registered', 'active', 'suspended', 'deactivated', 'removed'"
	require.Contains(t, string(ddl), "status IN ("+list+")")
	got := ""
	for i, s := range schemas.AgentStatuses() {
		if i > 0 {
			got += ", "
		}
		got += "'" + string(s) + "'"
	}
	require.Equal(t, list, got)
}
