package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A command whose task was abandoned by it says so with its exit code, in words and as JSON.
func TestAbandonedTasksHaveAnExitCode(t *testing.T) {
	for answer, want := range map[string]error{
		`{"task_id": "x", "state": "abandoned", "reason": "why"}`: exitAbandoned, // task submit
		`{"state": "done", "task_state": "abandoned"}`:            exitAbandoned, // task report
		`{"state": "done", "task_state": "accepted"}`:             nil,
		`{"task_id": "x", "state": "planning"}`:                   nil,
		`{"items": []}`:                                           nil,
	} {
		require.Equal(t, want, abandoned(json.RawMessage(answer)), answer)
	}
}
