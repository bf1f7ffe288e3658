package pipeline

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// behaved counts n results of which each failed with a likelihood.
func behaved(k *talk, n int, failing func(i int) bool) Behaviour {
	b := Behaviour{}
	for i := range n {
		status := schemas.ExecutionCompleted
		if failing(i) {
			status = schemas.ExecutionFailed
		}
		k.say("executor", "R3", "R4a", recordResult, "s",
			schemas.ExecutionResult{ExecutionReport: schemas.ExecutionReport{Status: status}})
		b.Count(k.list[len(k.list)-1])
	}
	return b
}

func TestRoleDriftIsToldByHowSureItIs(t *testing.T) {
	share := func(of int) func(int) bool { return func(i int) bool { return i*of/100 != (i+1)*of/100 } }
	for name, tt := range map[string]struct {
		past, now       int // cases
		before, present int // % that failed
		told            bool
	}{
		"far more":          {300, 60, 10, 60, true},
		"far less":          {300, 60, 60, 10, true},
		"the same":          {300, 60, 30, 30, false},
		"a little more":     {300, 60, 10, 20, false},
		"sure, and nothing": {900000, 900000, 10, 15, false},
		"too few now":       {300, 19, 10, 90, false},
		"just enough":       {300, 20, 10, 90, true},
		"too few before":    {49, 60, 10, 90, false},
		"enough before":     {50, 60, 10, 90, true},
		"never, then often": {300, 60, 0, 50, true},
		"never and never":   {300, 60, 0, 0, false},
		"always and always": {300, 60, 100, 100, false},
	} {
		if tt.past > 1000 {
			past, now := Behaviour{}, Behaviour{}
			past.rate("R3", "x", false).Cases, past.rate("R3", "x", false).Hits = tt.past, tt.past*tt.before/100
			now.rate("R3", "x", false).Cases, now.rate("R3", "x", false).Hits = tt.now, tt.now*tt.present/100
			require.Equal(t, tt.told, len(Drifted(past, now)) > 0, name)
			continue
		}
		k := &talk{T: t, task: "t"}
		past, now := behaved(k, tt.past, share(tt.before)), behaved(k, tt.now, share(tt.present))
		found := Drifted(past, now)
		require.Equal(t, tt.told, len(found) > 0, "%s: %v", name, found)
		for _, f := range found {
			require.Equal(t, schemas.Executor, f.Accountable)
			require.Contains(t, f.Finding, "did not complete a subtask")
			require.LessOrEqual(t, len(f.EventIDs), maxShown)
		}
	}
}

// Roles that go on as they did are left alone, whatever chance does.
func TestSteadyRolesDoNotDrift(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 2026))
	told := 0
	for range 2000 {
		p := random.Float64()
		past, now := &Rate{Cases: 50 + random.IntN(400)}, &Rate{Cases: 20 + random.IntN(100)}
		for _, r := range []*Rate{past, now} {
			for range r.Cases {
				if random.Float64() < p {
					r.Hits++
				}
			}
		}
		past.Role, now.Role = "R3", "R3"
		told += len(Drifted(Behaviour{"x": past}, Behaviour{"x": now}))
	}
	require.LessOrEqual(t, told, 2, "of 2000")
}

// Every role that fills a seat or decides is measured.
func TestWhatEachRoleIsMeasuredBy(t *testing.T) {
	k := cleanTask(t, "a")
	k.say("planner", "R2", "R2", recordRefused, "", map[string]any{})
	k.say("reader", "R1", "", recordClarification, "", map[string]any{})
	b := Behaviour{}
	for _, e := range k.list {
		b.Count(e)
	}
	got := map[string]string{}
	for key, r := range b {
		got[key] = fmt.Sprintf("%d of %d", r.Hits, r.Cases)
	}
	require.Equal(t, map[string]string{
		"R1 asked the user": "1 of 2", "R1 had an answer refused": "0 of 2",
		"R2 planned another round": "2 of 3", "R2 had an answer refused": "1 of 4",
		"R3 did not complete a subtask": "0 of 9", "R3 had an answer refused": "0 of 9",
		"R4a corrected a subtask": "3 of 6", "R4a failed a subtask": "4 of 6", "R4a had an answer refused": "0 of 9",
		"R4b rejected a merge": "0 of 1", "R4b had an answer refused": "0 of 1",
		"R7 abandoned a task": "0 of 2",
	}, got)
	require.Len(t, b["R2 had an answer refused"].Examples, 1)
}

// Corrections may be several for a subtask: their rate is no share.
func TestCorrectionsAreACount(t *testing.T) {
	past := &Rate{Role: "R4a", PerCase: true, Hits: 100, Cases: 200}
	now := &Rate{Role: "R4a", PerCase: true, Hits: 60, Cases: 30}
	require.Len(t, Drifted(Behaviour{"c": past}, Behaviour{"c": now}), 1)
	now.Hits = 17
	require.Empty(t, Drifted(Behaviour{"c": past}, Behaviour{"c": now}))
	past.Hits, now.Hits = 300, 90 // more than one for each
	require.Len(t, Drifted(Behaviour{"c": past}, Behaviour{"c": now}), 1)
}
