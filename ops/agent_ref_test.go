package ops

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// What an answer or a hint says to run means the agent that it is about, whoever else has its name.
func TestHintsMeanTheAgentTheyAreAbout(t *testing.T) {
	h := newHouse(t)
	register := func(by Caller, name string) (id, next string) {
		out := h.must(by, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name,
			"name": name})
		return out["agent_id"].(string), out["next"].(string)
	}
	_, next := register(h.lead, "alone")
	require.Contains(t, next, `cordelia mcp --as alone; or act as it: task_claim {"as": "alone"}.`)
	ownID, next := register(h.person(), "other")
	require.Contains(t, next, "cordelia mcp --as other;")

	for _, name := range []string{"claude-code", "other"} {
		t.Run(name, func(t *testing.T) {
			id, next := register(h.lead, name)
			means := regexp.MustCompile(`--as (\S+) \(by the name ` + name + ` another agent may be meant\); or act as ` +
				`it: task_claim \{"as": "(\S+)"}\.$`).FindStringSubmatch(next)
			require.NotNil(t, means, next)
			require.Equal(t, id, string(h.caller(means[1]).Entity))
			child := h.caller(means[2])
			require.Equal(t, id, string(child.Entity))

			var refused *schemas.Error
			_, err := h.call(child, "agent_list", map[string]any{})
			require.ErrorAs(t, err, &refused)
			require.Contains(t, refused.Hint.String(), `agent_capabilities {"agent": "`+means[1]+`"`)
			_, err = h.call(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name,
				"name": name})
			require.ErrorContains(t, err, `agent_list {"agent": "`+means[1]+`"}`)
			_, err = h.call(h.lead, "agent_lifecycle", map[string]any{"agent": means[1], "action": "suspend"})
			require.ErrorContains(t, err, `agent_lifecycle {"agent": "`+means[1]+`", "action": "activate"}`)
			out := h.must(h.lead, "agent_deactivate", map[string]any{"agent": means[1]})
			require.Equal(t, `it comes back with: agent_lifecycle {"agent": "`+means[1]+`", "action": "reactivate"}`,
				out["next"])
		})
	}
	out := h.must(h.person(), "agent_deactivate", map[string]any{"agent": "other"})
	require.Equal(t, ownID, out["agent_id"])
	require.Contains(t, out["next"], `"other"`, "nobody below takes the name of the person's own agent away")
}

// The answer for a swarm names those whose names others have.
func TestSwarmsSayWhichNamesAreUnclear(t *testing.T) {
	h := newHouse(t)
	h.must(h.person(), "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "hand"})
	out := h.swarm("broadcast", slotOf("hand", 1), slotOf("eye", 1))
	for _, a := range out["agents"].([]any) {
		switch a := a.(map[string]any); a["name"] {
		case "hand":
			require.Contains(t, fmt.Sprint(out["notes"]), "hand: "+a["agent_id"].(string)[:12])
		default:
			require.NotContains(t, fmt.Sprint(out["notes"]), a["name"])
		}
	}
}
