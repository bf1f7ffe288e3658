package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/ops"
	"cordelia/schemas"
	"cordelia/swarm"
)

func swarmCommand(a *app) *cobra.Command {
	rest := []string{"swarm_id", "group_id", "goal", "strategy", "coordinator_slot", "coordinator_agent_id", "culture",
		"dry_run"}
	return group("swarm", "Agents that work together on one goal",
		command{
			op: "swarm_create", use: "create GOAL…",
			short: "Make a swarm: its agents, the group they share, their first work", takes: []string{"goal"},
			hide: []string{"add_to", "group_id"}, names: map[string]string{"coordinator_agent_id": "coordinator"},
			long: `Make agents that share a goal, a group and work; all of it or nothing.
  broadcast     every agent sees every write at once
  pipeline      slots are stages: each gets what the one before it got accepted
  hierarchical  a coordinator assigns work, and the results go to it
--agents is JSON, the name of a file with it, or - for stdin:
  [{"slot", "count", "agent_type", "capabilities", "work": ["first intents"]}]`,
			example: `cordelia swarm create "Survey the market" --strategy hierarchical --coordinator-slot lead \
    --agents '[{"slot": "lead", "work": ["Plan the survey"]}, {"slot": "researcher", "count": 3}]'`,
			show: shown(showSwarmMade),
		}.command(a),
		command{
			op: "swarm_status", use: "status SWARM", short: "Show how a swarm stands", takes: []string{"swarm_id"},
			example: "cordelia swarm status swarm-survey-the-market-2026-11-21", show: shown(showSwarm),
		}.command(a),
		command{
			op: "swarm_status", use: "list", short: "List the swarms you see, those that run first",
			hide:    []string{"swarm_id", "detail"},
			example: "cordelia swarm list", show: shown(showSwarms),
		}.command(a),
		command{
			op: "swarm_create", use: "resize SWARM", short: "Let a swarm grow; agent deactivate makes it smaller",
			takes: []string{"add_to"}, hide: rest,
			example: `cordelia swarm resize swarm-survey-the-market-2026-11-21 \
    --agents '[{"slot": "researcher", "count": 2}]'`,
			show: shown(showSwarmMade),
		}.command(a),
		command{
			op: "swarm_disband", use: "disband SWARM",
			short: "End a swarm: archive it, deactivate its agents, close its groups", takes: []string{"swarm_id"},
			example: "cordelia swarm disband swarm-survey-the-market-2026-11-21 --share 1cd21f84 --share-with team",
			show:    shown(showSwarmEnded),
		}.command(a),
	)
}

func showSwarmMade(a *app, v ops.SwarmCreateOut) {
	a.say("%s (%s)", clean(v.SwarmID), clean(v.Strategy))
	t := table{firm: 1, head: []string{"AGENT", "SLOT", "ID", "WRITES TO"}}
	for _, i := range v.Agents {
		t.add(cell{text: clean(i.Name)}, cell{text: clean(i.Slot)}, cell{text: short(i.ID)}, cell{text: clean(i.Group)})
	}
	a.print(t)
	for _, r := range v.Refused {
		a.say("refused: %s %s", clean(r.Path), clean(r.Msg))
	}
	for _, n := range v.Notes {
		a.note("%s", a.advice(n))
	}
	switch {
	case v.DryRun && len(v.Refused) == 0:
		a.note("nothing was made; run it again without --dry-run")
	case v.DryRun:
		a.note("%s", a.advice(v.Next))
	}
}

func showSwarm(a *app, v ops.SwarmStatusOut) {
	if v.Status == nil {
		return
	}
	a.list(standing(*v.Status))
	t := table{firm: 1, head: []string{"AGENT", "SLOT", "STATUS", "LAST SEEN", "LEASE LEFT", "PROGRESS"}}
	for _, s := range v.Slots {
		for _, m := range s.Agents {
			t.add(memberRow(s.Slot, m)...)
		}
	}
	a.print(t)
}

// standing says how a swarm stands.
func standing(v swarm.Status) fields {
	f := fields{}
	f.add("swarm", clean(v.SwarmID))
	f.add("goal", clean(v.Goal))
	f.add("strategy", clean(v.Strategy))
	if v.Coordinator != "" {
		f.add("coordinator", clean(v.Coordinator))
	}
	if v.EndedAt != "" {
		f.add("ended", clock(v.EndedAt))
	}
	var work []string
	for _, w := range v.Work {
		work = append(work, fmt.Sprintf("%d %s", w.Items, clean(w.State)))
	}
	if len(work) > 0 {
		f.add("work", strings.Join(work, ", "))
	}
	f.add("findings", fmt.Sprintf("%d, %d not in the synthesis", v.Findings, v.Unmerged))
	if v.EndedAt == "" {
		f.add("room", "for "+schemas.Count(v.Budget.Agents, "agent", "agents")+" more")
	}
	return f
}

// memberRow is the row of one agent of a swarm.
func memberRow(slot string, m swarm.AgentStatus) []cell {
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
	return []cell{{text: clean(m.Name)}, {text: clean(slot)}, {clean(status), bold}, {text: seen}, {text: lease},
		{text: progress}}
}

func showSwarmEnded(a *app, v ops.SwarmDisbandOut) {
	a.say("%s has ended: %s deactivated, %s cancelled, %s shared.", clean(v.SwarmID),
		schemas.Count(v.Agents, "agent", "agents"),
		schemas.Count(v.Cancelled, "item", "items"), schemas.Count(len(v.Shared), "finding", "findings"))
	if v.Unmerged > 0 {
		a.note("findings in no synthesis: %d. The archive lists the newest findings; to go on with one: cordelia "+
			"memory share ID GROUP", v.Unmerged)
	}
	a.note("its archive stays quarantined, as archives do: no search finds it. To read it: cordelia memory read %s",
		clean(v.ArchiveID))
}
