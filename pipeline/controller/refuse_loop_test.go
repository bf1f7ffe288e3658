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
