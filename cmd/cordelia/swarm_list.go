package main

import (
	"fmt"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
)

// showSwarms lists swarms as swarm_status gives them.
func showSwarms(a *cli.App, v ops.SwarmStatusOut) {
	if v.Swarms == nil || len(*v.Swarms) == 0 {
		a.Say("No swarms. How to make one: cordelia swarm create --help")
		return
	}
	t := cli.Table{Firm: 1, Head: []string{"SWARM", "STRATEGY", "AGENTS", "MADE", "ENDED", "GOAL"}}
	for _, s := range *v.Swarms {
		t.Add(cli.Text(cli.Clean(s.SwarmID)), cli.Text(cli.Clean(s.Strategy)), cli.Text(fmt.Sprint(s.Agents)),
			cli.Text(cli.Clock(s.MadeAt)), cli.Text(cli.Clock(s.EndedAt)), cli.Text(cli.Clean(s.Goal)))
	}
	a.Print(t)
}
