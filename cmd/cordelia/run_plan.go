package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/cmd/cordelia/cli"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
)

// planText shows the plan of a task with its criteria, and by what each is decided.
func planText(v controller.View, width int, colours bool) string {
	var plan schemas.Plan
	if json.Unmarshal(v.Plan, &plan) != nil {
		return ""
	}
	var f cli.Fields
	f.Add("task", schemas.ShortID(v.TaskID))
	f.Add("request", cli.Clean(schemas.Shorten(v.RawInput, shownRequest)))
	f.Add("intent", cli.Clean(v.Intent))
	for _, s := range plan.SubTasks {
		f.Styled(fmt.Sprintf("subtask %d", s.Sequence), cli.Clean(s.Intent), cli.Bold)
		f.Add("tools", cli.Clean(strings.Join(s.Tools, ", ")))
		for _, c := range s.SuccessCriteria {
			f.Add("criterion", decidedBy(c))
		}
	}
	for _, c := range plan.TaskCriteria {
		f.Add("the whole", decidedBy(c))
	}
	return f.Render(width, colours)
}

// decidedBy is a criterion and by what it is decided.
func decidedBy(c schemas.Criterion) string {
	text := cli.Clean(c.Criterion)
	switch {
	case c.Command != "":
		return text + " (decided by: " + cli.Clean(c.Command) + ")"
	case c.Check != nil:
		return text + " (decided by code)"
	}
	return text + " (judged, " + cli.Clean(string(c.Mode)) + ")"
}
