package ops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// An action of memory_group refuses the arguments of the others: none is ignored.
func TestAGroupActionRefusesOtherArguments(t *testing.T) {
	h := newHouse(t)
	h.worker("hand")
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "plant",
		"description": "tides"})
	all := map[string]any{"group": "plant", "entity": "hand", "role": "viewer", "description": "x",
		"culture": map[string]any{"ttl_default": 60}, "emcon": true}
	takes := map[string][]string{"create": {"group", "description", "culture"}, "list": nil,
		"read": {"group"}, "add": {"group", "entity", "role"}, "remove": {"group", "entity"},
		"update": {"group", "description", "culture", "emcon"}, "invitations": nil}
	for action, own := range takes {
		for name, value := range all {
			args := map[string]any{"action": action, name: value}
			for _, other := range own {
				args[other] = all[other]
			}
			if _, given := args[name]; !given || len(args) == len(own)+1 {
				continue // it takes that
			}
			e := h.refusal(h.lead, "memory_group", args)
			require.Equal(t, schemas.CodeInvalid, e.Code, "%v", args)
			require.Len(t, e.Violations, 1, "%v", args)
			require.Equal(t, "/"+name, e.Violations[0].Path, "%v", args)
			require.Contains(t, e.Violations[0].Msg, "goes with ", "%v", args)
		}
	}
	out := h.must(h.lead, "memory_group", map[string]any{"action": "read", "group": "plant"})
	group := out["group"].(map[string]any)
	require.Len(t, group["members"], 1, "and nothing was done")
	require.Equal(t, "tides", group["description"])
}

// Without a role, add leaves that of a member as it is, and its rights with it.
func TestAddWithoutARoleChangesNoRole(t *testing.T) {
	h := newHouse(t)
	hand := h.worker("hand")
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "plant"})
	add := func(more map[string]any) (role any) {
		out := h.must(h.lead, "memory_group", with(map[string]any{"action": "add", "group": "plant",
			"entity": "hand"}, more))
		for _, m := range out["group"].(map[string]any)["members"].([]any) {
			if m := m.(map[string]any); m["name"] == "hand" {
				role = m["role"]
			}
		}
		return role
	}
	require.Equal(t, "viewer", add(map[string]any{"role": "viewer"}))
	require.Equal(t, "viewer", add(nil))
	require.Equal(t, schemas.CodeDenied, h.refusal(hand, "memory_write_warm",
		with(note("Low water at two"), map[string]any{"group": "plant"})).Code)
	require.Equal(t, "admin", add(map[string]any{"role": "admin"}))
	require.Equal(t, "admin", add(nil))
	h.must(h.lead, "memory_group", map[string]any{"action": "remove", "group": "plant", "entity": "hand"})
	require.Equal(t, "member", add(nil), "a new member writes")
}
