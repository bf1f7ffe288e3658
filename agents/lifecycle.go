package agents

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Periods of the lifecycle.
type Periods struct {
	Grace    time.Duration // between deactivated and removed
	Cooldown time.Duration // of the node's own suspensions
}

// DefaultPeriods are the seed's (§8.3): a grace of 7 days; a cooldown of 5 minutes.
func DefaultPeriods() Periods {
	return Periods{Grace: 7 * 24 * time.Hour, Cooldown: 5 * time.Minute}
}

// maxReason is the longest reason of a move, in bytes.
const maxReason = 500

// Moved is a lifecycle move that was made.
type Moved struct {
	Record // as it is now
	From   schemas.AgentStatus
}

// Move pulls trigger on for an agent (INV-EDGE). What it is allowed to depends
// on the edge: the node's edges on the node, the others on an ancestor. Errors:
// CodeConflict when the agent's state has no such edge, or the grace period is
// over. A suspension of an agent that is suspended takes the place of the node's, which ends by
// itself, and of that of an entity below the actor.
func Move(g access.Grant, ref string, on schemas.Trigger, reason string, p Periods) (Moved, error) {
	if len(reason) > maxReason {
		return Moved{}, schemas.Invalidf("the reason has %d bytes", len(reason)).Expecting("at most %d", maxReason)
	}
	r, err := below(g, ref)
	if err != nil {
		return Moved{}, err
	}
	to, who, ok := schemas.NextStatus(r.Status, on)
	over, err := takesOver(g, r, on)
	if err != nil {
		return Moved{}, err
	}
	if over { // the state stays
		to, ok = r.Status, true
	}
	if !ok || who == schemas.ByNode && !g.IsNode() {
		return Moved{}, noEdge(g, r, on)
	}
	m := Moved{From: r.Status}
	tx := g.Tx()
	if on == schemas.Resume || on == schemas.Reactivate {
		if err := mayLift(g, r); err != nil {
			return m, err
		}
	}
	if on == schemas.Reactivate {
		if r.ExpiresAt, err = newLifetime(r, tx.Micros()); err != nil {
			return m, err
		}
	}
	by := g.Actor()
	if r.Status == schemas.Suspended && to == schemas.Deactivated {
		if by, err = whoseWord(g, r); err != nil {
			return m, err
		}
	}
	r.Status, r.StatusBy, r.StatusReason, r.StatusAt, r.GraceUntil = to, by, reason, tx.Micros(), 0
	if to == schemas.Deactivated {
		r.GraceUntil = tx.Micros() + p.Grace.Microseconds()
	}
	if _, err := tx.Exec(updateStatus, r.Status, r.StatusBy, reason, r.StatusAt, r.GraceUntil, r.ExpiresAt,
		r.ID); err != nil {
		return m, fmt.Errorf("update status: %w", err)
	}
	if to != schemas.Active {
		if _, err := tx.Exec(deleteTokensBelow, r.ID); err != nil {
			return m, fmt.Errorf("end tokens: %w", err)
		}
	}
	if err := g.RightsChanged(); err != nil {
		return m, err
	}
	m.Record = r
	return m, announce(g, m, on)
}

// newLifetime gives when an agent that is reactivated expires, while its grace period lasts. An
// explicit reactivation is a new lifetime; the clock alone never is.
func newLifetime(r Record, now int64) (expires int64, err error) {
	if now >= r.GraceUntil {
		return 0, schemas.Conflictf("the grace period of %s ended %s", r.Name, events.Timestamp(r.GraceUntil)).
			Try("register a new agent with %s", schemas.Tool("agent_register"))
	}
	return access.ExpiresAt(now, r.Capabilities.TTLSeconds), nil
}

// announce writes the events and the audit entry of a move.
func announce(g access.Grant, m Moved, on schemas.Trigger) error {
	changed := schemas.AgentStatusChanged{AgentID: m.ID, OldStatus: m.From, NewStatus: m.Status}
	for _, who := range []schemas.EntityID{m.ID, m.Parent} {
		if m.From == m.Status { // taken over
			break
		}
		if err := g.Emit(events.EntityStream(who), schemas.EventAgentStatusChanged, changed); err != nil {
			return err
		}
	}
	return g.Audit(string(m.ID), map[string]any{"from": m.From, "to": m.Status, "on": on, "reason": m.StatusReason})
}

// noEdge is the error of a trigger that an agent's state has no edge for, with the calls that apply.
func noEdge(g access.Grant, r Record, on schemas.Trigger) error {
	err := schemas.Conflictf("%s is %s; %s does not apply to it", r.Name, r.Status, on).
		Expecting("no action: it is gone for good").
		Try("%s shows the state of your agents", schemas.Tool("agent_list", "include_ended", true))
	var calls []any
	var names []string
	format := ""
	for _, action := range schemas.ActionsOn(r.Status) {
		if action == schemas.Reactivate && g.Tx().Micros() >= r.GraceUntil {
			continue
		}
		names = append(names, string(action))
		call := schemas.Tool("agent_lifecycle", "agent", access.RefOf(g.Tx(), r.ID), "action", action)
		if action == schemas.Deactivate {
			call = schemas.Tool("agent_deactivate", "agent", access.RefOf(g.Tx(), r.ID))
		}
		format += "; to %s it: %s"
		calls = append(calls, action, call)
	}
	if len(calls) > 0 {
		err = err.Expecting("%s", strings.Join(names, " or ")).
			Try(strings.TrimPrefix(format, "; "), calls...)
	}
	return err
}

// mayLift refuses unless the actor is the entity that suspended or deactivated the agent, or an
// ancestor of that entity. A suspension by the node can be lifted by any ancestor of the agent.
func mayLift(g access.Grant, r Record) error {
	if g.IsNode() || r.StatusBy == access.NodeEntity {
		return nil
	}
	ok, err := g.Holds(r.StatusBy)
	if err != nil || ok {
		return err
	}
	return schemas.Deniedf("%s was %s by an agent or person above you", r.Name, r.Status).
		Try("ask your own parent to lift that")
}

// takesOver reports whether the actor suspends an agent that the node suspended, or an entity below
// the actor.
func takesOver(g access.Grant, r Record, on schemas.Trigger) (bool, error) {
	if on != schemas.Suspend || r.Status != schemas.Suspended || g.IsNode() || r.StatusBy == g.Actor() {
		return false, nil
	}
	if r.StatusBy == access.NodeEntity {
		return true, nil
	}
	return g.Holds(r.StatusBy)
}

// whoseWord says who stands behind the deactivation of a suspended agent: if the
// suspension came from above the actor, it still does. Otherwise a deactivation,
// or the end of the lifetime, would be a way around it.
func whoseWord(g access.Grant, r Record) (schemas.EntityID, error) {
	if r.StatusBy == access.NodeEntity {
		return g.Actor(), nil
	}
	if above, err := g.Holds(r.StatusBy); err != nil || above {
		return g.Actor(), err
	}
	return r.StatusBy, nil
}

// Due is a move of the node's that time has made due.
type Due struct {
	ID schemas.EntityID
	On schemas.Trigger
}

// Monotonic is a reading of a clock that no user can set.
type Monotonic struct {
	Boot   string // which boot of the machine
	Micros int64  // since that boot
}

// SightingsApart: a period that is over counts only when that was seen twice this
// far apart on the monotonic clock, so a wall clock that jumps removes nothing.
const SightingsApart = time.Hour

// FindDue lists the moves that are due at the transaction's time.
func FindDue(g access.Grant, mono Monotonic, p Periods) ([]Due, error) {
	tx := g.Tx()
	now := tx.Micros()
	var due []Due
	for _, q := range []struct {
		sql    string
		before int64
		on     schemas.Trigger
	}{
		{dueExpiry, now, schemas.TTLExpiry},
		{dueResume, now - p.Cooldown.Microseconds(), schemas.CooldownOver},
	} {
		rows, err := tx.Query(q.sql, q.before)
		ids, err := store.Collect(rows, err, scanString)
		if err != nil {
			return nil, fmt.Errorf("find due %s: %w", q.on, err)
		}
		for _, id := range ids {
			due = append(due, Due{schemas.EntityID(id), q.on})
		}
	}
	over, err := overGrace(tx)
	if err != nil {
		return nil, err
	}
	for _, s := range over {
		if s.At.Boot == mono.Boot && mono.Micros-s.At.Micros >= SightingsApart.Microseconds() {
			due = append(due, Due{s.ID, schemas.GraceOver})
		}
	}
	return due, nil
}

// sighting is an agent whose grace period is over, and when that was first seen.
type sighting struct {
	ID schemas.EntityID
	At Monotonic
}

func overGrace(tx *store.Tx) ([]sighting, error) {
	rows, err := tx.Query(dueGrace, tx.Micros())
	over, err := store.Collect(rows, err, func(r *sql.Rows) (s sighting, err error) {
		return s, r.Scan(&s.ID, &s.At.Boot, &s.At.Micros)
	})
	if err != nil {
		return nil, fmt.Errorf("find over grace periods: %w", err)
	}
	return over, nil
}

// UnseenGrace counts the over grace periods that NoteGrace would record.
func UnseenGrace(g access.Grant, mono Monotonic) (int, error) {
	over, err := overGrace(g.Tx())
	n := 0
	for _, s := range over {
		if s.At.Boot != mono.Boot {
			n++
		}
	}
	return n, err
}

// NoteGrace records the first sighting, in this boot, of every grace period that
// is over.
func NoteGrace(g access.Grant, mono Monotonic) error {
	over, err := overGrace(g.Tx())
	if err != nil {
		return err
	}
	for _, s := range over {
		if s.At.Boot != mono.Boot {
			if _, err := g.Tx().Exec(seenGrace, mono.Boot, mono.Micros, s.ID); err != nil {
				return fmt.Errorf("note grace: %w", err)
			}
		}
	}
	return nil
}

func scanString(r *sql.Rows) (s string, err error) { return s, r.Scan(&s) }
