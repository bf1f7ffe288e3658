package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/ops"
	"cordelia/roles"
	"cordelia/schemas"
)

const firm = `
workspace: firm
operators:
  desk:
    triggers: {sell: lead.came, refund: refund.asked}
    does: {intent: "{action}"}
webhooks:
  crm: {domain: sales, signature: X-Sign, delivery: X-Id, type: event, events: {won: lead.came}}
roles:
  - {role_id: seller, soul: You sell., domains: [sales], operator_ids: [desk], authority: {autonomous: [sell]}}
  - {role_id: buyer, soul: You buy., domains: [stock], operator_ids: [desk], authority: {autonomous: [sell]}}
`

func (h homestead) apply(n *ops.Service, ann ops.Caller, file string) roles.Plan {
	h.Helper()
	w, err := roles.Parse([]byte(file))
	require.NoError(h, err)
	p, err := n.ApplyWorkspace(h.Context(), ann, w, false)
	require.NoError(h, err)
	return p
}

// states are those of the roles, by name.
func (h homestead) states(n *ops.Service, ann ops.Caller) map[string]string {
	h.Helper()
	out := map[string]string{}
	for _, r := range h.call(n, ann, "role_list", `{}`)["roles"].([]any) {
		r := r.(map[string]any)
		out[r["role"].(string)] = r["state"].(string)
	}
	return out
}

// INV-RESTORE: after a restore a role stands as it stood before, and what it asked waits if it still
// waited; one that only the backup knows is suspended, and the list of roles says why and what brings it back.
func TestARestoreTakesFromRolesWhatTheyHaveNoMore_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {})
	empty := h.backup("empty.db")
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		h.apply(n, ann, firm)
		h.call(n, ann, "role_event", `{"type":"refund.asked","domain":"sales"}`)
	})
	backup := h.backup("first.db")

	report := h.restore(backup)
	require.Empty(t, report.SuspendedRoles)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		require.Equal(t, map[string]string{"seller": "active", "buyer": "active"}, h.states(n, ann))
		require.Len(t, h.call(n, ann, "review_list", `{}`)["waiting"], 1)

		// a role that the owner suspended, and a question that was refused, stay so
		_, err := n.MoveRole(t.Context(), ann, "", "buyer", schemas.Suspend, "too dear")
		require.NoError(t, err)
		asked := h.call(n, ann, "review_list", `{}`)["waiting"].([]any)[0].(map[string]any)
		h.call(n, ann, "review_decide", fmt.Sprintf(`{"decisions": [{"id": %q, "decision": "reject", "hash": %q,
			"reason": "no"}]}`, asked["id"], asked["hash"]))
	})
	report = h.restore(backup)
	require.Contains(t, report.Carried, node.Carried{Name: "buyer", What: []string{"status suspended", "role suspended"}})
	require.Equal(t, 1, report.Withdrawn)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		require.Empty(t, h.call(n, ann, "review_list", `{}`)["waiting"])
		require.Equal(t, map[string]string{"seller": "active", "buyer": "suspended"}, h.states(n, ann))
		require.Empty(t, h.apply(n, ann, firm).Changes, "the file does not resume what its owner suspended")
	})

	h.restore(empty)
	report = h.restore(backup)
	require.Len(t, report.SuspendedRoles, 2)
	require.Equal(t, "buyer", report.SuspendedRoles[0].Role)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		d := h.call(n, ann, "role_event", `{"type":"lead.came","domain":"stock"}`)["decisions"].([]any)
		reason := d[0].(map[string]any)["reason"].(string)
		require.Contains(t, reason, "no active role owns stock; buyer is suspended: it was restored from a backup")
		require.Contains(t, reason, "cordelia role apply FILE")
		status, err := n.Status(t.Context(), ann)
		require.NoError(t, err)
		require.Len(t, status.Roles, 2)
		require.Equal(t, "cordelia role apply FILE", status.Roles[0].Back)
		found, err := n.InspectRoles(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"buyer of firm", "seller of firm"}, found.Restored)
		require.Equal(t, "resume", h.apply(n, ann, firm).Changes[0].Does)
	})
}

// On a new machine the person has said that everyone has the rights of the backup: roles go on, and
// the restore names the webhooks whose secrets did not come along.
func TestRolesMoveToANewMachine(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) { h.apply(n, ann, firm) })
	backup := h.backup("move.db")
	there := homestead{T: t, home: node.Home(filepath.Join(t.TempDir(), "home"))}
	o := node.RestoreOptions{Backup: backup, Key: h.home.HumanKey(), AcceptBackup: true}
	o.DryRun = true
	report, err := node.Restore(t.Context(), there.home, o)
	require.NoError(t, err)
	require.Equal(t, []string{"crm"}, report.NoSecret)
	o.DryRun = false
	require.NoError(t, os.MkdirAll(filepath.Dir(there.home.HookSecret("crm")), 0o700))
	require.NoError(t, os.WriteFile(there.home.HookSecret("crm"), []byte("s"), 0o600))
	report, err = node.Restore(t.Context(), there.home, o)
	require.NoError(t, err)
	require.Empty(t, report.NoSecret)
	require.Empty(t, report.SuspendedRoles)
	there.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		require.Equal(t, map[string]string{"seller": "active", "buyer": "active"}, there.states(n, ann))
	})
}
