package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/roles"
	"cordelia/schemas"
)

// charter is what a role may do by itself, and how it stands.
func (h homestead) charter(n *ops.Service, ann ops.Caller, role string) (autonomous []any, state string) {
	h.Helper()
	r := h.call(n, ann, "role_list", `{"role":"`+role+`"}`)["role"].(map[string]any)
	authority, _ := r["authority"].(map[string]any)
	autonomous, _ = authority["autonomous"].([]any)
	return autonomous, r["state"].(string)
}

// INV-RESTORE: nothing brings an older, broader charter back: not for a role that was narrowed and goes
// on, not the resumption of one that was narrowed and suspended, not the file that says that a role is in
// testing, not a role that had ended, and not one backup after another.
func TestARestoreBringsBackNoOlderCharter_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	narrow := strings.Replace(firm, "authority: {autonomous: [sell]}}\n  - {role_id: buyer",
		"authority: {forbidden: [sell]}}\n  - {role_id: buyer", 1)
	alone := firm[:strings.Index(firm, "  - {role_id: buyer")]
	tested := strings.Replace(alone, "role_id: seller", "role_id: seller, status: testing", 1)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		h.apply(n, ann, "workspace: firm\nroles: [{role_id: other, soul: You wait.}]\n")
	})
	before := h.backup("before.db")
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		h.apply(n, ann, firm+"  - {role_id: other, soul: You wait.}\n")
	})
	broad := h.backup("broad.db")

	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		h.apply(n, ann, narrow+"  - {role_id: other, soul: You wait.}\n")
	})
	h.restore(broad)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		may, state := h.charter(n, ann, "seller")
		require.Empty(t, may, "the charter is the one of now, also if nothing but the charter changed")
		require.Equal(t, "active", state)
		_, err := n.MoveRole(t.Context(), ann, "", "seller", schemas.Suspend, "too dear")
		require.NoError(t, err)
		_, err = n.MoveRole(t.Context(), ann, "", "buyer", schemas.RoleTerminate, "not needed")
		require.NoError(t, err)
	})
	for range 2 { // also a restore of what was restored
		h.restore(broad)
		h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
			require.Equal(t, map[string]string{"seller": "suspended", "other": "active"}, h.states(n, ann))
			may, _ := h.charter(n, ann, "seller")
			require.Empty(t, may, "the charter is the one of now")
		})
	}
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		_, err := n.MoveRole(t.Context(), ann, "", "seller", schemas.Resume, "")
		require.NoError(t, err)
		may, state := h.charter(n, ann, "seller")
		require.Empty(t, may)
		require.Equal(t, "active", state)
		h.apply(n, ann, tested)
	})

	h.restore(broad)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		require.Equal(t, map[string]string{"seller": "testing", "other": "suspended"}, h.states(n, ann))
	})

	h.restore(before)
	require.Len(t, h.restore(broad).SuspendedRoles, 2, "what the database in between did not know")
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		h.apply(n, ann, tested)
		_, state := h.charter(n, ann, "seller")
		require.Equal(t, "testing", state, "the file resumes it into what it says")
	})
}

// INV-RESTORE: a question goes to the one who is asked now, and only as it was asked.
func TestARestoreBringsBackNoOtherQuestion_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		h.worker(n, ann, "w")
		h.apply(n, ann, firm)
		h.call(n, ann, "role_event", `{"type":"refund.asked","domain":"sales"}`)
		h.call(n, ann, "role_event", `{"type":"refund.asked","domain":"stock"}`)
	})
	for what, change := range map[string]string{
		"asked": `UPDATE role_asks SET asked = (SELECT id FROM entities WHERE name = 'w'), deadline = deadline + 1`,
		"shown": `UPDATE role_asks SET shows = 'nothing of note' WHERE agent IN
			(SELECT agent FROM roles WHERE role_id = 'seller')`,
		"data": `UPDATE role_asks SET data = '{"template":"t"}'`,
	} {
		backup := h.backup(what + ".db")
		alter(t, backup, change)
		report := h.restore(backup)
		h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
			for _, one := range h.call(n, ann, "review_list", `{}`)["waiting"].([]any) {
				require.NotEqual(t, "nothing of note", one.(map[string]any)["shows"])
			}
			asked := h.count(n, `SELECT count(*) FROM role_asks WHERE asked <> ? AND state = 'pending'`, ann.Principal.Entity)
			require.Zero(t, asked, what)
			require.Zero(t, h.count(n, `SELECT count(*) FROM role_asks WHERE data <> '{}' AND state = 'pending'`), what)
			require.Zero(t, h.count(n, `SELECT count(*) FROM role_asks WHERE shows = 'nothing of note' AND
				state = 'pending'`), what)
		})
		if what == "asked" {
			require.Zero(t, report.Withdrawn, "it goes on")
		}
	}
}

// A workspace stays as it is now: its webhooks and the actions of its operators, too.
func TestARestoreKeepsTheWorkspaceOfNow_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	scheduled := strings.Replace(firm, "{role_id: seller,", "{role_id: seller, every: [{every: 1h, type: lead.came}],", 1)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) { h.apply(n, ann, scheduled) })
	backup := h.backup("b.db")
	now := strings.Replace(strings.Replace(firm, "refund: refund.asked", "refund: refund.due", 1), "  crm:", "  shop:", 1)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) { h.apply(n, ann, now) })
	report := h.restore(backup)
	require.Contains(t, report.Notes, "the workspace firm stays as it is now")
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		w, err := roles.Parse([]byte(now))
		require.NoError(t, err)
		p, err := n.ApplyWorkspace(t.Context(), ann, w, true)
		require.NoError(t, err)
		require.Empty(t, p.Changes)
		require.Equal(t, 1, h.count(n, `SELECT count(*) FROM role_hooks WHERE source = 'shop'`))
		require.Zero(t, h.count(n, `SELECT count(*) FROM role_hooks WHERE source = 'crm'`))
		require.Zero(t, h.count(n, `SELECT count(*) FROM role_schedules`))
	})
}

// count is a number that a query gives.
func (h homestead) count(n *ops.Service, query string, args ...any) (found int) {
	h.Helper()
	require.NoError(h, n.Store.Read(h.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(query, args...).Scan(&found)
	}))
	return found
}
