package controller

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
	"cordelia/pipeline"
	"cordelia/schemas"
	"cordelia/work"
)

// walk is one task in the hands of agents that do anything.
type walk struct {
	*node
	r    *rand.Rand
	task string
	held map[schemas.EntityID]work.Claimed // the last lease of each
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// somePlan is a plan of a few steps; now and then one that cannot hold.
func (w *walk) somePlan() string {
	var steps []schemas.PlannedSubTask
	for i := range 1 + w.r.IntN(3) {
		var criteria []any
		for k := range 1 + w.r.IntN(2) {
			one := schemas.Criterion{Criterion: fmt.Sprintf("criterion %d of %d", k, w.r.IntN(1000)),
				Mode: pick(w.r, schemas.CriterionModes()...)}
			if one.Mode == schemas.Verifiable && w.r.IntN(3) == 0 {
				one.Check = &schemas.Check{Kind: schemas.CheckFile, Path: "x"}
			}
			criteria = append(criteria, one)
		}
		steps = append(steps, step(fmt.Sprintf("step %d %x", i, w.r.Uint32()), 1+w.r.IntN(2),
			[]string{pick(w.r, "bash", "write", "read", "rm")}, criteria...))
	}
	return plan(steps...)
}

// someAnswer is what somebody in a role might say.
func (w *walk) someAnswer(role schemas.PipelineRole, c work.Claimed) string {
	if w.r.IntN(12) == 0 {
		return pick(w.r, `{}`, `{"verdicts": 1}`, `"no"`, `{"text": "sorry"}`)
	}
	failing := map[string]schemas.FailureClass{}
	var in struct{ Criteria []schemas.Criterion }
	require.NoError(w, json.Unmarshal(c.Brief.Inputs, &in))
	for _, one := range in.Criteria {
		if w.r.IntN(4) == 0 {
			failing[one.Criterion] = pick(w.r, schemas.Logical, schemas.Environmental, "")
		}
	}
	switch role {
	case schemas.Perceiver:
		return pick(w.r, `{"intent": "do it"}`, `{"intent": "", "questions": ["what?"]}`)
	case schemas.Planner:
		return w.somePlan()
	case schemas.AgentValidator:
		return judgement(c, failing)
	case schemas.MetaValidator:
		return merging(c, failing)
	}
	return `{"done": true}`
}

// act lets somebody do something.
func (w *walk) act() {
	who := pick(w.r, lead, a, b, c, kid)
	switch w.r.IntN(20) {
	case 0:
		w.Clock.Move(time.Duration(w.r.IntN(200)) * time.Second)
	case 1:
		if w.r.IntN(8) == 0 {
			w.Clock.Move(25 * time.Hour)
		}
	case 2:
		w.reap()
	case 3:
		_ = w.answer(pick(w.r, lead, ann), w.task, pick(w.r, "", "that"))
	case 4:
		if v := w.show(w.task); v.State == schemas.TaskReview {
			require.NoError(w, w.do(ann, "review_decide", func(g access.Grant) error {
				_, err := w.tasks.Decide(g, w.task, v.ResultHash, w.r.IntN(2) == 0, "no")
				return err
			}))
		}
	case 5:
		if w.r.IntN(30) == 0 {
			_ = w.do(lead, "task_cancel", func(g access.Grant) error {
				_,
					err := w.tasks.Cancel(g, w.task)
				return err
			})
		}
	case 6: // an old lease again
		if old, ok := w.held[who]; ok {
			_, _ = w.tryReport(who, old, pick(w.r, work.Done, work.Failed), `{"done": true}`, nil)
		}
	default:
		claimed, ok, err := w.tryClaim(who, "")
		require.NoError(w, err)
		if !ok {
			return
		}
		w.held[who] = claimed
		if w.r.IntN(10) == 0 {
			return // it goes away
		}
		role := one[schemas.PipelineRole](w.node,
			`SELECT s.role FROM task_seats s JOIN work_items w ON w.n = s.item WHERE w.id = ?`, claimed.WorkID)
		o := pick(w.r, work.Done, work.Done, work.Done, work.Done, work.Done, work.Done, work.Failed, work.Released,
			work.Progress)
		result, broken := w.someAnswer(role, claimed), []string(nil)
		if o == work.Released || o == work.Progress {
			result = ""
		}
		if w.r.IntN(3) == 0 {
			for _, one := range claimed.Brief.Criteria {
				broken = append(broken, strings.TrimSuffix(one, " (a machine check decides)"))
			}
		}
		evidence := pick(w.r, nil, ran(), ran("bash"), ran("write", "bash"))
		if result == "" {
			evidence = nil
		}
		_, err = w.tryReport(who, claimed, o, result, evidence, broken...)
		require.NoError(w, err)
	}
}

// INV-SETTLED, INV-DUTIES and what package pipeline promises, recomputed from rows
// after every move of agents that do anything: no task hangs, nothing that failed is
// merged or accepted.
func TestWalk_INV_SETTLED(t *testing.T) {
	n := newNode(t)
	ends := map[schemas.TaskState]int{}
	const moves = 120
	for i := range soak.Count(t, 40, 1000) {
		w := &walk{n, rand.New(rand.NewPCG(7, uint64(i))), "", map[schemas.EntityID]work.Claimed{}}
		w.task = n.submit(lead, Request{Request: "x", Group: pick(w.r, schemas.GroupID(""), "team"),
			Hold: w.r.IntN(4) == 0, Tools: []string{"bash", "read", "write"}})
		for range moves {
			w.act()
			if w.sound() {
				break
			}
		}
		for range 40 { // nobody comes any more
			if w.sound() {
				break
			}
			w.Clock.Move(25 * time.Hour)
			w.reap()
			_ = w.answer(ann, w.task, "")
			if v := w.show(w.task); v.State == schemas.TaskReview {
				require.NoError(w, w.do(ann, "review_decide", func(g access.Grant) error {
					_, err := w.tasks.Decide(g, w.task, v.ResultHash, true, "")
					return err
				}))
			}
		}
		require.True(t, w.sound(), "task %d hangs: %s", i, text(n.show(w.task)))
		w.audited()
		ends[n.state(w.task)]++
	}
	t.Logf("%v", ends)
	require.Positive(t, ends[schemas.TaskAccepted])
	require.Positive(t, ends[schemas.TaskAbandoned])
}

// sound recomputes what must hold of the task, and says whether it is over.
func (w *walk) sound() (over bool) {
	w.Helper()
	require.NoError(w, w.do(access.NodeEntity, "x", func(g access.Grant) error {
		t, err := loadTask(g, one[int64](w.node, `SELECT n FROM tasks WHERE id = ?`, w.task))
		if err != nil {
			return err
		}
		over = t.state.Final()
		list, err := seats(g, t)
		if err != nil {
			return err
		}
		open := slices.ContainsFunc(list, seat.open)
		waits := t.state == schemas.TaskClarifying || t.state == schemas.TaskReview
		require.Equal(w, !over && !waits, open, "task %s is %s", t.id, t.state)
		all, err := rounds(g, t)
		if err != nil {
			return err
		}
		outcomes := w.outcomes()
		for _, s := range list {
			if s.role == schemas.MetaValidator {
				require.Equal(w, pipeline.GateOpen, pipeline.FanIn(all[s.round-1].manifest, outcomes).State,
					"the gate (INV-GATE, INV-FANIN)")
			}
		}
		if t.state == schemas.TaskAccepted || t.state == schemas.TaskReview {
			now := all[len(all)-1]
			g := pipeline.FanIn(now.manifest, outcomes)
			require.Equal(w, pipeline.GateOpen, g.State)
			for _, o := range g.Counted {
				require.True(w, pipeline.NoneFailed(o.CriteriaVerdicts), "INV-ALLPASS")
				require.Equal(w, o.Status == schemas.Matched, pipeline.AllPass(o.CriteriaVerdicts), "INV-ALLPASS")
			}
			require.True(w, pipeline.NoneFailed(now.merge.Verdicts))
			require.Len(w, now.merge.Verdicts, len(now.manifest.TaskCriteria))
		}
		return nil
	}))
	crossed := one[int](w.node, `SELECT count(*) FROM task_seats did JOIN work_items x ON x.n = did.item
		JOIN task_seats judged ON judged.subtask = did.subtask AND judged.role = 'R4a'
		JOIN work_items y ON y.n = judged.item JOIN entities p ON p.id = x.holder JOIN entities q ON q.id = y.holder
		WHERE did.task = (SELECT n FROM tasks WHERE id = ?) AND judged.task = did.task AND did.role = 'R3'
		AND (p.id = q.id OR p.parent_id = q.id OR q.parent_id = p.id)`, w.task)
	require.Zero(w, crossed, "INV-DUTIES")
	crossed = one[int](w.node, `SELECT count(*) FROM task_seats did JOIN work_items x ON x.n = did.item
		JOIN task_seats merged ON merged.task = did.task AND merged.round = did.round AND merged.role = 'R4b'
		JOIN work_items y ON y.n = merged.item JOIN entities p ON p.id = x.holder JOIN entities q ON q.id = y.holder
		WHERE did.task = (SELECT n FROM tasks WHERE id = ?) AND did.role = 'R3' AND (p.id = q.id OR p.parent_id = q.id
		OR q.parent_id = p.id)`, w.task)
	require.Zero(w, crossed, "INV-DUTIES")
	return over
}

// outcomes are those on the bus, in order.
func (w *walk) outcomes() (list []schemas.SubTaskOutcome) {
	w.Helper()
	require.NoError(w, w.Store.Read(context.Background(), func(tx *store.Tx) error {
		rows, err := tx.Query(
			`SELECT message FROM task_messages m JOIN tasks t ON t.n = m.task WHERE t.id = ?
				AND record = 'SubTaskOutcome' ORDER BY m.n`, w.task)
		list, err = store.Collect(rows, err, func(r *sql.Rows) (o schemas.SubTaskOutcome, err error) {
			var raw string
			if err := r.Scan(&raw); err != nil {
				return o, err
			}
			return o, json.Unmarshal([]byte(raw), &o)
		})
		return err
	}))
	return list
}

// audited checks the bus against what the auditor knows of breaches that code prevents.
func (w *walk) audited() {
	w.Helper()
	var list []schemas.AuditEvent
	require.NoError(w, w.Store.Read(context.Background(), func(tx *store.Tx) error {
		rows, err := tx.Query(
			`SELECT m.id, t.id, m.round, m.subtask, m.sender, m.receiver, m.actor, m.record, m.message, m.at
				FROM task_messages m JOIN tasks t ON t.n = m.task
			WHERE t.id = ? ORDER BY m.n`, w.task)
		list, err = store.Collect(rows, err, func(r *sql.Rows) (e schemas.AuditEvent, err error) {
			var at int64
			var raw string
			err = r.Scan(&e.EventID, &e.TaskID, &e.Round, &e.SubTaskID, &e.From, &e.To, &e.Actor, &e.Record, &raw, &at)
			e.Message, e.Timestamp = json.RawMessage(raw), stamp(at)
			return e, err
		})
		return err
	}))
	for _, f := range pipeline.Detect(list, pipeline.Watch{}) {
		require.NotContains(w, []schemas.Detection{schemas.DetectDuplicateID, schemas.DetectFanInGap,
			schemas.DetectSeparationDuty}, f.Detection, f.Finding)
		if f.Detection == schemas.DetectBoundary {
			require.Contains(w, f.Finding, "R3 used tool")
		}
	}
}
