package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/schemas"
)

func (a *app) swarmCommand() *cobra.Command {
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
			example: `cordelia swarm resize swarm-survey-the-market-2026-11-21 --agents '[{"slot": "researcher", "count": 2}]'`, show: shown(showSwarmMade),
		}.command(a),
		command{
			op: "swarm_disband", use: "disband SWARM",
			short: "End a swarm: archive it, deactivate its agents, close its groups", takes: []string{"swarm_id"},
			example: "cordelia swarm disband swarm-survey-the-market-2026-11-21 --share 1cd21f84 --share-with team",
			show:    shown(showSwarmEnded),
		}.command(a),
	)
}

func showSwarmMade(a *app, v struct {
	SwarmID  string `json:"swarm_id"`
	Strategy string `json:"strategy"`
	DryRun   bool   `json:"dry_run"`
	Agents   []struct {
		Name  string `json:"name"`
		ID    string `json:"agent_id"`
		Slot  string `json:"slot"`
		Group string `json:"group"`
	} `json:"agents"`
	Refused []struct {
		Path string `json:"path"`
		Msg  string `json:"msg"`
	} `json:"refused"`
	Notes []string `json:"notes"`
	Next  string   `json:"next"`
}) {
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
		a.note("%s", clean(n))
	}
	switch {
	case v.DryRun && len(v.Refused) == 0:
		a.note("nothing was made; run it again without --dry-run")
	case v.DryRun:
		a.note("%s", clean(v.Next))
	}
}

// swarmStanding is how a swarm stands, as swarm_status tells it.
type swarmStanding struct {
	SwarmID     string `json:"swarm_id"`
	Goal        string `json:"goal"`
	Strategy    string `json:"strategy"`
	Coordinator string `json:"coordinator"`
	EndedAt     string `json:"ended_at"`
	Slots       []struct {
		Slot   string        `json:"slot"`
		Agents []swarmMember `json:"agents"`
	} `json:"slots"`
	Work []struct {
		State string `json:"state"`
		Items int    `json:"items"`
	} `json:"work"`
	Findings int `json:"findings"`
	Unmerged int `json:"not_in_synthesis"`
	Budget   struct {
		Agents int `json:"agents_left"`
	} `json:"budget"`
}

type swarmMember struct {
	Name     string   `json:"name"`
	Status   string   `json:"status"`
	Seen     *int64   `json:"seen_s"`
	Lease    *int64   `json:"lease_s"`
	Progress *float64 `json:"progress"`
}

func showSwarm(a *app, v swarmStanding) {
	a.list(v.summary())
	t := table{firm: 1, head: []string{"AGENT", "SLOT", "STATUS", "LAST SEEN", "LEASE LEFT", "PROGRESS"}}
	for _, s := range v.Slots {
		for _, m := range s.Agents {
			t.add(m.row(s.Slot)...)
		}
	}
	a.print(t)
}

func (v swarmStanding) summary() fields {
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

func (m swarmMember) row(slot string) []cell {
	status, seen, lease, progress := m.Status, "", "", ""
	if status == "" {
		status = "active"
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

func showSwarmEnded(a *app, v struct {
	SwarmID   string   `json:"swarm_id"`
	ArchiveID string   `json:"archive_id"`
	Agents    int      `json:"agents_deactivated"`
	Cancelled int      `json:"work_cancelled"`
	Shared    []string `json:"shared"`
	Unmerged  int      `json:"not_in_synthesis"`
}) {
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
