package run

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
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
