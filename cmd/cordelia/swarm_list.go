package main

import "fmt"

// showSwarms lists swarms as swarm_status gives them.
func showSwarms(a *app, v struct {
	Swarms []struct {
		SwarmID  string `json:"swarm_id"`
		Strategy string `json:"strategy"`
		Agents   int    `json:"agents"`
		MadeAt   string `json:"made_at"`
		EndedAt  string `json:"ended_at"`
		Goal     string `json:"goal"`
	} `json:"swarms"`
}) {
	if len(v.Swarms) == 0 {
		a.say("No swarms. How to make one: cordelia swarm create --help")
		return
	}
	t := table{firm: 1, head: []string{"SWARM", "STRATEGY", "AGENTS", "MADE", "ENDED", "GOAL"}}
	for _, s := range v.Swarms {
		t.add(cell{text: clean(s.SwarmID)}, cell{text: clean(s.Strategy)}, cell{text: fmt.Sprint(s.Agents)},
			cell{text: clock(s.MadeAt)}, cell{text: clock(s.EndedAt)}, cell{text: clean(s.Goal)})
	}
	a.print(t)
}
