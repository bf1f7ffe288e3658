package ops

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// hinted is what to do next by a refusal.
func hinted(t *testing.T, err error) string {
	t.Helper()
	var refused *schemas.Error
	require.ErrorAs(t, err, &refused)
	return refused.Hint.String()
}

// The way that a refusal of a group names leads there.
func TestRefusedGroupsNameTheWayIn(t *testing.T) {
	h := newHouse(t)
	for _, group := range []string{"findings", "team"} {
		h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": group})
	}
	hand := map[string]any{"agent_type": "swarm-worker", "display_name": "hand", "groups": []string{"findings"}}
	h.must(h.lead, "agent_register", hand)
	_, err := h.call(h.lead, "agent_capabilities", map[string]any{"agent": "hand",
		"groups": []string{"findings", "team"}})
	require.ErrorContains(t, err, "team is in neither memory_read.groups nor memory_write.groups")
	call := regexp.MustCompile(`^to let it into the group, with the rights for it: memory_group (\{.*})$`).
		FindStringSubmatch(hinted(t, err))
	require.NotNil(t, call, hinted(t, err))
	var args map[string]any
	require.NoError(t, json.Unmarshal([]byte(call[1]), &args))
	h.must(h.lead, "memory_group", args)
	h.must(h.caller("hand"), "memory_write_warm", with(note("the bridge holds"), map[string]any{"group": "team"}))

	for name, lacks := range map[string]map[string]any{
		"eye": {"groups": []string{"team"}, "capabilities": map[string]any{
			"memory_read": map[string]any{"groups": []string{}}, "memory_write": map[string]any{"groups": []string{}}}},
		"ear":   {"bonus_groups": []string{"team"}},
		"mouth": {"private": "read"},
	} {
		t.Run(name, func(t *testing.T) {
			args := with(map[string]any{"agent_type": "swarm-worker", "display_name": name}, lacks)
			_, err := h.call(h.person(), "agent_register", args)
			wider := regexp.MustCompile(`^drop the grant, or give in the same call, too: capabilities (\{.*})$`).
				FindStringSubmatch(hinted(t, err))
			require.NotNil(t, wider, hinted(t, err))
			args["capabilities"] = json.RawMessage(wider[1])
			h.must(h.person(), "agent_register", args)
		})
	}
}

// Of a group that is not there, none is advised to add anyone to it.
func TestAGroupThatIsNotThereIsSaidToBeNone(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "team"})
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "custom", "display_name": "eye",
		"capabilities": map[string]any{"memory_read": map[string]any{"groups": []string{}},
			"memory_write": map[string]any{"groups": []string{}}}})
	for group, code := range map[string]error{"nosuch": schemas.ErrNotFound, "team": schemas.ErrInvalid} {
		e := h.refusal(h.lead, "agent_capabilities", map[string]any{"agent": "eye", "groups": []string{group}})
		require.ErrorIs(t, e, code)
		require.Equal(t, code == schemas.ErrNotFound, !strings.Contains(e.Hint.String(), `"add"`), e.Hint)
		if code == schemas.ErrNotFound {
			require.Contains(t, e.Msg, `there is no group "nosuch" here`)
		}
	}
}

// Groups given replace those before, and the answer says what that takes away.
func TestAnswersSayWhichGroupsWereTakenAway(t *testing.T) {
	h := newHouse(t)
	for _, group := range []string{"findings", "team"} {
		h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": group})
	}
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "hand",
		"groups": []string{"findings", "team"}})
	set := func(groups ...string) AgentCapabilitiesOut {
		raw, err := json.Marshal(map[string]any{"agent": "hand", "groups": groups})
		require.NoError(t, err)
		out, err := Find("agent_capabilities").Call(t.Context(), h.node, h.lead, raw)
		require.NoError(t, err)
		return out.(AgentCapabilitiesOut)
	}
	require.Empty(t, set("team", "findings").Dropped)
	out := set("team")
	require.Equal(t, []string{"findings"}, out.Dropped)
	require.Contains(t, out.Text(), "approved for groups team")
	require.Contains(t, out.Text(), "taken away, as the groups given replace those before: findings")
	require.NotContains(t, set("team", "findings").Text(), "taken away")
}

// An action that does not apply names those that do.
func TestActionsThatDoNotApplyNameThoseThatDo(t *testing.T) {
	h := newHouse(t)
	h.worker("hand")
	for _, c := range []struct{ does, refused, applies string }{
		{"", "resume", "activate"},
		{"activate", "resume", "suspend"},
		{"suspend", "activate", "resume"},
	} {
		if c.does != "" {
			h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "hand", "action": c.does})
		}
		_, err := h.call(h.lead, "agent_lifecycle", map[string]any{"agent": "hand", "action": c.refused})
		require.ErrorIs(t, err, schemas.ErrConflict)
		require.Equal(t, fmt.Sprintf(`to %s it: agent_lifecycle {"agent": "hand", "action": %[1]q}; `+
			`to deactivate it: agent_deactivate {"agent": "hand"}`, c.applies), hinted(t, err))
		require.ErrorContains(t, err, "expected: "+c.applies+" or deactivate")
	}
	end := func() error {
		_, err := h.call(h.lead, "agent_deactivate", map[string]any{"agent": "hand"})
		return err
	}
	require.NoError(t, end())
	require.ErrorContains(t, end(), "expected: reactivate)")
	h.clock.advance(8 * 24 * time.Hour)
	require.ErrorContains(t, end(), "no action: it is gone for good")
}

// No agent gets the right to write public memory, so none is told to ask for it.
func TestRefusedPublicWritesSayWhoMay(t *testing.T) {
	h := newHouse(t)
	write := with(note("the bridge holds"), map[string]any{"visibility": "public"})
	for _, agent := range []Caller{h.lead, h.worker("hand")} {
		_, err := h.call(agent, "memory_write_warm", write)
		require.ErrorIs(t, err, schemas.ErrDenied)
		require.ErrorContains(t, err, "no agent writes public memory; people do")
		require.NotContains(t, err.Error(), "agent_capabilities")
	}
	h.must(h.person(), "memory_write_warm", write)
}

// An empty list of tools is no list a model means: nothing is taken away, and the refusal says how
// that is done.
func TestAnEmptyListOfToolsIsRefused(t *testing.T) {
	h := newHouse(t)
	h.worker("hand")
	args := map[string]any{"agent": "hand", "tools": []string{}}
	_, err := h.call(h.lead, "agent_capabilities", args)
	require.ErrorIs(t, err, schemas.ErrInvalid)
	require.ErrorContains(t, err, "tools is an empty list")
	tools := func() []any {
		out := h.must(h.lead, "agent_capabilities", map[string]any{"agent": "hand"})
		return out["capabilities"].(map[string]any)["tools"].([]any)
	}
	require.NotEmpty(t, tools())
	tool, given := offered(t, err)
	_, err = Find(tool).Call(t.Context(), h.node, h.lead, []byte(given))
	require.NoError(t, err)
	require.Empty(t, tools())
}

// Groups given to their admin or owner leave that role.
func TestGroupsGivenLeaveAnAdmin(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "hand"})
	for _, role := range []string{"admin", "owner"} {
		do := func(action string, more map[string]any) map[string]any {
			return h.must(h.lead, "memory_group", with(map[string]any{"action": action, "group": role + "s"}, more))
		}
		do("create", nil)
		do("add", map[string]any{"entity": "hand", "role": role})
		h.must(h.lead, "agent_capabilities", map[string]any{"agent": "hand", "groups": []string{role + "s"}})
		require.Contains(t, fmt.Sprint(do("read", nil)), "name:hand role:"+role)
	}
}
