package ops_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/ops/opstest"
)

const watch = `
workspace: watch
owner: ann
node_events: [task.abandoned, review.closed, trust.score_changed]
operators:
  note:
    triggers: {note: [task.abandoned, review.closed, trust.score_changed]}
    does: {intent: "look at {type}"}
  plan:
    triggers: {plan: plan.came, ask: ask.came}
    does: {kind: task, intent: "plan {payload.title}", within: 1h}
roles:
  - role_id: guard
    soul: You look at what happened.
    domains: [office, node]
    operator_ids: [note, plan]
    authority: {autonomous: [plan, note], needs_approval: [ask]}
`

// What the node tells of the workspace's own comes to its roles as events: a task that ended, a
// question that was decided, trust that moved. What such an event causes lies one deeper.
func TestTheNodeTellsRoles(t *testing.T) {
	f := newFirm(t, watch)
	guard := f.Caller("guard")
	told := func(kind string) int {
		f.settle()
		return f.Number(`SELECT count(*) FROM role_events v JOIN role_decisions d ON d.event = v.n
			WHERE v.type = ? AND v.source = 'node' AND v.domain = 'node' AND d.action = 'delegate'`, kind)
	}
	f.send(f.person, map[string]any{"type": "plan.came", "domain": "office"})
	f.Clock.Move(2 * time.Hour)
	require.NoError(t, f.Node.Reap(t.Context()))
	require.Equal(t, 1, told("task.abandoned"))
	require.Equal(t, 1, f.Number(`SELECT depth FROM role_events WHERE type = 'task.abandoned'`))

	f.send(f.person, map[string]any{"type": "ask.came", "domain": "office"})
	_, err := f.decide(f.person, f.waiting(f.person), "reject", "no")
	require.NoError(t, err)
	require.Equal(t, 1, told("review.closed"))
	require.Equal(t, 1, f.Number(`SELECT depth FROM role_events WHERE type = 'review.closed'`))

	written := f.Must(guard, "memory_write_warm", opstest.Note("Doors are shut at night"))
	f.Must(f.person, "trust_assess", map[string]any{"id": written["id"], "verdict": "right"})
	require.Equal(t, 1, told("trust.score_changed"), "though the role and its owner are told")
}
