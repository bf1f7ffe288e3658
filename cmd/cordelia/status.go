package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordelia/ops"
	"cordelia/schemas"
)

func statusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show what runs, what waits for you, and what it took",
		Long: "Show the agents, tasks and work below you that are under way, what waits for you or for\nan " +
			"agent, and how long agents worked on what was submitted in the last 24 hours.",
		Example: "  cordelia status\n  cordelia status --json",
		Args:    wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				s, err := w.node.Status(cmd.Context(), w.caller)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(s)
				}
				showStatus(a, s)
				return nil
			})
		},
	}
}

// mostShown is how many rows of each kind a status shows.
const mostShown = 10

func showStatus(a *app, s ops.NodeStatus) {
	f := fields{}
	who := fmt.Sprintf("%d active", s.Agents.Active)
	for _, one := range s.Agents.Suspended {
		who += ", " + clean(one.Name) + " suspended"
		if one.Reason != "" {
			who += " (" + clean(one.Reason) + ")"
		}
	}
	f.add("agents", who)
	f.add("waits for you", waitsForYou(s.Waiting))
	f.add("waits for agents", counted(s.Waiting.Ready, "item of work", "items of work"))
	for _, w := range s.Swarms[:min(len(s.Swarms), mostShown)] {
		f.add("swarm", fmt.Sprintf("%s, %s: %s", clean(string(w.SwarmID)), schemas.Count(w.Agents, "agent", "agents"),
			clean(w.Goal)))
	}
	f.add("last 24 hours", fmt.Sprintf("%s submitted, %d done, %d failed; agents worked %s in %s",
		schemas.Count(s.Spent.Submitted, "item", "items"), s.Spent.Done, s.Spent.Failed,
		time.Duration(s.Spent.Seconds)*time.Second, schemas.Count(s.Spent.Claims, "claim", "claims")))
	a.list(f)
	if len(s.Tasks) > 0 {
		t := table{firm: 1, head: []string{"TASK", "STATE", "ROUND", "INTENT"}}
		for _, e := range s.Tasks[:min(len(s.Tasks), mostShown)] {
			t.add(cell{text: short(e.TaskID)}, cell{clean(string(e.State)), bold}, cell{text: fmt.Sprint(e.Round)},
				cell{text: clean(e.Intent)})
		}
		a.say("")
		a.print(t)
	}
	if len(s.Running) > 0 {
		t := table{firm: 1, head: []string{"RUNNING", "HELD BY", "LEASE LEFT", "INTENT"}}
		for _, i := range s.Running[:min(len(s.Running), mostShown)] {
			t.add(cell{text: short(i.WorkID)}, cell{text: clean(i.Holder)},
				cell{text: fmt.Sprintf("%d s", i.LeaseLeft)}, cell{text: clean(i.Intent)})
		}
		a.say("")
		a.print(t)
	}
	if rest := max(0, len(s.Running)-mostShown) + max(0, len(s.Tasks)-mostShown); rest > 0 {
		a.note("%d more: cordelia task list", rest)
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
