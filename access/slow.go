package access

import (
	"time"

	"cordelia/schemas"
)

// A caller is slowed down at this share of a limit, well before the node suspends it.
const slowAt = 2

// maxSlow is the longest wait that slowing asks for.
const maxSlow = 30 * time.Second

// pace is how one caller's calls went this minute, in this process and, after a flush,
// in all.
type pace struct {
	minute int64
	count  tally
	step   int       // how often it was slowed; each wait is twice the one before
	until  time.Time // no call goes ahead before
}

// slowed refuses a call that comes too early after many that were refused or not valid.
// A person is not slowed. A caller that does not wait comes nearer to its suspension.
func (m *meter) slowed(p Principal, now time.Time) error {
	if p.Method == ByNode || p.Reads() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	wait := m.paces[p.Entity].until.Sub(now)
	if wait <= 0 || wait > maxSlow { // a longer one is from before the clock was moved back
		return nil
	}
	m.count(callKey{p.Entity, minuteAt(now)}, tally{refused: 1})
	seconds := int((wait + time.Second - 1) / time.Second)
	return schemas.Errorf(schemas.CodeBusy,
		"slowed down: too many calls within a minute were refused or not valid; this one was not made").
		Expecting("a wait of %d seconds", seconds).
		Try("wait %d seconds, then make this same call again; calls before that count towards a suspension", seconds)
}

// noteFault counts a refused or failed call towards the pace of its caller. The caller
// holds the lock.
func (m *meter) noteFault(id schemas.EntityID, t tally, now time.Time) {
	p := m.paces[id]
	if minute := minuteAt(now); p.minute != minute {
		if p.minute != minute-1 {
			p.step = 0
		}
		p.minute, p.count = minute, tally{}
	}
	p.count.refused += t.refused
	p.count.failed += t.failed
	cfg := m.auth.cfg
	if p.count.refused >= max(1, cfg.RefusedPerMinute/slowAt) || p.count.failed >= max(1, cfg.FailedPerMinute/slowAt) {
		p.step++
		p.until = now.Add(min(maxSlow, time.Second<<min(p.step, 5)))
	}
	m.paces[id] = p
}

// notePace takes over what a caller's calls came to in all processes, and forgets the
// callers that were quiet for a minute.
func (m *meter) notePace(sums map[callKey]tally, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, sum := range sums {
		if p := m.paces[k.entity]; p.minute == k.minute {
			p.count = tally{max(p.count.refused, sum.refused), max(p.count.failed, sum.failed)}
			m.paces[k.entity] = p
		}
	}
	minute := minuteAt(now)
	for id, p := range m.paces {
		if p.minute < minute-1 || p.minute > minute {
			delete(m.paces, id)
		}
	}
}
