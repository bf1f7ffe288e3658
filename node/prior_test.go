package node_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/ops/opstest"
	"cordelia/schemas"
	"cordelia/trust"
)

// startsAt opens the home as a process does whose settings say how agents start.
func (h homestead) startsAt(mean float64, strength int) (*ops.Service, ops.Caller) {
	h.Helper()
	p, err := trust.NewPrior(mean, strength)
	require.NoError(h, err)
	n, err := ops.Open(h.Context(), node.Config{Home: h.home, Durability: store.Relaxed, Prior: p})
	require.NoError(h, err)
	h.Cleanup(func() { n.Close() }) //nolint:errcheck // it may be closed already
	r := n.Keyring(nil)
	h.Cleanup(r.Close)
	ann, err := n.Person(h.Context(), r, "test")
	require.NoError(h, err)
	return n, ann
}

// claim has the user give a verdict on an item of an agent.
func (h homestead) claim(n *ops.Service, ann ops.Caller, agent schemas.EntityID, text, verdict string) {
	h.Helper()
	id := h.call(n, ann, "memory_write_warm", fmt.Sprintf(`{"type":"learning","data":{"type":"insight","content":%q}}`,
		text))["id"]
	require.NoError(h, n.Store.Write(h.Context(), func(tx *store.Tx) error {
		if err := tx.Act(store.AnyOwner); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE items SET author = ? WHERE id = ?`, agent, id)
		return err
	}))
	h.call(n, ann, "trust_assess", fmt.Sprintf(`{"id":%q,"verdict":%q}`, id, verdict))
}

// score is the accuracy of an agent, once every score follows from the ledger.
func (h homestead) score(n *ops.Service, ann ops.Caller, agent string) any {
	h.Helper()
	_, err := n.VerifyTrust(h.Context(), ann.Principal)
	require.NoError(h, err)
	return h.call(n, ann, "trust_score", fmt.Sprintf(`{"agent":%q}`, agent))["accuracy"]
}

// Processes whose settings differ share a node: whoever is registered starts as the
// process that registers it says, on every way there is to make an agent, and the
// others' settings change nobody's score.
func TestAgentsStartAsWasSetThen(t *testing.T) {
	h := newHomestead(t)
	severe, ann := h.startsAt(0.4, 10)
	kind, bob := h.startsAt(0.7, 20)
	a := h.worker(severe, ann, "a")
	h.worker(kind, bob, "b")
	for _, n := range []*ops.Service{severe, kind} {
		require.Equal(t, 0.4, h.score(n, ann, "a"))
		require.Equal(t, 0.7, h.score(n, bob, "b"))
		require.Equal(t, 0.6, h.score(n, bob, "claude-code"), "it was there before")
	}
	file, err := kind.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	lead, err := kind.Caller(t.Context(), file, "s")
	require.NoError(t, err)
	h.worker(kind, lead, "c")
	require.Equal(t, 0.6, h.score(kind, bob, "c"), "as its registrar stands")
	made := h.call(severe, ann, "swarm_create",
		`{"swarm_id":"swarm-team","goal":"find out","strategy":"broadcast","agents":[{"slot":"s","count":2}]}`)
	for _, a := range made["agents"].([]any) {
		require.Equal(t, 0.4, h.score(severe, ann, a.(map[string]any)["agent_id"].(string)))
	}
	_, adopt := h.visitor()
	adopt(kind, bob)
	require.Equal(t, 0.5, h.score(kind, bob, "visitor"))

	h.claim(kind, bob, a, "a claim", "right")
	require.Equal(t, 5.0/11, h.score(kind, bob, "a"), "from its own prior")
	h.call(kind, bob, "agent_deactivate", `{"agent":"a"}`)
	h.call(kind, bob, "agent_lifecycle", `{"agent":"a","action":"reactivate"}`)
	require.Equal(t, 5.0/11, h.score(kind, bob, "a"), "nor does it start anew")
}

// visitor is the record of an agent of another node, and what takes it in.
func (h homestead) visitor() (schemas.EntityID, func(*ops.Service, ops.Caller)) {
	h.Helper()
	away := opstest.New(h.T)
	record, err := away.Node.RecordOf(h.Context(), away.Person().Principal, "claude-code")
	require.NoError(h, err)
	return record.AgentID, func(n *ops.Service, ann ops.Caller) {
		h.Helper()
		_, err := n.Adopt(h.Context(), ann.Principal, node.Adoption{Record: record, Name: "visitor"})
		require.NoError(h, err)
	}
}

// An agent that a restore lost and whose key is registered again goes on where it
// stood.
func TestALostAgentKeepsItsRecord_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	visitor, adopt := h.visitor()
	before := h.backup("before.db")
	n, ann := h.startsAt(0.4, 10)
	adopt(n, ann)
	for i := range 3 {
		h.claim(n, ann, visitor, fmt.Sprintf("claim %d of %d", i, i*i), "wrong")
	}
	require.Equal(t, 4.0/13, h.score(n, ann, "visitor"))
	require.NoError(t, n.Close())
	with := h.backup("with.db")

	require.Len(t, h.restore(before).Lost, 1)
	n, ann = h.startsAt(0.7, 20)
	adopt(n, ann)
	require.Equal(t, 4.0/13, h.score(n, ann, "visitor"))
	require.NoError(t, n.Close())

	// Where the database was lost nothing is known of it; once the backup is there
	// again its record is.
	for _, ending := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.RemoveAll(h.home.Database()+ending))
	}
	_, err := node.Restore(t.Context(), h.home, node.RestoreOptions{Backup: before, AcceptBackup: true})
	require.NoError(t, err)
	n, ann = h.startsAt(0.7, 20)
	adopt(n, ann)
	require.Equal(t, 0.5, h.score(n, ann, "visitor"))
	require.NoError(t, n.Close())
	require.Equal(t, node.CarriedOver, h.restore(with).Present)
	n, ann = h.startsAt(0.6, 5)
	require.Equal(t, 4.0/13, h.score(n, ann, "visitor"))
}
