package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/schemas"
	"cordelia/swarm"
)

func swarmCommand(a *cli.App) *cobra.Command {
	return cli.Group("swarm", "Agents that work together on one goal",
		cli.Command{
			Op: "swarm_create", Use: "create GOAL…",
			Short: "Make a swarm: its agents, the group they share, their first work", Takes: []string{"goal"},
			Hide: []string{"add_to", "group_id"}, Names: map[string]string{"coordinator_agent_id": "coordinator"},
			Long: `Make agents that share a goal, a group and work; all of it or nothing.
  broadcast     every agent sees every write at once
  pipeline      slots are stages: each gets what the one before it got accepted
  hierarchical  a coordinator assigns work, and the results go to it
--agents is JSON, the name of a file with it, or - for stdin:
  [{"slot", "count", "agent_type", "capabilities", "work": ["first intents"]}]`,
			Example: `cordelia swarm create "Survey the market" --strategy hierarchical --coordinator-slot lead \
    --agents '[{"slot": "lead", "work": ["Plan the survey"]}, {"slot": "researcher", "count": 3}]'`,
			Show: cli.Shown(showSwarmMade),
		}.Command(a),
		cli.Command{
			Op: "swarm_status", Use: "status [SWARM]", Short: "Show how a swarm stands; without one, list yours",
			Takes:   []string{"swarm_id?"},
			Example: "cordelia swarm status swarm-survey-the-market-2026-11-21", Show: cli.Shown(showSwarm),
		}.Command(a),
		cli.Command{
			Op: "swarm_status", Use: "list", Short: "List the swarms you see, those that run first",
			Only:    []string{},
			Example: "cordelia swarm list", Show: cli.Shown(showSwarms),
		}.Command(a),
		cli.Command{
			Op: "swarm_create", Use: "resize SWARM", Short: "Let a swarm grow; agent deactivate makes it smaller",
			Takes: []string{"add_to"}, Only: []string{"agents"},
			Example: `cordelia swarm resize swarm-survey-the-market-2026-11-21 \
    --agents '[{"slot": "researcher", "count": 2}]'`,
			Show: cli.Shown(showSwarmMade),
		}.Command(a),
		cli.Command{
			Op: "swarm_disband", Use: "disband SWARM",
			Short: "End a swarm: archive it, deactivate its agents, close its groups", Takes: []string{"swarm_id"},
			Example: "cordelia swarm disband swarm-survey-the-market-2026-11-21 --share 1cd21f84 --share-with team",
			Show:    cli.Shown(showSwarmEnded),
		}.Command(a),
	)
}

func showSwarmMade(a *cli.App, v ops.SwarmCreateOut) {
	a.Say("%s (%s)", cli.Clean(v.SwarmID), cli.Clean(v.Strategy))
	t := cli.Table{Firm: 1, Head: []string{"AGENT", "SLOT", "ID", "WRITES TO"}}
	for _, i := range v.Agents {
		t.Add(cli.Text(cli.Clean(i.Name)), cli.Text(cli.Clean(i.Slot)), cli.Text(cli.Short(i.ID)),
			cli.Text(cli.Clean(i.Group)))
	}
	a.Print(t)
	for _, r := range v.Refused {
		a.Say("refused: %s %s", cli.Clean(r.Path), cli.Clean(r.Msg))
	}
	for _, n := range v.Notes {
		a.Note("%s", a.Advice(n))
	}
	switch {
	case v.DryRun && len(v.Refused) == 0:
		a.Note("nothing was made; run it again without --dry-run")
	case v.DryRun:
		a.Note("%s", a.Advice(v.Next))
	}
}

func showSwarm(a *cli.App, v ops.SwarmStatusOut) {
	if v.Status == nil {
		showSwarms(a, v)
		return
	}
	a.List(standing(*v.Status))
	t := cli.Table{Firm: 1, Head: []string{"AGENT", "SLOT", "STATUS", "LAST SEEN", "LEASE LEFT", "PROGRESS"}}
	for _, s := range v.Slots {
		for _, m := range s.Agents {
			t.Add(memberRow(s.Slot, m)...)
		}
	}
	a.Print(t)
}

// standing says how a swarm stands.
func standing(v swarm.Status) cli.Fields {
	f := cli.Fields{}
	f.Add("swarm", cli.Clean(v.SwarmID))
	f.Add("goal", cli.Clean(v.Goal))
	f.Add("strategy", cli.Clean(v.Strategy))
	if v.Coordinator != "" {
		f.Add("coordinator", cli.Clean(v.Coordinator))
	}
	if v.EndedAt != "" {
		f.Add("ended", cli.Clock(v.EndedAt))
	}
	var work []string
	for _, w := range v.Work {
		work = append(work, fmt.Sprintf("%d %s", w.Items, cli.Clean(w.State)))
	}
	if len(work) > 0 {
		f.Add("work", strings.Join(work, ", "))
	}
	f.Add("findings", fmt.Sprintf("%d, %d not in the synthesis", v.Findings, v.Unmerged))
	if v.EndedAt == "" {
		f.Add("room", "for "+schemas.Count(v.Budget.Agents, "agent", "agents")+" more")
	}
	return f
}

// memberRow is the row of one agent of a swarm.
func memberRow(slot string, m swarm.AgentStatus) []cli.Cell {
	status, seen, lease, progress := m.Status, "", "", ""
	if status == "" {
		status = schemas.Active
	}
	if m.Seen != nil {
		seen = fmt.Sprintf("%d s ago", *m.Seen)
	}
	if m.Lease != nil {
		lease = fmt.Sprintf("%d s", *m.Lease)
	}
	if m.Progress != nil {
		progress = fmt.Sprintf("%.0f %%", *m.Progress*100)
	}
	return []cli.Cell{cli.Text(cli.Clean(m.Name)), cli.Text(cli.Clean(slot)), cli.Styled(cli.Clean(status), cli.Bold),
		cli.Text(seen), cli.Text(lease),
		cli.Text(progress)}
}

func showSwarmEnded(a *cli.App, v ops.SwarmDisbandOut) {
	a.Say("%s has ended: %s deactivated, %s cancelled, %s shared.", cli.Clean(v.SwarmID),
		schemas.Count(v.Agents, "agent", "agents"),
		schemas.Count(v.Cancelled, "item", "items"), schemas.Count(len(v.Shared), "finding", "findings"))
	if v.Unmerged > 0 {
		a.Note("findings in no synthesis: %d. The archive lists the newest findings; to go on with one: cordelia "+
			"memory share ID GROUP", v.Unmerged)
	}
	a.Note("its archive stays quarantined, as archives do: no search finds it. To read it: cordelia memory read %s",
		cli.Clean(v.ArchiveID))
}

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
