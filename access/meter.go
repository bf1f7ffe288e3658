package access

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// flushEvery bounds how much of the counts a killed process loses.
const flushEvery = time.Second

// timesKept is of how many calls of an agent the times wait for a flush: an hour of them, the longest
// lease. Without the older ones a lease may end too early, never too late.
const timesKept = int(time.Hour / flushEvery)

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
	seen    map[schemas.EntityID][]int64 // when each called, in order, see addTime
	calls   map[callKey]tally
	denials map[denialKey]int
}

type tally struct{ refused, failed int }

// callKey says whose calls, and of which minute: what is flushed late, because the database was
// away, counts for when it was.
type callKey struct {
	entity schemas.EntityID
	minute int64
}

type denialKey struct {
	callKey
	tool, reason string
}

func newMeter(a *Authorizer) *meter {
	return &meter{auth: a, paces: map[schemas.EntityID]pace{}, counts: newCounts()}
}

func newCounts() counts {
	return counts{map[schemas.EntityID][]int64{}, map[callKey]tally{}, map[denialKey]int{}}
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
	for id, times := range c.seen {
		for _, newer := range m.seen[id] {
			times = addTime(times, newer)
		}
		m.seen[id] = times
	}
	for k, t := range c.calls {
		m.count(k, t)
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
		for _, denial := range refused.reasons() {
			m.denials[denialKey{callKey{actor, minuteAt(now)}, op.Tool, denial.String()}]++
		}
		return
	}
	m.seen[actor] = addTime(m.seen[actor], now.UnixMicro())
	if p.Entity != actor {
		m.seen[p.Entity] = addTime(m.seen[p.Entity], now.UnixMicro())
	}
}

// addTime adds the time of a call. It leaves out a time between two others that lie closer together
// than flushes do.
func addTime(times []int64, at int64) []int64 {
	if n := len(times); n > 1 && times[n-2] <= at && at < times[n-2]+flushEvery.Microseconds() {
		times[n-1] = at
		return times
	}
	times = append(times, at)
	return times[max(0, len(times)-timesKept):]
}

// newest is the last of times, 0 if there is none.
func newest(times []int64) int64 {
	if len(times) == 0 {
		return 0
	}
	return times[len(times)-1]
}

// fault counts one refused or failed call. The caller holds the lock.
func (m *meter) fault(id schemas.EntityID, one tally, now time.Time) {
	m.count(callKey{id, minuteAt(now)}, one)
	m.noteFault(id, one, now)
}

// count adds to what is flushed next. The caller holds the lock.
func (m *meter) count(k callKey, more tally) {
	t := m.calls[k]
	m.calls[k] = tally{t.refused + more.refused, t.failed + more.failed}
}

// lastSeen is the newest sign of life of id that is not yet flushed, 0 if none.
func (m *meter) lastSeen(id schemas.EntityID) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return newest(m.seen[id])
}

// denied counts what was refused for another reason than Evaluate of the tool has.
func (m *meter) denied(actor schemas.EntityID, tool, reason string) {
	now := m.auth.store.Clock().Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.denials[denialKey{callKey{actor, minuteAt(now)}, tool, reason}]++
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

// Run flushes the counts each second until ctx ends, and once more then. A flush that is under
// way when ctx ends is finished: given up, it would be logged as a failure.
func (a *Authorizer) Run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			a.Flush(context.WithoutCancel(ctx))
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
	var sums map[callKey]tally
	if err := a.store.WriteConcurrent(ctx, "signs of life", func(tx *store.Tx) (err error) {
		if err := writeDenials(tx, c.denials); err != nil {
			return err
		}
		if over, sums, err = a.writeCalls(tx, c.calls); err != nil {
			return err
		}
		return a.writeSeen(tx, c.seen)
	}); err != nil {
		if !a.store.Dropped() {
			slog.Warn("flush of call counts", "err", err)
		}
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

func (a *Authorizer) writeSeen(tx *store.Tx, seen map[schemas.EntityID][]int64) error {
	for id, times := range seen {
		if err := tx.Send(touchSeen, min(newest(times), tx.Micros()), tx.Micros(), id); err != nil {
			return err
		}
	}
	if a.cfg.Seen == nil {
		return nil
	}
	return a.cfg.Seen(tx, seen)
}

// minuteAt is the minute that a call of that time is counted in.
func minuteAt(t time.Time) int64 { return t.Unix() / 60 }

// minuteOf is the minute that calls of a transaction's time are counted in.
func minuteOf(tx *store.Tx) int64 { return tx.Micros() / 60_000_000 }

func writeDenials(tx *store.Tx, denials map[denialKey]int) error {
	if len(denials) == 0 {
		return nil
	}
	for k, n := range denials {
		if err := tx.Send(addDenial, k.entity, k.minute, k.tool, k.reason, n); err != nil {
			return err
		}
	}
	return tx.Send(dropDenials, minuteOf(tx)-denialsKept) // a flood of refusals must not fill the disk
}

// writeCalls adds up refused and failed calls of their minute and gives the sums, and
// the agents that went over a limit with what happens to each: by the first minute in which one did.
func (a *Authorizer) writeCalls(tx *store.Tx, calls map[callKey]tally) (
	over map[schemas.EntityID]schemas.Trigger, sums map[callKey]tally, err error,
) {
	over, sums = map[schemas.EntityID]schemas.Trigger{}, map[callKey]tally{}
	minute := minuteOf(tx)
	inOrder := func(a, b callKey) int {
		return cmp.Or(cmp.Compare(a.minute, b.minute), cmp.Compare(a.entity, b.entity))
	}
	for _, k := range slices.SortedFunc(maps.Keys(calls), inOrder) {
		t := calls[k]
		if _, err := tx.Exec(addCounts, k.entity, k.minute, t.refused, t.failed); err != nil {
			return nil, nil, err
		}
		var sum tally
		var own bool
		if err := tx.QueryRow(recentCounts, k.entity, k.minute).Scan(&sum.refused, &sum.failed, &own); err != nil {
			return nil, nil, err
		}
		sums[k] = sum
		switch {
		case own: // slowed, never suspended
		case k.minute < minute-1: // a suspension for it may be over
		case over[k.entity] != "":
		case sum.refused >= a.cfg.RefusedPerMinute:
			over[k.entity] = schemas.RateLimit
		case sum.failed >= a.cfg.FailedPerMinute:
			over[k.entity] = schemas.ErrorLimit
		}
	}
	return over, sums, tx.Send(dropCounts, minute-60, minute)
}
