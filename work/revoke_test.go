package work

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// Whatever takes what a lease rests on ends it in the same transaction, once, and
// another agent gets the item (F10 of the capability vectors).
func TestRevocationEndsLeases_INV_LEASE(t *testing.T) {
	expect := f10(t)
	for name, take := range map[string]func(n *node, g access.Grant) (schemas.EntityID, error){
		"child suspended": func(_ *node, g access.Grant) (schemas.EntityID, error) {
			_, err := g.Tx().Exec(`UPDATE entities SET status = 'suspended' WHERE id = ?`, a)
			return a, err
		},
		"parent removed": func(_ *node, g access.Grant) (schemas.EntityID, error) {
			_, err := g.Tx().Exec(`UPDATE entities SET status = 'removed' WHERE id = ?`, a)
			return a, err
		},
		"tool taken": func(_ *node, g access.Grant) (schemas.EntityID, error) {
			_, err := g.Tx().Exec(
				`UPDATE entities SET capabilities = replace(capabilities, '"task_claim",', '') WHERE id = ?`, a)
			return a, err
		},
		"needed tool taken": func(_ *node, g access.Grant) (schemas.EntityID, error) {
			_, err := g.Tx().Exec(
				`UPDATE entities SET capabilities = replace(capabilities, ',"shell"', '') WHERE id = ?`, a)
			return a, err
		},
		"left the group": func(_ *node, g access.Grant) (schemas.EntityID, error) {
			_, err := g.Tx().Exec(`DELETE FROM members WHERE entity_id = ?`, a)
			return a, err
		},
		"looks on": func(_ *node, g access.Grant) (schemas.EntityID, error) {
			_, err := g.Tx().Exec(`UPDATE members SET role = 'viewer' WHERE entity_id = ?`, a)
			return a, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			who := a
			_, ids := n.submit(lead, "team", Draft{Intent: "x", Needs: []string{"shell"}})
			if name == "parent removed" {
				who = kid
				n.Join("team", kid, "member")
				require.NoError(t, n.Store.Write(t.Context(), access.BumpEpoch))
			}
			old := n.claim(who)
			n.must(ann, func(g access.Grant) error { return Revoke(g, a) })
			require.Equal(t, schemas.WorkLeased, n.state(ids[0]), "whoever may keep it keeps it")
			n.must(ann, func(g access.Grant) error {
				id, err := take(n, g)
				require.NoError(t, err)
				require.NoError(t, g.RightsChanged())
				return Revoke(g, id)
			})
			require.Equal(t, schemas.WorkReady, n.state(ids[0]), expect)
			require.Zero(t, n.one(`SELECT count(*) FROM slots`))
			now := n.claim(b)
			require.Equal(t, old.WorkID, now.WorkID)
			require.Equal(t, old.Fence+1, now.Fence)
			n.none(lead)
			require.Zero(t, n.one(`SELECT expiries FROM work_items`), "it counts for nobody's failure")
		})
	}
}

// The node refuses the report of an agent that may not write in the group any more, also while the agent
// has the lease.
func TestReportNeedsTheRightToWriteInTheGroup(t *testing.T) {
	n := newNode(t)
	_, ids := n.submit(lead, "team", todo("x"))
	c := n.claim(a)
	n.must(ann, func(g access.Grant) error {
		_, err := g.Tx().Exec(`UPDATE members SET role = 'viewer' WHERE entity_id = ?`, a)
		require.NoError(t, err)
		return g.RightsChanged()
	})
	_, err := n.tryReport(a, c, Done, `1`, noReview)
	require.ErrorIs(t, err, schemas.ErrDenied)
	require.Equal(t, schemas.WorkLeased, n.state(ids[0]))
}

// f10 is what the vector expects, once its events are those played here.
func f10(t *testing.T) string {
	raw, err := os.ReadFile(filepath.Join("..", "access", "testdata", "capability_vectors.json"))
	require.NoError(t, err)
	var vectors map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &vectors))
	for _, list := range vectors {
		var all []struct {
			ID, Expect string
			Events     []string
		}
		if json.Unmarshal(list, &all) != nil {
			continue
		}
		for _, v := range all {
			if v.ID == "F10" {
				require.Equal(t, []string{"lease claimed by child", "child revoked"}, v.Events)
				return v.Expect
			}
		}
	}
	require.FailNow(t, "there is no F10")
	return ""
}
