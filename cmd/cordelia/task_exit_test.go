package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
	"cordelia/schemas"
)

// A command whose task was abandoned by it says so with its exit code, in words and as JSON.
func TestAbandonedTasksHaveAnExitCode(t *testing.T) {
	for _, c := range []struct {
		answer any
		want   error
	}{
		{ops.TaskSubmitOut{TaskID: "x", State: schemas.TaskAbandoned, Reason: "why"}, exitAbandoned},
		{ops.TaskReportOut{State: schemas.WorkDone, Task: schemas.TaskAbandoned}, exitAbandoned},
		{ops.TaskReportOut{State: schemas.WorkDone, Task: schemas.TaskAccepted}, nil},
		{ops.TaskSubmitOut{TaskID: "x", State: schemas.TaskPlanning}, nil},
		{ops.TaskSubmitOut{}, nil},
	} {
		require.Equal(t, c.want, abandoned(c.answer), "%+v", c.answer)
	}
}
