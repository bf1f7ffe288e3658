package node_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// What was said of an agent since the backup stays said, whatever it wrote.
func TestRestoreBringsNoTrustBack_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	var worker schemas.EntityID
	claim := func(n *ops.Service, ann ops.Caller, i int, verdict string) {
		id := h.call(n, ann, "memory_write_warm",
			fmt.Sprintf(`{"type":"learning","data":{"type":"insight","content":"claim %d of %d"}}`, i, i*i))["id"]
		require.NoError(t, n.Store.Write(t.Context(), func(tx *store.Tx) error {
			if err := tx.Act(store.AnyOwner); err != nil {
				return err
			}
			_, err := tx.Exec(`UPDATE items SET author = ? WHERE id = ?`, worker, id)
			return err
		}))
		h.call(n, ann, "trust_assess", fmt.Sprintf(`{"id":%q,"verdict":%q}`, id, verdict))
	}
	score := func() (out map[string]any) {
		h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
			out = h.call(n, ann, "trust_score", `{"agent":"w"}`)
			_, err := n.VerifyTrust(t.Context(), ann.Principal)
			require.NoError(t, err)
		})
		return out
	}
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		worker = h.worker(n, ann, "w")
		claim(n, ann, 1, "right")
	})
	path := h.backup("monday.db")
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		for i := range 7 {
			claim(n, ann, 10+i, "wrong")
		}
		h.call(n, ann, "trust_assess", `{"agent":"w","capability":"shell","feedback":"bad"}`)
	})
	before := score()
	require.Equal(t, "low", before["tier"])
	report := h.restore(path)
	require.Contains(t, report.Carried, node.Carried{Name: "w", What: []string{"trust"}})
	require.Equal(t, before, score())
	h.restore(path)
	require.Equal(t, before, score(), "nor does a second one")
}

// A backup whose scores were changed by hand is refused.
func TestRestoreRefusesAlteredTrust_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) { h.worker(n, ann, "w") })
	path := h.backup("monday.db")
	st, err := store.Open(t.Context(), store.Options{Path: path})
	require.NoError(t, err)
	require.NoError(t, st.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE trust_scores SET alpha = 50000`)
		return err
	}))
	require.NoError(t, st.Close())
	_, err = node.Restore(t.Context(), h.home, node.RestoreOptions{Backup: path})
	require.ErrorContains(t, err, "is not what the ledger gives")
}
