package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/pipeline/controller"
	"cordelia/schemas"
)

// planText shows the plan of a task with its criteria, and by what each is decided.
func planText(v controller.View, width int, colours bool) string {
	var plan schemas.Plan
	if json.Unmarshal(v.Plan, &plan) != nil {
		return ""
	}
	var f fields
	f.add("task", schemas.ShortID(v.TaskID))
	f.add("intent", clean(v.Intent))
	for _, s := range plan.SubTasks {
		f.styled(fmt.Sprintf("subtask %d", s.Sequence), clean(s.Intent), bold)
		f.add("tools", clean(strings.Join(s.Tools, ", ")))
		for _, c := range s.SuccessCriteria {
			f.add("criterion", decidedBy(c))
		}
	}
	for _, c := range plan.TaskCriteria {
		f.add("the whole", decidedBy(c))
	}
	return f.render(width, colours)
}

// decidedBy is a criterion and by what it is decided.
func decidedBy(c schemas.Criterion) string {
	text := clean(c.Criterion)
	switch {
	case c.Command != "":
		return text + " (decided by: " + clean(c.Command) + ")"
	case c.Check != nil:
		return text + " (decided by code)"
	}
	return text + " (judged, " + clean(string(c.Mode)) + ")"
}
