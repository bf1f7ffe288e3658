package work

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/proof/soak"
	"cordelia/schemas"
)

// One lease at a time; by priority, then in order; the same claim resumes.
func TestClaim(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("first"), todo("second"),
		Draft{Intent: "urgent", Priority: 5, Brief: Brief{Constraints: []string{"be quick"}}})
	c := n.claim(a)
	require.Equal(t, "urgent", c.Intent)
	require.Equal(t, []string{"be quick"}, c.Brief.Constraints)
	require.Equal(t, int64(1), c.Fence)
	require.Equal(t, "Friday, 2026-11-20", c.Today)
	again := n.claim(a)
	require.True(t, again.Resumed)
	require.Equal(t, c.WorkID, again.WorkID)
	require.Equal(t, c.Fence, again.Fence)
	require.Equal(t, "first", n.claim(b).Intent)
	n.report(a, c, Done, `"ok"`)
	require.Equal(t, "second", n.claim(a).Intent)
	n.none(kid) // in no group
	n.none(solo)
	n.none(eve)
}

// A report counts with the fence of the present lease, once.
func TestFences_INV_FENCE(t *testing.T) {
	n := newNode(t)
	_, ids := n.submit(lead, "team", todo("x"))
	old := n.claim(a)
	forged := old
	forged.Fence++
	_, err := n.tryReport(a, forged, Done, `1`, noReview)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	_, err = n.tryReport(b, old, Done, `1`, noReview)
	require.ErrorIs(t, err, schemas.ErrNotFound)

	n.Clock.Move(2 * time.Minute)
	now := n.claim(b) // at once, without a sweep
	require.Equal(t, old.WorkID, now.WorkID)
	require.Equal(t, old.Fence+1, now.Fence)

	late := n.report(a, old, Done, `"late"`)
	require.ErrorIs(t, late.Stale(), schemas.ErrConflict)
	require.NotContains(t, late.Stale().Error(), string(b))
	require.Equal(t, int64(1), n.one(`SELECT count(*) FROM work_leases WHERE late LIKE '%late%'`),
		"the payload is kept")
	n.report(a, old, Done, `"later"`)
	require.Zero(t, n.one(`SELECT count(*) FROM work_leases WHERE late LIKE '%later%'`), "once")
	require.Equal(t, schemas.WorkLeased, n.state(ids[0]))

	first := n.report(b, now, Done, `"good"`)
	require.Equal(t, Receipt{WorkID: ids[0], Fence: 2, State: schemas.WorkDone}, first)
	audited := n.one(`SELECT count(*) FROM audit`)
	require.Equal(t, first, n.report(b, now, Done, `"good"`))
	require.Equal(t, audited, n.one(`SELECT count(*) FROM audit`), "nothing happened again")
	differs := n.report(b, now, Failed, ``)
	require.ErrorIs(t, differs.Stale(), schemas.ErrConflict)
	require.False(t, differs.Counts())
	require.Equal(t, int64(1), n.one(`SELECT count(*) FROM work_leases WHERE fence = 2 AND late LIKE '%failed%'`),
		"what differs leaves a row")
	s := n.status(lead, ids[0])
	require.JSONEq(t, `"good"`, string(s.Result))
	require.Equal(t, 2, s.Attempts)
	require.Equal(t, "b", s.Holder)
	require.Empty(t, s.Late, "no agent reads what was kept")
	shown := n.status(ann, ids[0]).Late
	require.Len(t, shown, 2)
	require.Equal(t, []any{int64(1), "a", Done, `"late"`}, []any{shown[0].Fence, shown[0].By, shown[0].Outcome,
		string(shown[0].Result)})
	require.Equal(t, []any{int64(2), "b", Failed}, []any{shown[1].Fence, shown[1].By, shown[1].Outcome})
}

// The agent that claims an item again reports with the fence of its present lease: a report
// with the older fence is refused, and its payload is kept.
func TestAStaleFenceOfTheHolder_INV_FENCE(t *testing.T) {
	for _, outcome := range []Outcome{Done, Failed, Released, Progress} {
		n := newNode(t)
		_, ids := n.submit(lead, "team", todo("x"))
		old := n.claim(a)
		n.Clock.Move(2 * time.Minute)
		now := n.claim(a)
		require.Equal(t, old.WorkID, now.WorkID)
		require.Equal(t, old.Fence+1, now.Fence)

		result := ""
		if outcome == Done {
			result = `"late"`
		}
		late := n.report(a, old, outcome, result)
		require.ErrorIs(t, late.Stale(), schemas.ErrConflict, outcome)
		counts := outcome == Done || outcome == Failed
		require.Equal(t, counts, late.Kept, outcome)
		kept := map[bool]int64{true: 1}[counts]
		require.Equal(t, kept, n.one(`SELECT count(*) FROM work_leases WHERE late LIKE '%"outcome":"`+string(outcome)+
			`"%'`), outcome)
		s := n.status(lead, ids[0])
		require.Equal(t, schemas.WorkLeased, s.State, outcome)
		require.Empty(t, s.Result, outcome)
		require.Equal(t, 2, s.Attempts, outcome)

		require.Equal(t, Receipt{WorkID: ids[0], Fence: 2, State: schemas.WorkDone}, n.report(a, now, Done, `"good"`),
			outcome)
		require.JSONEq(t, `"good"`, string(n.status(lead, ids[0]).Result), outcome)
	}
}

// A lease that is over and that nobody took still counts.
func TestLateButNotTaken(t *testing.T) {
	n := newNode(t)
	_, ids := n.submit(lead, "team", todo("x"))
	c := n.claim(a)
	n.Clock.Move(time.Hour)
	require.Equal(t, schemas.WorkDone, n.report(a, c, Done, `1`).State)
	require.Equal(t, schemas.WorkDone, n.state(ids[0]))
}

func (n *node) reap() {
	n.Helper()
	n.must(access.NodeEntity, func(g access.Grant) error { _, err := ReapExpired(g); return err })
}

// After its leases ran out too often an item waits for a person.
func TestExpiry(t *testing.T) {
	n := newNode(t)
	_, ids := n.submit(lead, "team", todo("x"))
	for i := range DefaultExpiries {
		require.Equal(t, i+1, n.claim(a).Attempt)
		n.reap()
		require.Equal(t, schemas.WorkLeased, n.state(ids[0]))
		n.Clock.Move(time.Minute)
		n.reap()
	}
	require.Equal(t, schemas.WorkBlocked, n.state(ids[0]))
	n.none(a)
	require.Zero(t, n.one(`SELECT count(*) FROM slots`))
	require.ErrorIs(t, n.do(lead, func(g access.Grant) error { _, err := Retry(g, ids[0]); return err }),
		schemas.ErrDenied)
	n.must(ann, func(g access.Grant) error { _, err := Retry(g, ids[0]); return err })
	n.claim(a)
}

// A released item goes to the end of the queue, and not for ever.
func TestRelease(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("hard"), todo("easy"))
	c := n.claim(a)
	require.Equal(t, "hard", c.Intent)
	require.Equal(t, schemas.WorkReady, n.report(a, c, Released, "").State)
	require.Equal(t, schemas.WorkReady, n.report(a, c, Released, "").State, "the same again")
	c = n.claim(a)
	require.Equal(t, "easy", c.Intent)
	n.report(a, c, Done, `1`)
	for range maxReleases - 1 {
		c = n.claim(a)
		n.report(a, c, Released, "")
	}
	require.Equal(t, schemas.WorkBlocked, n.state(c.WorkID))
}

// Calls extend a lease, below half of it only.
func TestCallsExtendALease(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("x"))
	c := n.claim(a)
	call := func(after time.Duration) int64 {
		n.Clock.Move(after)
		n.must(a, func(access.Grant) error { return nil })
		n.Auth.Flush(t.Context())
		return n.one(`SELECT lease_until FROM work_items`) - n.Clock.Micros
	}
	require.Equal(t, (40 * time.Second).Microseconds(), call(20*time.Second), "more than half is left")
	require.Equal(t, time.Minute.Microseconds(), call(20*time.Second))
	for range 5 {
		call(40 * time.Second)
	}
	require.Equal(t, schemas.WorkDone, n.report(a, c, Done, `1`).State)

	n.submit(lead, "team", todo("y"))
	n.claim(a)
	require.Negative(t, call(2*time.Minute), "what is over is not extended")
}

// A call counts from when it was made, however late that is written.
func TestALateNoteRevivesNoLease(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("x"))
	n.claim(a)
	n.Clock.Move(40 * time.Second)
	n.must(a, func(access.Grant) error { return nil })
	n.Clock.Move(10 * time.Minute)
	n.Auth.Flush(t.Context())
	require.Equal(t, (-9 * time.Minute).Microseconds(), n.one(`SELECT lease_until FROM work_items`)-n.Clock.Micros)
	require.EqualValues(t, 2, n.claim(b).Fence)
}

// Calls that were made in time keep a lease, however late that is written.
func TestCallsInTimeCountWrittenLate(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("x"))
	n.claim(a)
	for _, after := range []time.Duration{40 * time.Second, 55 * time.Second, 10 * time.Minute} {
		n.Clock.Move(after)
		n.must(a, func(access.Grant) error { return nil })
	}
	n.Auth.Flush(t.Context())
	require.Equal(t, (-9 * time.Minute).Microseconds(), n.one(`SELECT lease_until FROM work_items`)-n.Clock.Micros,
		"a minute from the second call")
}

// Whenever calls are written, leases end when they would have if each had been written at once.
func TestWheneverCallsAreWritten(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("x"))
	n.claim(a)
	n.Auth.Flush(t.Context())
	failing, stop := context.WithCancel(t.Context())
	stop()
	runs, longer, ended := soak.Count(t, 60, 2000), 0, 0
	for seed := range uint64(runs) {
		random := rand.New(rand.NewPCG(seed, 5))
		length := []time.Duration{MinLease, time.Minute, 10 * time.Minute}[random.IntN(3)].Microseconds()
		begin := n.Clock.Micros + length
		until := begin
		n.SQL(`UPDATE work_items SET lease = ?, lease_until = ?`, length, until)
		for range 1 + random.IntN(30) {
			n.Clock.Micros += 1e6 + random.Int64N(length>>random.IntN(4)) // closer calls may count as one
			n.must(a, func(access.Grant) error { return nil })
			if now := n.Clock.Micros; now < until && until < now+length/2 {
				until = now + length
			}
			if random.IntN(8) == 0 {
				n.Auth.Flush(failing)
			}
		}
		n.Auth.Flush(t.Context())
		require.Equal(t, until, n.one(`SELECT lease_until FROM work_items`), "seed %d", seed)
		if until > begin {
			longer++
		}
		if until < n.Clock.Micros {
			ended++
		}
	}
	t.Logf("%d runs: %d leases were extended, %d ended", runs, longer, ended)
	require.Positive(t, longer)
	require.Positive(t, ended)
	require.Less(t, ended, runs)
}

// A clock that jumps back does not prolong a lease beyond the longest there is.
func TestClockJumpsBack(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("x"))
	old := n.claim(a)
	n.Clock.Move(-24 * time.Hour)
	now := n.claim(b)
	require.Equal(t, old.Fence+1, now.Fence)
	require.ErrorIs(t, n.report(a, old, Done, `1`).Stale(), schemas.ErrConflict)
}

// Who may take an item: its tools, its assignment, related to none.
func TestEligibilityClasses(t *testing.T) {
	n := newNode(t)
	n.May(b, 50, "task_claim", "task_report")
	n.submit(lead, "team", Draft{Intent: "tools", Needs: []string{"shell"}})
	n.none(b)
	n.report(a, n.claim(a), Done, `1`)
	n.submit(lead, "team", Draft{Intent: "b's", AssignedTo: "b"})
	n.none(a)
	n.report(b, n.claim(b), Done, `1`)
	n.submit(lead, "", Draft{Intent: "check", Excluded: []schemas.EntityID{a}})
	n.none(a)
	n.none(kid)
	n.none(lead)
	n.report(b, n.claim(b), Done, `1`)
	n.submit(a, "", todo("below a"))
	n.none(b)
	n.none(lead)
	n.claim(kid)
	_, _, err := n.trySubmit(lead, "team", Draft{Intent: "x", AssignedTo: "kid"})
	require.ErrorIs(t, err, schemas.ErrInvalid)
	_, _, err = n.trySubmit(eve, "team", todo("x"))
	require.ErrorIs(t, err, schemas.ErrNotFound)
	_, _, err = n.trySubmit(solo, "team", todo("x"))
	require.ErrorIs(t, err, schemas.ErrDenied)
}

// A lease is one of the operations that everyone above it may run at once.
func TestLeasesTakeSlots(t *testing.T) {
	n := newNode(t)
	n.May(lead, 1, everything...)
	n.submit(lead, "team", todo("x"), todo("y"))
	c := n.claim(a)
	_, _, err := n.tryClaim(b, time.Minute)
	require.ErrorIs(t, err, schemas.ErrBusy)
	n.report(a, c, Done, `1`)
	n.claim(b)
}

// After a restore no lease and no fence from before counts.
func TestRestored(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("x"))
	c := n.claim(a)
	require.NoError(t, n.do(access.NodeEntity, func(g access.Grant) error { return Restored(g, nil) }))
	require.ErrorIs(t, n.report(a, c, Done, `1`).Stale(), schemas.ErrConflict)
	require.Greater(t, n.claim(b).Fence, c.Fence+1000)
}

// A claim shows the short form of an id. Who had a lease finds the item by it also after another agent has
// the item, so its late report is kept as with the whole id.
func TestAFormerHolderFindsItsItemByTheShortForm_INV_FENCE(t *testing.T) {
	n := newNode(t)
	_, ids := n.submit(lead, "", todo("x"))
	old := n.claim(a)
	n.Clock.Move(2 * time.Minute)
	n.claim(b)
	for who, found := range map[schemas.EntityID][]string{a: ids, b: ids, solo: {}, eve: {}} {
		n.must(who, func(g access.Grant) error {
			named, err := Named(g, schemas.ShortID(old.WorkID))
			require.NoError(t, err)
			require.ElementsMatch(t, found, named, who)
			return nil
		})
	}
}

// Each restore raises the fence of an open item above all that were given out since the backup, however
// often, and the fence stays a number that each client reads whole.
func TestRestoresRaiseFences_INV_FENCE(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("x"))
	last := n.claim(a).Fence
	for range 20 {
		n.Clock.Move(time.Second)
		n.SQL(`UPDATE work_items SET fence = fence - 1`) // the backup is from before the last claim
		n.must(lead, func(g access.Grant) error {
			return g.AsNode(func(node access.Grant) error { return Restored(node, nil) })
		})
		now := n.claim(a).Fence
		require.Greater(t, now, last)
		require.Less(t, now, int64(1)<<53)
		last = now
	}
}
