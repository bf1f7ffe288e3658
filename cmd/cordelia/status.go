package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/schemas"
)

func statusCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show what runs, what waits for you, and what it took",
		Long: "Show the agents, tasks and work below you that are under way, what waits for you or for\nan " +
			"agent, and how long agents worked on what was submitted in the last 24 hours.",
		Example: "  cordelia status\n  cordelia status --json",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				s, err := w.Node.Status(cmd.Context(), w.Caller)
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(s)
				}
				showStatus(a, s)
				return nil
			})
		},
	}
}

// mostShown is how many rows of each kind a status shows.
const mostShown = 10

func showStatus(a *cli.App, s ops.NodeStatus) {
	f := cli.Fields{}
	who := fmt.Sprintf("%d active", s.Agents.Active)
	for _, one := range s.Agents.Suspended {
		who += ", " + cli.Clean(one.Name) + " suspended"
		if one.Reason != "" {
			who += " (" + cli.Clean(one.Reason) + ")"
		}
	}
	f.Add("agents", who)
	for i, one := range s.Roles[:min(len(s.Roles), mostShown)] {
		f.Add(map[bool]string{true: "roles"}[i == 0], stateOf(a, one))
	}
	f.Add("waits for you", a.Here(waitsForYou(s.Waiting)))
	f.Add("waits for agents", counted(s.Waiting.Ready, "item of work", "items of work"))
	for _, w := range s.Swarms[:min(len(s.Swarms), mostShown)] {
		f.Add("swarm", fmt.Sprintf("%s, %s: %s", cli.Clean(string(w.SwarmID)),
			schemas.Count(w.Agents, "agent", "agents"),
			cli.Clean(w.Goal)))
	}
	f.Add("last 24 hours", fmt.Sprintf("%s submitted, %d done, %d failed; agents worked %s in %s",
		schemas.Count(s.Spent.Submitted, "item", "items"), s.Spent.Done, s.Spent.Failed,
		time.Duration(s.Spent.Seconds)*time.Second, schemas.Count(s.Spent.Claims, "claim", "claims")))
	a.List(f)
	if len(s.Tasks) > 0 {
		t := cli.Table{Firm: 1, Head: []string{"TASK", "STATE", "ROUND", "INTENT"}}
		for _, e := range s.Tasks[:min(len(s.Tasks), mostShown)] {
			t.Add(cli.Text(cli.Short(e.TaskID)), cli.Styled(cli.Clean(string(e.State)), cli.Bold),
				cli.Text(fmt.Sprint(e.Round)),
				cli.Text(cli.Clean(e.Intent)))
		}
		a.Say("")
		a.Print(t)
	}
	if len(s.Running) > 0 {
		t := cli.Table{Firm: 1, Head: []string{"RUNNING", "HELD BY", "LEASE LEFT", "INTENT"}}
		for _, i := range s.Running[:min(len(s.Running), mostShown)] {
			t.Add(cli.Text(cli.Short(i.WorkID)), cli.Text(cli.Clean(i.Holder)),
				cli.Text(fmt.Sprintf("%d s", i.LeaseLeft)), cli.Text(cli.Clean(i.Intent)))
		}
		a.Say("")
		a.Print(t)
	}
	if rest := max(0, len(s.Running)-mostShown) + max(0, len(s.Tasks)-mostShown); rest > 0 {
		a.Note("%d more: cordelia task list", rest)
	}
}

// waitsForYou says what a person is to decide, and with which command.
func waitsForYou(w ops.WaitingCounts) string {
	var parts []string
	for _, one := range []struct {
		n             int
		single, plain string
		command       string
	}{
		{w.Reviews, "review", "reviews", "cordelia review list"},
		{w.Held, "item to release", "items to release", "cordelia memory release"},
		{w.Asking, "task with a question or a result", "tasks with a question or a result", "cordelia task show TASK"},
		{w.Blocked, "blocked item", "blocked items", "cordelia task list --state blocked"},
	} {
		if one.n > 0 {
			parts = append(parts, counted(one.n, one.single, one.plain)+": "+one.command)
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// counted is a number of things that were counted up to a bound.
func counted(n int, single, plural string) string {
	if n >= 100 {
		return "100 or more " + plural
	}
	if n == 0 {
		return "nothing"
	}
	return schemas.Count(n, single, plural)
}
