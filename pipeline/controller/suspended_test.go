package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
	"cordelia/work"
)

// status moves an agent as the node does.
func (n *node) status(id schemas.EntityID, to schemas.AgentStatus) {
	n.Helper()
	n.SQL(`UPDATE entities SET status = ? WHERE id = ?`, string(to), id)
	require.NoError(n, n.Store.Write(n.Context(), access.BumpEpoch))
}

// due reports whether the routine has something to do.
func (n *node) due() (yes bool) {
	n.Helper()
	require.NoError(n, n.Do(access.NodeEntity, "reap", access.Read, func(g access.Grant) (err error) {
		yes, err = Due(g)
		return err
	}))
	return yes
}

// sweep is the routine of the node.
func (n *node) sweep() {
	n.Helper()
	require.NoError(n, n.do(access.NodeEntity, "task_sweep", func(g access.Grant) error {
		if _, err := work.ReapExpired(g); err != nil {
			return err
		}
		_, err := n.tasks.CompleteEnded(g)
		return err
	}))
}

// While the submitter, or an agent above it, is suspended nothing follows from what is reported;
// once it is resumed the task goes on where it stood.
func TestASuspensionEndsNoTask_INV_SETTLED(t *testing.T) {
	for name, who := range map[string]schemas.EntityID{"the submitter": kid, "an agent above it": a} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.Join("team", kid, "member")
			n.Join("team", solo, "member")
			id := n.submit(kid, Request{Request: "ship the release", Group: "team"})
			pausedAt := func(state schemas.TaskState, by schemas.EntityID, role schemas.PipelineRole,
				next schemas.PipelineRole, answer func(work.Claimed) string) {
				t.Helper()
				w := n.claim(by, role)
				n.status(who, schemas.Suspended)
				f := n.report(by, w, answer(w))
				require.Contains(t, f.Led, "is suspended")
				require.False(t, n.due())
				n.sweep()
				n.Clock.Move(3 * DefaultSettings().Patience)
				n.sweep()
				n.none(c, next)
				v := n.show(id)
				require.Equal(t, state, v.State)
				require.True(t, v.Suspended)
				require.Contains(t, v.Text(), "has ended")
				n.status(who, schemas.Active)
				require.True(t, n.due())
				n.sweep()
				require.False(t, n.due())
			}
			is := func(text string) func(work.Claimed) string {
				return func(work.Claimed) string { return text }
			}
			pass := func(w work.Claimed) string { return judgement(w, nil) }
			pausedAt(schemas.TaskPerceiving, b, "R1", "R2", is(`{"intent": "ship the release"}`))
			pausedAt(schemas.TaskPlanning, b, "R2", "R3", is(oneStep))
			pausedAt(schemas.TaskRunning, b, "R3", "R4a", is(`{"ok": 1}`))
			pausedAt(schemas.TaskRunning, c, "R4a", "R4b", pass)
			pausedAt(schemas.TaskMerging, solo, "R4b", "R1",
				func(w work.Claimed) string { return merging(w, nil) })
			require.Equal(t, schemas.TaskAccepted, n.state(id), n.show(id).Text())
		})
	}
}

// A suspended submitter's task still ends by its deadline, by a person, or with its submitter.
func TestWhatEndsASuspendedTask(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(n *node, id string)
		want schemas.TaskState
		why  string
	}{
		"its deadline": {func(n *node, _ string) { n.Clock.Move(2 * time.Hour) },
			schemas.TaskAbandoned, "deadline"},
		"a person": {func(n *node, id string) {
			require.NoError(n, n.do(ann, "task_cancel", func(g access.Grant) error {
				_, err := n.tasks.Cancel(g, id)
				return err
			}))
		}, schemas.TaskCancelled, "cancelled"},
		"the submitter ended": {func(n *node, _ string) { n.status(kid, schemas.Deactivated) },
			schemas.TaskAbandoned, "may not"},
		"one above it ended": {func(n *node, _ string) { n.status(a, schemas.Deactivated) },
			schemas.TaskAbandoned, "may not"},
		"it is resumed without the right": {func(n *node, _ string) {
			n.may(kid)
			n.status(kid, schemas.Active)
		}, schemas.TaskAbandoned, "may not"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.Join("team", kid, "member")
			id := n.submit(kid, Request{Request: "x", Group: "team",
				Deadline: n.Clock.Micros + time.Hour.Microseconds()})
			w := n.claim(b, "R1")
			n.status(kid, schemas.Suspended)
			n.report(b, w, `{"intent": "x"}`)
			require.Equal(t, schemas.TaskPerceiving, n.state(id))
			tt.end(n, id)
			n.sweep()
			v := n.show(id)
			require.Equal(t, tt.want, v.State)
			require.Contains(t, string(v.Result), tt.why)
			require.Empty(t, v.Seats)
			require.False(t, n.due())
		})
	}
}

// A person who answers or decides while the submitter is suspended is refused, and the task stays.
func TestNothingBeginsForASuspendedSubmitter(t *testing.T) {
	n := newNode(t)
	n.Join("team", kid, "member")
	id := n.submit(kid, Request{Request: "x", Group: "team"})
	n.report(b, n.claim(b, "R1"), `{"intent": "", "questions": ["what?"]}`)
	answer := func() error {
		return n.do(ann, "task_submit", func(g access.Grant) error {
			_, err := n.tasks.Answer(g, id, "y")
			return err
		})
	}
	n.status(kid, schemas.Suspended)
	require.ErrorIs(t, answer(), schemas.ErrConflict)
	require.Equal(t, schemas.TaskClarifying, n.state(id))
	n.status(kid, schemas.Active)
	require.NoError(t, answer())
	require.Equal(t, schemas.TaskPerceiving, n.state(id))
}

// Tasks that wait take no place from those that can go on.
func TestSuspendedTasksKeepNoOther(t *testing.T) {
	n := newNode(t)
	n.Join("team", kid, "member")
	for range mostAtOnce {
		n.submit(kid, Request{Request: "x", Group: "team"})
		w := n.claim(b, "R1")
		n.status(kid, schemas.Suspended)
		n.report(b, w, `{"intent": "x"}`)
		n.status(kid, schemas.Active)
	}
	n.status(kid, schemas.Suspended)
	id := n.submit(lead, Request{Request: "x"})
	n.SQL(`UPDATE work_items SET state = 'failed', holder = '' WHERE task_id = ?`, id)
	require.NoError(t, n.Store.Read(t.Context(), func(tx *store.Tx) error {
		rows, err := tx.Query(selectEndedSeats, mostAtOnce)
		found, err := store.Collect(rows, err, store.Column[int64])
		require.Len(t, found, 1)
		return err
	}))
}
