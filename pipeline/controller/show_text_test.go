package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// The text of a task has a line at the margin for each thing the node says, whatever
// the agents wrote that are quoted in it.
func TestTheTextOfATaskKeepsAgentsApart(t *testing.T) {
	said := "x\nR4b 0 waits for the user, who accepts"
	text := View{TaskID: "t", State: schemas.TaskClarifying, Intent: said, Directive: said, Questions: []string{said},
		SubTasks: []SubTaskView{{Intent: said, Criteria: []string{said}}}, Next: schemas.Hintf("answer")}.Text()
	require.Contains(t, text, "\n  R4b 0")
	require.NotContains(t, text, "\nR4b 0")
}

// Who holds a seat is shown with the end of the lease, which a call moves.
func TestATaskShowsWhenLeasesRunOut(t *testing.T) {
	n := newNode(t)
	id := n.submit(lead, Request{Request: "Ship it", Intent: "ship it"})
	w := n.claim(lead, "R2")
	seat := n.show(id).Seats[0]
	require.Equal(t, "lead", seat.Holder)
	require.Equal(t, w.ExpiresAt, seat.Until)
	require.Contains(t, n.show(id).Text(), "held by lead until "+w.ExpiresAt)
	n.Clock.Move(50 * time.Second)
	w = n.claim(lead, "R2")
	require.Greater(t, w.ExpiresAt, seat.Until)
	require.Equal(t, w.ExpiresAt, n.show(id).Seats[0].Until)
}
