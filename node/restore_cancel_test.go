package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/ops"
)

// INV-RESTORE: work that was cancelled since a backup is not offered again: by whom it was
// submitted, or of a role.
func TestARestoreOffersNoCancelledWork_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	var task, sale string
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		two := `{"items":[{"intent":"carry a crate"},{"intent":"carry another"}]}`
		task = h.call(n, ann, "task_submit", two)["task_id"].(string)
		h.apply(n, ann, firm)
		d := h.call(n, ann, "role_event", `{"type":"lead.came","domain":"sales"}`)["decisions"].([]any)
		sale = d[0].(map[string]any)["work_id"].(string)
		h.call(n, ann, "role_event", `{"type":"lead.came","domain":"stock"}`)
	})
	backup := h.backup("b.db")
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		h.call(n, ann, "task_cancel", `{"task_id":"`+task+`"}`)
		h.call(n, ann, "task_cancel", `{"work_id":"`+sale+`"}`)
	})
	h.restore(backup)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		require.Equal(t, 3, h.count(n, `SELECT count(*) FROM work_items WHERE state = 'cancelled'`))
		require.Equal(t, 1, h.count(n, `SELECT count(*) FROM work_items WHERE state = 'ready'`))
	})
}
