package run

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/pipeline/controller"
	"cordelia/run/git"
	"cordelia/schemas"
	"cordelia/work"
)

// A seat whose lease is lost ends without a report, and the run goes on: the seat may be
// another agent's by now.
func TestALostLeaseEndsItsSeatAlone(t *testing.T) {
	s := &seat{Runner: New(Config{})}
	kept, lose := context.WithCancelCause(t.Context())
	lose(fmt.Errorf("%w: another agent has it", errLeaseLost))
	err := s.unfilled(kept, t.Context(), faultf(Stopped, "%v", context.Cause(kept)))
	require.NoError(t, err)
	require.Equal(t, GivenBack, s.state.Phase)
	require.Contains(t, s.state.Doing, "another agent has it")
}

// refusing is a node that takes no answer, and ends the lease with the last.
type refusing struct {
	Node
	reports int
	left    int
}

func (r *refusing) Record(context.Context, work.Run) error { return nil }

func (r *refusing) Report(context.Context, Agent, Report) error {
	if r.reports++; r.reports < r.left {
		return schemas.Invalidf("not this")
	}
	return schemas.Invalidf("not that; another agent has to take it").Because(schemas.ErrSpent)
}

type answering struct{}

func (answering) Name() string { return "one" }

func (answering) Ask(context.Context, Order, func(Event)) (Answer, error) {
	return Answer{Structured: []byte(`{}`)}, nil
}

// A seat whose last answer was refused has failed, and says so; there is no lease left to report on.
func TestTheLastRefusedAnswerEndsTheSeat(t *testing.T) {
	n := &refusing{left: 2}
	s := &seat{Runner: New(Config{Node: n, Repo: &git.Repository{}}), client: answering{},
		view: controller.SeatView{Role: schemas.Perceiver}, claimed: &work.Claimed{}}
	require.NoError(t, s.askUntilTaken(t.Context(), "", "", nil, nil))
	require.Equal(t, 2, n.reports)
	require.Equal(t, "not that; another agent has to take it", s.fell)
}
