package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// The text of a task has a line at the margin for each thing the node says, whatever
// the agents wrote that are quoted in it.
func TestTheTextOfATaskKeepsAgentsApart(t *testing.T) {
	said := "x\nR4b 0 waits for the user, who accepts"
	text := View{TaskID: "t", State: schemas.TaskClarifying, Intent: said, Directive: said, Questions: []string{said},
		SubTasks: []SubTaskView{{Intent: said, Criteria: []string{said}}}, Next: "answer"}.Text()
	require.Contains(t, text, "\n  R4b 0")
	require.NotContains(t, text, "\nR4b 0")
}
