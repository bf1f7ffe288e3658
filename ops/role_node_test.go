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

const mirror = `
workspace: mirror
owner: ann
node_events: [review.requested, role.message]
operators:
  note:
    triggers: {ask: review.requested, answer: role.message}
    does: {intent: "look at {type}"}
roles:
  - role_id: guard
    soul: You look at what happened.
    domains: [node]
    operator_ids: [note]
    authority: {autonomous: [answer], needs_approval: [ask]}
`

// What a role asks, or says over its work, comes back to it as an event of the node that lies one deeper: a role
// that waits for such events does not go on for ever.
func TestARoleDoesNotAnswerItself_INV_ROLE_LOOP(t *testing.T) {
	asked := func(f *firm) int { return f.Number(`SELECT count(*) FROM role_asks`) }
	t.Run("a question", func(t *testing.T) {
		f := newFirm(t, mirror)
		f.send(f.person, map[string]any{"type": "review.requested", "domain": "node"})
		for range 15 {
			f.settle()
		}
		require.Equal(t, 9, asked(f))
	})
	t.Run("a message", func(t *testing.T) {
		f := newFirm(t, mirror)
		guard := f.Caller("guard")
		said := 0
		for f.send(f.person, map[string]any{"type": "role.message", "domain": "node"}); said < 15; said++ {
			w, ok := f.Must(guard, "task_claim", map[string]any{})["work"].(map[string]any)
			if !ok {
				break
			}
			f.Must(guard, "role_message", map[string]any{"to": "owner", "content": "I saw it."})
			f.Must(guard, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done"})
			f.settle()
		}
		require.Equal(t, 9, said)
	})
	t.Run("a question of its own accord", func(t *testing.T) {
		f := newFirm(t, mirror)
		guard := f.Caller("guard")
		f.send(f.person, map[string]any{"type": "role.message", "domain": "node"})
		f.Must(guard, "task_claim", map[string]any{})
		f.Must(guard, "role_message", map[string]any{"to": "owner", "content": "May I?", "request": true})
		f.settle()
		require.Equal(t, 0, f.Number(`SELECT count(*) FROM role_events WHERE source = 'node' AND depth = 0`))
		require.Equal(t, 2, f.Number(`SELECT count(*) FROM role_events WHERE source = 'node' AND depth = 1`))
	})
}
