package agents_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/agents"
	"cordelia/schemas"
)

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
