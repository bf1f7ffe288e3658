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

	mu      sync.Mutex
	seen    map[schemas.EntityID]int64
	calls   map[schemas.EntityID]tally
	denials map[denialKey]int
	paces   map[schemas.EntityID]pace // these stay over a flush
}

type tally struct{ refused, failed int }

type denialKey struct {
	entity       schemas.EntityID
	tool, reason string
}

func newMeter(a *Authorizer) *meter {
	m := &meter{auth: a, paces: map[schemas.EntityID]pace{}}
	m.reset()
	return m
}

func (m *meter) reset() {
	m.seen, m.calls, m.denials = map[schemas.EntityID]int64{}, map[schemas.EntityID]tally{}, map[denialKey]int{}
}

// note counts one finished call. What is hidden and what is absent count alike:
// a difference would tell one from the other.
func (m *meter) note(p Principal, d decision, op Op, err error, now time.Time) {
	if p.Method == ByNode || d.actor == nil {
		return
	}
	code := schemas.CodeOf(err)
	if code == schemas.CodeUnauthenticated {
		return // whoever it was, it was not the entity
	}
	actor := d.actor.self().ID
	m.mu.Lock()
	defer m.mu.Unlock()
	// Calls count for whoever makes them, also when acting as another: that must
	// neither spare the caller nor hurt the other.
	switch {
	case err == nil:
	case code == schemas.CodeDenied, code == schemas.CodeRevoked, code == schemas.CodeNotFound:
		m.fault(p.Entity, tally{refused: 1}, now)
	case code == schemas.CodeInvalid:
		m.fault(p.Entity, tally{failed: 1}, now)
	}
	var refused Refused
	if errors.As(err, &refused) {
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
	m := a.meter
	m.mu.Lock()
	seen, calls, denials := m.seen, m.calls, m.denials
	m.reset()
	m.mu.Unlock()
	if len(seen)+len(calls)+len(denials) == 0 {
		return
	}
	over, sums := map[schemas.EntityID]schemas.Trigger{}, map[schemas.EntityID]tally{}
	err := a.store.Write(ctx, func(tx *store.Tx) error {
		clear(over)
		clear(sums)
		minute := tx.Micros() / 60_000_000
		for id, at := range seen {
			if _, err := tx.Exec(touchSeen, min(at, tx.Micros()), tx.Micros(), id); err != nil {
				return err
			}
		}
		if a.cfg.Seen != nil {
			if err := a.cfg.Seen(tx, seen); err != nil {
				return err
			}
		}
		for k, n := range denials {
			if _, err := tx.Exec(addDenial, k.entity, minute, k.tool, k.reason, n); err != nil {
				return err
			}
		}
		if len(denials) > 0 { // a flood of refusals must not fill the disk
			if _, err := tx.Exec(dropDenials, minute-denialsKept); err != nil {
				return err
			}
		}
		for id, t := range calls {
			if _, err := tx.Exec(addCounts, id, minute, t.refused, t.failed); err != nil {
				return err
			}
			var sum tally
			var own bool
			if err := tx.QueryRow(recentCounts, id, minute).Scan(&sum.refused, &sum.failed, &own); err != nil {
				return err
			}
			if sums[id] = sum; own {
				continue // slowed, never suspended
			}
			if sum.refused >= a.cfg.RefusedPerMinute {
				over[id] = schemas.RateLimit
			} else if sum.failed >= a.cfg.FailedPerMinute {
				over[id] = schemas.ErrorLimit
			}
		}
		_, err := tx.Exec(dropCounts, minute-60, minute)
		return err
	})
	if err != nil {
		slog.Warn("flush of call counts", "err", err)
		m.mu.Lock()
		defer m.mu.Unlock()
		for id, at := range seen {
			m.seen[id] = max(m.seen[id], at)
		}
		for id, t := range calls {
			now := m.calls[id]
			m.calls[id] = tally{now.refused + t.refused, now.failed + t.failed}
		}
		for k, n := range denials {
			m.denials[k] += n
		}
		return
	}
	m.notePace(sums, a.store.Clock().Now())
	if a.cfg.Lifecycle == nil {
		return
	}
	for id, on := range over {
		if err := a.cfg.Lifecycle.Move(ctx, id, on); err != nil && !errors.Is(err, schemas.ErrConflict) {
			slog.Warn("suspend after too many refused or failed calls", "agent", id, "err", err)
		}
	}
}
