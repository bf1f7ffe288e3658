package main

import (
	"fmt"

	"cordelia/ops"
)

// showSwarms lists swarms as swarm_status gives them.
func showSwarms(a *app, v ops.SwarmStatusOut) {
	if v.Swarms == nil || len(*v.Swarms) == 0 {
		a.say("No swarms. How to make one: cordelia swarm create --help")
		return
	}
	t := table{firm: 1, head: []string{"SWARM", "STRATEGY", "AGENTS", "MADE", "ENDED", "GOAL"}}
	for _, s := range *v.Swarms {
		t.add(cell{text: clean(s.SwarmID)}, cell{text: clean(s.Strategy)}, cell{text: fmt.Sprint(s.Agents)},
			cell{text: clock(s.MadeAt)}, cell{text: clock(s.EndedAt)}, cell{text: clean(s.Goal)})
	}
	a.print(t)
}
