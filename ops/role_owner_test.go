package ops_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// No role, of the file or spawned, takes the name that messages have for the owner. Where one bears it from
// before, a message to the owner goes to the person, and the role works on.
func TestNoRoleIsNamedAsTheOwner(t *testing.T) {
	f := newFirm(t, strings.Replace(company, "BDR - {territory}", "{territory}", 1))
	cro := f.Caller("cro")
	spawn := func(name string) error {
		_, err := f.Call(cro, "role_spawn", map[string]any{"template": "bdr", "params": map[string]any{"territory": name}})
		return err
	}
	for _, name := range []string{"owner", "Owner.", "you"} {
		err := spawn(name)
		require.ErrorIs(t, err, schemas.ErrInvalid, name)
		require.ErrorContains(t, err, "would pass for a person")
	}
	_, err := f.tryApply(strings.Replace(company, "role_id: cmo", "role_id: owner", 1))
	require.ErrorContains(t, err, "must not be owner: messages name you so")

	require.NoError(t, spawn("kid"))
	kid := f.Caller("kid")
	f.SQL(`UPDATE roles SET role_id = 'owner', charter = replace(charter, '"kid"', '"owner"') WHERE role_id = 'kid'`)
	f.SQL(`UPDATE entities SET name = 'owner' WHERE id = ?`, kid.Entity)
	f.SQL(`UPDATE workspaces SET version = version + 1`)
	f.apply(triage) // a second workspace, so that the name decides which is meant
	to := func(name string) any {
		return f.Must(cro, "role_message", map[string]any{"to": name, "content": "May I travel?",
			"request": true})["messages"].([]any)[0].(map[string]any)["to"]
	}
	require.Equal(t, "ann", to("owner"))
	require.Len(t, f.Must(f.person, "review_list", map[string]any{})["waiting"], 1)
	require.Empty(t, f.Must(kid, "role_message", map[string]any{})["messages"])
	_, err = f.Call(f.Lead, "role_message", map[string]any{"to": "owner", "content": "Hello"})
	require.ErrorContains(t, err, "you have 2 workspaces")

	require.Equal(t, "owner", to(string(kid.Entity)))
	require.Equal(t, "active", f.role("owner")["state"])
	require.Equal(t, "delegate", f.send(f.person, map[string]any{"type": "lead.created", "role": "owner"})["action"])
	require.NotNil(t, f.Must(kid, "task_claim", map[string]any{})["work"])
}
