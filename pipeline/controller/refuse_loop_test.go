package controller

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/work"
)

// Two who take turns at a seat, each giving it back before its answers are used up, do
// not keep it for ever: it ends up before a person.
func TestTakingTurnsAtASeatEnds(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, oneStep)
	n.report(a, n.claim(a, "R3"), `{}`)
	state := schemas.WorkReady
	for turn := 0; state == schemas.WorkReady; turn++ {
		require.Less(t, turn, 20)
		who := []schemas.EntityID{b, c}[turn%2]
		w := n.claim(who, "R4a")
		for i := range 2 {
			f, err := n.tryReport(who, w, work.Done, fmt.Sprintf(`{"verdict": %d}`, 10*turn+i), nil)
			require.NoError(t, err)
			require.Equal(t, schemas.WorkLeased, f.State)
		}
		f, err := n.tryReport(who, w, work.Released, "", nil)
		require.NoError(t, err)
		state = f.State
	}
	require.Equal(t, schemas.WorkBlocked, state)
	waits := func(who schemas.EntityID) (hint string) {
		require.NoError(t, n.Do(who, "task_status", access.Read, func(g access.Grant) error {
			v, err := Show(g, id, false)
			if err == nil {
				hint = v.Seats[0].Waits.String()
			}
			return err
		}))
		return hint
	}
	require.Contains(t, waits(ann), "task_submit {\"retry\": ")
	require.Contains(t, waits(lead), "ask the user to run cordelia task retry ")
	require.NotContains(t, waits(lead), "task_submit", "a person alone retries")
}

// An answer that does not hold is refused once, however often it is said; the third
// ends the seat, and its end is recorded.
func TestRefusedAnswers(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, oneStep)
	n.report(a, n.claim(a, "R3"), `{}`)
	// Whose answers are used up leaves the seat to others; the last one ends it.
	for _, who := range []struct {
		id   schemas.EntityID
		ends schemas.WorkState
		says string
	}{{b, schemas.WorkReady, "another agent has to take it"}, {c, schemas.WorkFailed, "and the item failed"}} {
		w := n.claim(who.id, "R4a")
		for i, result := range []string{`{"verdict": "fine"}`, `{"verdict": "fine"}`, `{"verdicts": "all"}`} {
			f, err := n.tryReport(who.id, w, work.Done, result, nil)
			require.NoError(t, err)
			require.ErrorIs(t, f.Refusal(), schemas.ErrInvalid)
			require.Equal(t, []int{2, 2, 1}[i], f.Refused.Left)
			require.Equal(t, schemas.WorkLeased, f.State, "the lease stays")
		}
		p := `{"verdicts": 7}`
		f, err := n.tryReport(who.id, w, work.Done, p, nil)
		require.NoError(t, err)
		require.ErrorIs(t, f.Refusal(), schemas.ErrInvalid)
		require.ErrorIs(t, f.Refusal(), schemas.ErrSpent)
		require.ErrorContains(t, f.Refusal(), who.says)
		require.NotErrorIs(t, f.Refusal(), schemas.ErrAbandoned)
		require.Equal(t, who.ends, f.State)
		again, err := n.tryReport(who.id, w, work.Done, p, nil)
		require.NoError(t, err)
		require.ErrorIs(t, again.Refusal(), schemas.ErrSpent)
		require.Equal(t, who.ends, again.State, "to who says it again it is the same")
	}
	o := last[schemas.CorrectionSignal](n, id, "CorrectionSignal")
	require.Empty(t, o.FailureClass)
	require.Contains(t, o.WhatWasWrong, "no agent judged it (R4a): 6 answers could not be taken")
	require.Equal(t, 6, one[int](n, `SELECT count(*) FROM task_messages WHERE record = 'Refused'`))
}
