package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An agent with a group of its own brings it before agents that are not below it, and before the
// person's client: until somebody accepts, nothing of the group shows to them, and what asks for
// consent says no word of the agent's.
func TestAttackMembershipWithoutConsent(t *testing.T) {
	f := newField(t, "")
	hall := f.group(f.lead) // where they know each other
	asked := false
	f.tries(func(i int) {
		top, victim := f.top("mallory"), f.top("victim")
		f.join(f.lead, "claude-code", hall, top, victim)
		m := f.as(top)
		imp := f.child(m, "imp", 0)
		group, pushed := f.name("club"), f.name("zeppelin")
		f.must(m, "memory_group", `{"action": "create", "group": %q, "description": %q,
			"culture": {"broadcast_eagerness": "chatty", "notification_policy": "push"}}`, group, pushed)
		for _, entity := range []string{victim, "claude-code", f.me} {
			for _, way := range []string{`"role": "viewer"`, `"role": "owner"`, fmt.Sprintf(`"description": %q`, pushed),
				fmt.Sprintf(`"as": %q`, imp)} {
				a := f.tryTo(m, "memory_group", `{"action": "add", "group": %q, "entity": %q, %s}`, group, entity, way)
				asked = asked || text(a, "invitation") != ""
				if f.random.IntN(3) == 0 {
					f.tryTo(m, "memory_group", `{"action": "remove", "group": %q, "entity": %q}`, group, entity)
				}
			}
			f.tryTo(m, "agent_capabilities", `{"agent": %q, "groups": [%q], "accept_from": [%q]}`, entity, group, top)
			f.tryTo(m, "agent_capabilities", `{"agent": %q, "accept_from": [%q]}`, top, entity)
			f.tryTo(m, "swarm_create", `{"goal": %q, "strategy": "broadcast", "coordinator_agent_id": %q,
				"agents": [{"slot": "hand"}]}`, pushed, entity)
			f.tryTo(m, "task_submit", `{"items": [{"intent": %q, "assigned_to": %q}]}`, pushed, entity)
		}
		f.note(m, group, f.sentence(pushed))
		list := f.tryTo(m, "review_list", `{}`)
		for k := range 3 { // it answers for them
			f.tryTo(m, "review_decide", `{"decisions": [{"id": %q, "decision": "approve", "hash": %q}]}`,
				text(list, fmt.Sprintf("waiting.%d.id", k)), text(list, fmt.Sprintf("waiting.%d.hash", k)))
		}
		for _, name := range []string{victim, "claude-code"} {
			f.hit(f.shows(name, f.sentence(pushed), pushed), "%s is shown what it wrote", name)
			c := f.as(name)
			groups := f.tryTo(c, "memory_group", `{"action": "list"}`)
			f.hit(strings.Contains(string(groups.Raw), group), "%s is in the group: %s", name, groups.Text)
		}
		told := compact(f.person("memory", "group", "invitations")) + compact(f.person("events", "poll", "--peek"))
		f.hit(strings.Contains(told, pushed), "its words reach the person: %s", told)
	})
	require.True(t, asked, "it invites, and gets no further")
}
