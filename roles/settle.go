package roles

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
	"cordelia/trust"
	"cordelia/work"
)

// schedule writes down when each schedule of a role comes next.
func schedule(g access.Grant, m *Member) error {
	if _, err := g.Tx().Exec(dropSchedules, m.Agent); err != nil {
		return fmt.Errorf("write schedules: %w", err)
	}
	for i, s := range m.Schedules {
		every, err := span(s.Every)
		if err != nil {
			return err
		}
		if _, err := g.Tx().Exec(insertSchedule, m.Agent, i, g.Tx().Micros()+every.Microseconds()); err != nil {
			return fmt.Errorf("write schedules: %w", err)
		}
	}
	return nil
}

// Due reports whether Settle has something to do.
func Due(g access.Grant) (due bool, err error) {
	err = g.Tx().QueryRow(selectDue, g.Tx().Micros(), g.Tx().Micros()-keepBodies.Microseconds()).Scan(&due)
	return due, err
}

// keepBodies is how long a webhook's body is known again by what it says. The id of its delivery
// is known for as long as the event is.
const keepBodies = 90 * 24 * time.Hour

// settleDeliveries forgets bodies that came long ago.
func (r *Roles) settleDeliveries(g access.Grant) error {
	if _, err := g.Tx().Exec(dropDeliveries, g.Tx().Micros()-keepBodies.Microseconds()); err != nil {
		return fmt.Errorf("forget deliveries: %w", err)
	}
	return nil
}

// Settle does what time and ended work made due; the node calls it. Each step moves a row on,
// so it happens once, also with several callers.
func (r *Roles) Settle(g access.Grant) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	for _, part := range []func(access.Grant) error{r.settleEpisodes, r.settleAsks, r.settleSchedules, r.settleTTL,
		r.settleStreams, r.settleDeliveries} {
		if err := part(g); err != nil {
			return err
		}
	}
	return nil
}

// episode is a delegation whose work or task is over.
type episode struct {
	n, event           int64
	agent              schemas.EntityID
	action, kind, ref  string
	watch              Watch
	state, holder, out string
	checked            bool // the node ran the commands of its criteria
}

// settleEpisodes notes how delegations ended, lets that count for capability trust, and
// reports it where that is asked for.
func (r *Roles) settleEpisodes(g access.Grant) error {
	rows, err := g.Tx().Query(selectOver)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (e episode, err error) {
		return e, r.Scan(&e.n, &e.event, &e.agent, &e.action, &e.kind, &e.ref, &e.watch, &e.state, &e.holder, &e.out,
			&e.checked)
	})
	if err != nil {
		return fmt.Errorf("read episodes: %w", err)
	}
	done := map[schemas.EntityID]bool{}
	for _, e := range list {
		outcome := e.outcome()
		if n, err := g.Tx().Exec(endEpisode, outcome, e.n); err != nil || n != 1 {
			return cmp.Or(err, error(schemas.Conflictf("episode %d ended twice", e.n)))
		}
		if e.kind == kindSeat {
			if err := r.seatEnded(g, e, outcome); err != nil {
				return err
			}
			continue
		}
		if err := e.count(g, outcome); err != nil {
			return err
		}
		if err := r.report(g, e, outcome); err != nil {
			return err
		}
		if err := r.tasked(g, e.agent); err != nil {
			return err
		}
		done[e.agent] = true
	}
	for _, agent := range slices.Sorted(maps.Keys(done)) {
		m, w, err := r.memberOf(g, agent)
		if err == nil && m != nil && mayUse(w.Workspace, m.RoleID) {
			err = r.recommend(g, w, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Episode is a delegation as a reflection sees it.
type Episode struct {
	Action  string          `json:"action"`
	Outcome string          `json:"outcome,omitempty"` // none: it is open
	Type    string          `json:"type"`
	Thread  string          `json:"thread,omitempty"`
	At      string          `json:"at"`
	Payload json.RawMessage `json:"payload,omitempty" any:"true"`
}

// Episodes lists what a role did last, the newest first.
func (r *Roles) Episodes(g access.Grant, agent schemas.EntityID, limit int) ([]Episode, error) {
	rows, err := g.Tx().Query(selectLived, agent, limit)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (e Episode, err error) {
		var at int64
		var payload string
		err = r.Scan(&e.Action, &e.Outcome, &e.Type, &e.Thread, &at, &payload)
		e.At, e.Payload = events.Timestamp(at), json.RawMessage(schemas.Shorten(payload, maxEpisode))
		if !json.Valid(e.Payload) {
			e.Payload = nil
		}
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("read episodes: %w", err)
	}
	return list, nil
}

// maxEpisode bounds the payload of an episode in a list, in bytes.
const maxEpisode = 500

// Outcomes of episodes.
const (
	outcomeDone      = "done"
	outcomeFailed    = "failed"
	outcomeCancelled = "cancelled"
)

func (e episode) outcome() string {
	switch e.state {
	case string(schemas.WorkDone), string(schemas.TaskAccepted):
		return outcomeDone
	case string(schemas.WorkCancelled):
		return outcomeCancelled
	}
	return outcomeFailed
}

// count lets an episode count: failed work is bad feedback, and done work good where a
// judge that is not the role showed it. Held work was counted when a person decided.
func (e episode) count(g access.Grant, outcome string) error {
	o := trust.Outcome{Agent: e.agent, Capability: e.action, About: e.ref}
	switch {
	case outcome == outcomeCancelled, e.out == "rejected":
		return nil
	case outcome == outcomeFailed:
		o.Feedback = trust.Bad
	case e.checked:
		o.Success, o.Proof = true, trust.ByRecordedExit
	case e.kind == kindTask: // others judged it
		o.Success, o.Proof = true, trust.ByCode
	default:
		o.Success, o.Judge = true, schemas.EntityID(cmp.Or(e.holder, string(e.agent)))
	}
	_, err := trust.Note(g, o)
	return err
}

// report tells the superior of a role how a delegation ended, where trust asks for that.
func (r *Roles) report(g access.Grant, e episode, outcome string) error {
	if e.watch == WatchSilent {
		return nil
	}
	m, w, err := r.memberOf(g, e.agent)
	if err != nil || m == nil {
		return err
	}
	return g.Emit(events.EntityStream(w.entity(m.ReportsTo)), schemas.EventRoleReported,
		schemas.RoleReported{AgentID: e.agent, Ref: e.ref, Kind: e.kind, Outcome: outcome})
}

// tasked ends a role that lives for one task.
func (r *Roles) tasked(g access.Grant, agent schemas.EntityID) error {
	m, _, err := r.memberOf(g, agent)
	if err != nil || m == nil || m.TTL != ttlTask {
		return err
	}
	return r.move(g, agent, schemas.TaskComplete, "task_complete")
}

// memberOf finds a role by its agent, nil if it is none or has ended.
func (r *Roles) memberOf(g access.Grant, agent schemas.EntityID) (*Member, *World, error) {
	var workspace, id string
	err := g.Tx().QueryRow(selectRoleOf, agent).Scan(&workspace, &id)
	if errors.Is(err, store.ErrNoRows) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read role: %w", err)
	}
	w, err := r.load(g, workspace)
	if err != nil {
		return nil, nil, err
	}
	return w.byAgent[agent], w, nil
}

// settleAsks handles asks whose deadline passed: each goes to the superior of the role that was asked
// or, at the owner or where the charter says so, is refused. No deadline approves.
func (r *Roles) settleAsks(g access.Grant) error {
	rows, err := g.Tx().Query(selectLate, g.Tx().Micros())
	list, err := store.Collect(rows, err, func(r *sql.Rows) (Ask, error) { return scanAsk(r) })
	if err != nil {
		return fmt.Errorf("read what is asked: %w", err)
	}
	for _, a := range list {
		w, err := r.load(g, a.Workspace)
		if err != nil {
			return err
		}
		if a.Then == schemas.ThenEscalate && a.Asked != w.Workspace.Owner {
			up := w.Workspace.Owner
			if m := w.byAgent[a.Asked]; m != nil {
				up = w.entity(m.ReportsTo)
			}
			within := a.Deadline - a.At
			if _, err := g.Tx().Exec(moveAsk, up, g.Tx().Micros()+within, a.Then, a.ID); err != nil {
				return fmt.Errorf("escalate what is asked: %w", err)
			}
			a.Asked = up
			if err := a.notify(g); err != nil {
				return err
			}
			continue
		}
		if _, err := a.move(g, schemas.ReviewExpire, access.NodeEntity, "no decision came in time"); err != nil {
			return err
		}
	}
	return nil
}

// settleSchedules delivers the events of schedules that are due, each time once however many
// processes look. What was missed while no node ran comes once.
func (r *Roles) settleSchedules(g access.Grant) error {
	type due struct {
		agent           schemas.EntityID
		n               int
		at              int64
		workspace, role string
	}
	now := g.Tx().Micros()
	rows, err := g.Tx().Query(selectSchedules, now)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (d due, err error) {
		return d, r.Scan(&d.agent, &d.n, &d.at, &d.workspace, &d.role)
	})
	if err != nil {
		return fmt.Errorf("read schedules: %w", err)
	}
	for _, d := range list {
		var role schemas.Role
		if err := json.Unmarshal([]byte(d.role), &role); err != nil || d.n >= len(role.Schedules) {
			return fmt.Errorf("schedule of %s: %w", d.agent, err)
		}
		s := role.Schedules[d.n]
		every, err := span(s.Every)
		if err != nil {
			return err
		}
		next := d.at + every.Microseconds()*((now-d.at)/every.Microseconds()+1)
		if n, err := g.Tx().Exec(moveSchedule, d.agent, d.n, d.at, next); err != nil || n != 1 {
			return err
		}
		e := Event{ID: fmt.Sprintf("%s/%d/%d", role.RoleID, d.n, d.at), Type: s.Type, Source: scheduled,
			Domain: s.Domain, Names: role.RoleID}
		if s.Payload != nil {
			e.Payload = json.RawMessage(encoded(s.Payload))
		}
		if err := r.bring(g, d.workspace, e); err != nil {
			return err
		}
	}
	return nil
}

// bring delivers an event of the node's own. One that cannot be taken is noted, and keeps no other
// from its part.
func (r *Roles) bring(g access.Grant, workspace string, e Event) error {
	err := CheckEvent(&e, time.UnixMicro(g.Tx().Micros()))
	if err == nil {
		_, err = r.Deliver(g, workspace, e)
	}
	switch schemas.CodeOf(err) {
	case schemas.CodeInvalid, schemas.CodeConflict, schemas.CodeNotFound:
		return g.Audit("workspace/"+workspace, map[string]any{"event": e.ID, "type": e.Type, "refused": err.Error()})
	}
	return err
}

// settleTTL ends roles whose time is over.
func (r *Roles) settleTTL(g access.Grant) error {
	ids, err := idsOf(g, selectOverTTL, g.Tx().Micros())
	for _, id := range ids {
		err := r.move(g, schemas.EntityID(id), schemas.TTLExpiry, string(schemas.TTLExpiry))
		if err != nil && !errors.Is(err, schemas.ErrConflict) { // it ended with its parent
			return err
		}
	}
	return err
}

// FromOutside reports whether an item of work follows from an event whose payload comes from
// outside.
func FromOutside(g access.Grant, workID string) (outside bool, err error) {
	if err := g.Tx().QueryRow(selectFromOutside, workID).Scan(&outside); err != nil {
		return false, fmt.Errorf("read event: %w", err)
	}
	return outside, nil
}

// closeWork ends what is open of a role's work.
func (r *Roles) closeWork(g access.Grant, agent schemas.EntityID) error {
	ids, err := idsOf(g, selectOpenWork, agent)
	if err != nil || len(ids) == 0 {
		return err
	}
	return g.AsNode(func(g access.Grant) error { return work.CancelPosted(g, ids) })
}
