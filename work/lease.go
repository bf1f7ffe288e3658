package work

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// lateFor is how long reports that came too late are kept for the operator.
const lateFor = 7 * 24 * time.Hour

// mostAtOnce bounds how many due items one transaction deals with.
const mostAtOnce = 50

type due struct {
	n  int64
	on schemas.Trigger
}

func findDue(tx *store.Tx) ([]due, error) {
	if tx == nil {
		return nil, access.ErrNoGrant
	}
	now := tx.Micros()
	rows, err := tx.Query(selectDue, now, now+(MaxLease+access.ClockSlack).Microseconds(), mostAtOnce)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (d due, err error) { return d, r.Scan(&d.n, &d.on) })
	if err != nil {
		return nil, fmt.Errorf("find due work: %w", err)
	}
	return found, nil
}

// Due reports whether ReapExpired or Forget has something to do.
func Due(g access.Grant) (bool, error) {
	found, err := findDue(g.Tx())
	if err != nil || len(found) > 0 {
		return len(found) > 0, err
	}
	var late bool
	err = g.Tx().QueryRow(countLate, g.Tx().Micros()-lateFor.Microseconds()).Scan(&late)
	return late, err
}

// Forget drops reports that came too late and were kept long enough.
func Forget(g access.Grant) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	_, err := g.Tx().Exec(dropLate, g.Tx().Micros()-lateFor.Microseconds())
	return err
}

// ReapExpired makes the moves that time has made due, in the transaction of the grant. Each
// process calls it each second, and each claim calls it first. n is how many there were, at
// most 50.
func ReapExpired(g access.Grant) (n int, err error) {
	found, err := findDue(g.Tx())
	if err == nil && len(found) > 0 {
		err = g.Tx().Alone() // it is others' work
	}
	if err != nil || len(found) == 0 {
		return 0, err
	}
	var news readyNews
	for _, d := range found {
		r, err := load(g, d.n)
		if err != nil {
			return 0, err
		}
		if err := finalize(g, &r, d.on, &news); err != nil {
			return 0, err
		}
	}
	return len(found), news.announce(g)
}

func finalize(g access.Grant, r *row, on schemas.Trigger, news *readyNews) error {
	if _, ok := schemas.NextWork(r.state, on, schemas.ByNode); !ok {
		return nil // due for two reasons, and seen to
	}
	if on == schemas.WorkExpire {
		if r.expiries++; r.expiries >= r.mostEnded {
			on, r.outcome = schemas.WorkExhaust, "expired"
		}
	}
	if on == schemas.WorkOverdue {
		r.outcome = "overdue"
	}
	return end(g, r, on, schemas.ByNode, news)
}

// end makes a move that ends the lease, and what follows from it: it gives the slots back,
// releases or stops the items that wait for this one, and writes the events. by is in which role
// the caller was found to be; a holder and a person are looked at once more.
func end(g access.Grant, r *row, on schemas.Trigger, by schemas.By, news *readyNews) error {
	held := r.state == schemas.WorkLeased
	was := *r
	if by == schemas.ByHolder && r.holder != g.Actor() || by == schemas.ByHuman && !g.IsHuman() {
		return access.ErrNoGrant
	}
	if err := r.move(on, by); err != nil {
		return err
	}
	if held {
		if err := g.DropHold(r.id); err != nil {
			return err
		}
		if by != schemas.ByHolder { // else the report notes it
			if err := g.Tx().Send(endLease, min(g.Tx().Micros(), was.leaseUntil), r.n, r.fence); err != nil {
				return fmt.Errorf("note end of lease: %w", err)
			}
		}
		if r.leaseUntil = 0; r.state == schemas.WorkReady {
			r.holder = ""
		}
	}
	if err := r.save(g); err != nil {
		return err
	}
	if err := g.Audit("work/"+r.id, map[string]any{"on": on, "from": was.state, "to": r.state, "fence": r.fence,
		"holder": was.holder}); err != nil {
		return err
	}
	if held {
		if err := lost(g, was, on, r.state); err != nil {
			return err
		}
	}
	switch r.state {
	case schemas.WorkReady:
		news.ready(*r)
		return nil
	case schemas.WorkDone:
		if err := follow(g, r, news); err != nil {
			return err
		}
	case schemas.WorkFailed, schemas.WorkCancelled:
		if err := doom(g, r, news); err != nil {
			return err
		}
	}
	return changed(g, *r, by)
}

// lost tells a swarm that one of its workers lost what it held.
func lost(g access.Grant, was row, on schemas.Trigger, state schemas.WorkState) error {
	reason := schemas.LossRevoked
	switch on {
	case schemas.WorkExpire:
		reason = schemas.LossExpired
	case schemas.WorkExhaust:
		if reason = schemas.LossExpired; was.leaseUntil > g.Tx().Micros() {
			return nil // given back, once too often
		}
	case schemas.WorkRevoke:
	default:
		return nil
	}
	if was.group == "" {
		return nil
	}
	c, err := cultureOf(g, was.group)
	if err != nil || c.kind != access.GroupSwarm || c.quiet() {
		return err
	}
	return events.Append(g.Tx(), events.GroupStream(was.group),
		events.Event{Type: schemas.EventSwarmWorkerLost, Source: access.NodeEntity,
			Payload: schemas.SwarmWorkerLost{SwarmID: c.swarm, GroupID: was.group, AgentID: was.holder, WorkID: was.id,
				Reason: reason, State: state}})
}

// follow lets go on what waited for a finished item.
func follow(g access.Grant, r *row, news *readyNews) error {
	if n, err := g.Tx().Exec(unblock, r.n); err != nil || n == 0 {
		return err
	}
	if err := g.Tx().Alone(); err != nil { // what waits may wait for others', too
		return err
	}
	next, err := waiting(g, r)
	if err != nil {
		return err
	}
	for _, w := range next {
		if w.blockers > 0 || w.notBefore > g.Tx().Micros() {
			continue
		}
		if err := end(g, &w, schemas.WorkDue, schemas.ByNode, news); err != nil {
			return err
		}
	}
	return nil
}

// Doomed is the outcome of a blocked item whose predecessor will not be done.
const Doomed = "doomed"

// doom stops what waited for an item that will not be done.
func doom(g access.Grant, r *row, news *readyNews) error {
	next, err := waiting(g, r)
	if err == nil && len(next) > 0 {
		err = g.Tx().Alone()
	}
	for i := 0; i < len(next) && err == nil; i++ {
		next[i].outcome = Doomed
		err = end(g, &next[i], schemas.WorkDoomed, schemas.ByNode, news)
	}
	return err
}

func waiting(g access.Grant, r *row) ([]row, error) {
	rows, err := g.Tx().Query(selectWaiting, r.n)
	return store.Collect(rows, err, scanRow[*sql.Rows])
}

// Seen extends the leases of those who called, each when less than half of it is
// left, so that calling often costs no more writes. It is for access.Config.
func Seen(tx *store.Tx, seen map[schemas.EntityID][]int64) error {
	if tx.Concurrent() { // a report, which locks first the slot and then the item, would meet it the other way round
		var short bool
		err := tx.QueryRow(anyShort, store.List(slices.Collect(maps.Keys(seen))), tx.Micros()).Scan(&short)
		if err == nil && short {
			err = tx.Alone()
		}
		return err
	}
	for i := 0; ; i++ { // one call of each agent, in order: each counts if the one before kept the lease
		var calls []call
		for id, times := range seen {
			if i < len(times) {
				at := min(times[i], tx.Micros())
				calls = append(calls, call{Agent: id, Held: at, At: at})
			}
		}
		if len(calls) == 0 {
			return nil
		}
		if _, err := extend(tx, calls); err != nil {
			return err
		}
	}
}

// call is one of an agent.
type call struct {
	Agent schemas.EntityID `json:"agent"`
	Held  int64            `json:"held"` // a time at which the agent had the lease (UTC µs)
	At    int64            `json:"at"`   // when it called
}

// extend lengthens the leases of agents that called, from the call on, not from when it is noted.
// until is the new end of the last one, 0 if none was lengthened.
func extend(tx *store.Tx, calls []call) (until int64, err error) {
	type lease struct {
		item  string
		until int64
	}
	rows, err := tx.Query(extendLeases, store.List(calls))
	longer, err := store.Collect(rows, err, func(r *sql.Rows) (l lease, err error) {
		return l, r.Scan(&l.item, &l.until)
	})
	if err != nil {
		return 0, fmt.Errorf("extend lease: %w", err)
	}
	for _, l := range longer {
		if err := access.KeepHold(tx, l.item, l.until); err != nil {
			return 0, err
		}
		until = l.until
	}
	return until, nil
}

// extendOwn is extend of the lease that the actor had at a time.
func extendOwn(g access.Grant, r *row, at int64) error {
	until, err := extend(g.Tx(), []call{{Agent: g.Actor(), Held: at, At: g.Tx().Micros()}})
	if until != 0 {
		r.leaseUntil = until
	}
	return err
}

// claimTools are what a lease rests on besides what its item needs.
func claimTools() []string { return []string{"task_claim", "task_report"} }

// Revoke ends the leases of id and of all its descendants that they may not have any more, by
// their rights as this transaction leaves them (INV-LEASE). Each function that takes a right
// away calls it.
func Revoke(g access.Grant, id schemas.EntityID) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	rows, err := g.Tx().Query(selectHeldBelow, id)
	held, err := store.Collect(rows, err, scanRow[*sql.Rows])
	if err != nil {
		return fmt.Errorf("read leases: %w", err)
	}
	var news readyNews
	for _, r := range held {
		var l class
		if err := g.Tx().QueryRow(selectClass, r.class).Scan(l.dest()...); err != nil {
			return fmt.Errorf("read eligibility class: %w", err)
		}
		tools, err := list[string](l.needs)
		if err != nil {
			return err
		}
		may, err := g.Could(r.holder, append(claimTools(), tools...), l.requires()...)
		if err != nil {
			return err
		}
		if may {
			continue
		}
		if err := end(g, &r, schemas.WorkRevoke, schemas.ByNode, &news); err != nil {
			return err
		}
	}
	return news.announce(g)
}
