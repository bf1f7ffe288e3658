package node_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// Who was hidden since the backup stays hidden, and what was held back stays held.
func TestRestoreUndoesNoDecisionAboutMemory_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	var rule schemas.ItemID
	says := func(n *ops.Service, ann ops.Caller, as, kind, text string) schemas.ItemID {
		w := h.call(n, ann, "memory_write_warm",
			fmt.Sprintf(`{"as":%q,"type":"learning","data":{"type":%q,"content":%q}}`, as, kind, text))
		return schemas.ItemID(w["id"].(string))
	}
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		h.worker(n, ann, "w")
		h.worker(n, ann, "v")
		says(n, ann, "w", "insight", "The dunlin flies at night.")
		rule = says(n, ann, "v", "procedure", "Count every dunlin.")
		require.NoError(t, n.Release(t.Context(), ann, rule, 1, true))
		h.call(n, ann, "agent_lifecycle", `{"agent":"v","action":"quarantine"}`)
	})
	path := h.backup("monday.db")
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		h.call(n, ann, "agent_lifecycle", `{"agent":"w","action":"quarantine"}`)
		h.call(n, ann, "agent_lifecycle", `{"agent":"v","action":"lift"}`)
		require.NoError(t, n.Release(t.Context(), ann, rule, 1, false))
	})
	for range 2 {
		h.restore(path)
		h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
			require.Empty(t, h.call(n, ann, "memory_search", `{"as":"w","query":"dunlin night"}`)["results"])
			require.Empty(t, h.call(n, ann, "memory_search", `{"as":"v","query":"count dunlin"}`)["results"])
			held, err := n.Held(t.Context(), ann)
			require.NoError(t, err)
			require.Len(t, held, 1)
			require.Equal(t, rule, held[0].ID)
			lifted := h.call(n, ann, "agent_lifecycle", `{"agent":"v","action":"lift"}`)
			require.Equal(t, true, lifted["already"], "it was lifted since")
		})
	}
}
