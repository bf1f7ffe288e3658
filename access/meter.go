package access

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// flushEvery bounds how much of the counts a killed process loses.
const flushEvery = time.Second

// denialsKept is for how many minutes refusals can be looked up: a week.
const denialsKept = 7 * 24 * 60

// meter counts what calls came to, in memory: a read must not become a durable
// write. Run flushes it.
type meter struct {
	auth *Authorizer

	mu sync.Mutex
	counts
	paces map[schemas.EntityID]pace // these stay over a flush
}

// counts are what was counted since the last flush.
type counts struct {
	seen    map[schemas.EntityID]int64
	calls   map[schemas.EntityID]tally
	denials map[denialKey]int
}

type tally struct{ refused, failed int }

type denialKey struct {
	entity       schemas.EntityID
	tool, reason string
}

func newMeter(a *Authorizer) *meter {
	return &meter{auth: a, paces: map[schemas.EntityID]pace{}, counts: newCounts()}
}

func newCounts() counts {
	return counts{map[schemas.EntityID]int64{}, map[schemas.EntityID]tally{}, map[denialKey]int{}}
}

// take gives what was counted, and counts anew.
func (m *meter) take() counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.counts
	m.counts = newCounts()
	return taken
}

// add counts what could not be flushed once more.
func (m *meter) add(c counts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, at := range c.seen {
		m.seen[id] = max(m.seen[id], at)
	}
	for id, t := range c.calls {
		now := m.calls[id]
		m.calls[id] = tally{now.refused + t.refused, now.failed + t.failed}
	}
	for k, n := range c.denials {
		m.denials[k] += n
	}
}

// note counts one finished call. What is hidden and what is absent count alike:
// a difference would tell one from the other.
func (m *meter) note(p Principal, d decision, op Op, err error, now time.Time) {
	if p.Method == ByNode || d.actor == nil {
		return
	}
	code := schemas.CodeOf(err)
	if code == schemas.CodeUnauthenticated {
		return // the caller did not prove that it is the entity
	}
	actor := d.actor.self().ID
	m.mu.Lock()
	defer m.mu.Unlock()
	// A call counts for its caller, also when the caller acts as another: acting as another
	// must neither spare the caller nor cost the other.
	switch {
	case err == nil:
	case code == schemas.CodeDenied, code == schemas.CodeRevoked, code == schemas.CodeNotFound:
		m.fault(p.Entity, tally{refused: 1}, now)
	case code == schemas.CodeInvalid:
		m.fault(p.Entity, tally{failed: 1}, now)
	}
	if refused, ok := errors.AsType[Refused](err); ok {
		for _, denial := range refused.Denials {
			m.denials[denialKey{actor, op.Tool, denial.String()}]++
		}
		return
	}
	m.seen[actor] = now.UnixMicro()
	m.seen[p.Entity] = now.UnixMicro()
}

// fault counts one refused or failed call. The caller holds the lock.
func (m *meter) fault(id schemas.EntityID, one tally, now time.Time) {
	t := m.calls[id]
	m.calls[id] = tally{t.refused + one.refused, t.failed + one.failed}
	m.noteFault(id, one, now)
}

// lastSeen is the newest sign of life of id that is not yet flushed, 0 if none.
func (m *meter) lastSeen(id schemas.EntityID) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen[id]
}

// denied counts memory that was refused inside an operation.
func (m *meter) denied(actor schemas.EntityID, tool, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.denials[denialKey{actor, tool, reason}]++
}

// Failed counts a call that never reached Do because it was malformed. It refuses the
// call with CodeBusy instead if its caller is slowed down.
func (a *Authorizer) Failed(p Principal) error {
	now := a.store.Clock().Now()
	if err := a.meter.slowed(p, now); err != nil {
		return err
	}
	a.meter.mu.Lock()
	defer a.meter.mu.Unlock()
	a.meter.fault(p.Entity, tally{failed: 1}, now)
	return nil
}

// Run flushes the counts each second until ctx ends, and once more then.
func (a *Authorizer) Run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			a.Flush(ctx)
		case <-ctx.Done():
			a.Flush(context.WithoutCancel(ctx))
			return
		}
	}
}

// Flush writes the counts and suspends the agents that went over a limit. A failure is
// logged and the counts are kept for the next time.
func (a *Authorizer) Flush(ctx context.Context) {
	c := a.meter.take()
	if len(c.seen)+len(c.calls)+len(c.denials) == 0 {
		return
	}
	var over map[schemas.EntityID]schemas.Trigger
	var sums map[schemas.EntityID]tally
	if err := a.store.Write(ctx, func(tx *store.Tx) (err error) {
		if err := a.writeSeen(tx, c.seen); err != nil {
			return err
		}
		if err := writeDenials(tx, c.denials); err != nil {
			return err
		}
		over, sums, err = a.writeCalls(tx, c.calls)
		return err
	}); err != nil {
		slog.Warn("flush of call counts", "err", err)
		a.meter.add(c)
		return
	}
	a.meter.notePace(sums, a.store.Clock().Now())
	if a.cfg.Lifecycle == nil {
		return
	}
	for id, on := range over {
		if err := a.cfg.Lifecycle.Move(ctx, id, on); err != nil && !errors.Is(err, schemas.ErrConflict) {
			slog.Warn("suspend after too many refused or failed calls", "agent", id, "err", err)
		}
	}
}

func (a *Authorizer) writeSeen(tx *store.Tx, seen map[schemas.EntityID]int64) error {
	for id, at := range seen {
		if err := tx.Send(touchSeen, min(at, tx.Micros()), tx.Micros(), id); err != nil {
			return err
		}
	}
	if a.cfg.Seen == nil {
		return nil
	}
	return a.cfg.Seen(tx, seen)
}

// minuteOf is the minute that calls of a transaction's time are counted in.
func minuteOf(tx *store.Tx) int64 { return tx.Micros() / 60_000_000 }

func writeDenials(tx *store.Tx, denials map[denialKey]int) error {
	if len(denials) == 0 {
		return nil
	}
	for k, n := range denials {
		if err := tx.Send(addDenial, k.entity, minuteOf(tx), k.tool, k.reason, n); err != nil {
			return err
		}
	}
	return tx.Send(dropDenials, minuteOf(tx)-denialsKept) // a flood of refusals must not fill the disk
}

// writeCalls adds up refused and failed calls of the last minute and gives the sums, and
// the agents that went over a limit with what happens to each.
func (a *Authorizer) writeCalls(tx *store.Tx, calls map[schemas.EntityID]tally) (
	over map[schemas.EntityID]schemas.Trigger, sums map[schemas.EntityID]tally, err error,
) {
	over, sums = map[schemas.EntityID]schemas.Trigger{}, map[schemas.EntityID]tally{}
	minute := minuteOf(tx)
	for id, t := range calls {
		if _, err := tx.Exec(addCounts, id, minute, t.refused, t.failed); err != nil {
			return nil, nil, err
		}
		var sum tally
		var own bool
		if err := tx.QueryRow(recentCounts, id, minute).Scan(&sum.refused, &sum.failed, &own); err != nil {
			return nil, nil, err
		}
		sums[id] = sum
		switch {
		case own: // slowed, never suspended
		case sum.refused >= a.cfg.RefusedPerMinute:
			over[id] = schemas.RateLimit
		case sum.failed >= a.cfg.FailedPerMinute:
			over[id] = schemas.ErrorLimit
		}
	}
	return over, sums, tx.Send(dropCounts, minute-60, minute)
}
