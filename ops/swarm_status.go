package ops

import (
	"context"
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/swarm"
)

var swarmStatus = Define(Spec{
	Name: "swarm_status", Title: "Swarm status", Toolset: Swarms, Effect: access.Read,
	SearchHint: "team progress workers findings synthesis list swarms",
	Description: "How a swarm you are in or made stands: agents, work, findings, what the synthesis lacks, what is " +
		"left to use. detail adds ids. Without swarm_id: your swarms.",
}, func(ctx context.Context, c *Call, in swarmStatusIn) (SwarmStatusOut, error) {
	return Transact(ctx, c, func(g access.Grant) (out SwarmStatusOut, err error) {
		if in.SwarmID == "" {
			list, err := swarm.List(g)
			list = append([]swarm.Entry{}, list...)
			out.Swarms = &list
			return out, err
		}
		s, err := swarm.Show(g, in.SwarmID, in.Detail)
		out.Status = &s
		return out, err
	})
})

type swarmStatusIn struct {
	SwarmID schemas.GroupID `json:"swarm_id,omitempty" also:"swarm,id" jsonschema:"default: list yours"`
	Detail  bool            `json:"detail,omitempty" jsonschema:"with ids"`
}

// SwarmStatusOut is the answer of swarm_status.
type SwarmStatusOut struct {
	*swarm.Status
	Swarms *[]swarm.Entry `json:"swarms,omitempty" jsonschema:"those that run first"`
}

// Text is the status, or the list of swarms, in a few lines.
func (o SwarmStatusOut) Text() string {
	if o.Status == nil {
		return swarmsText(*o.Swarms)
	}
	list := []string{words(", ", fmt.Sprintf("%s (%s): %s", o.SwarmID, o.Strategy, Line(o.Goal)),
		when(o.Coordinator != "", "coordinator %s", o.Coordinator),
		when(o.EndedAt != "", "ended %s", minute(o.EndedAt)))}
	for _, s := range o.Slots {
		agents := make([]string, len(s.Agents))
		for i, a := range s.Agents {
			agents[i] = agentText(a)
		}
		list = append(list, fmt.Sprintf("%s: %s", s.Slot, strings.Join(agents, ", ")))
	}
	counts := make([]string, len(o.Work))
	for i, w := range o.Work {
		counts[i] = fmt.Sprintf("%d %s", w.Items, w.State)
	}
	b := o.Budget
	return lines(append(list, when(len(counts) > 0, "work: %s", strings.Join(counts, ", ")),
		words(": ", fmt.Sprintf("findings: %d", o.Findings)+when(o.Unmerged > 0, ", %d not in the synthesis", o.Unmerged),
			shorts(o.UnmergedIDs)), when(len(o.JudgedWrong) > 0, "judged wrong: %s", shorts(o.JudgedWrong)),
		words("; ", fmt.Sprintf("room for %s", schemas.Count(b.Agents, "agent", "agents")),
			fmt.Sprintf("%d", b.Parallel)+when(b.Most > 0, " of %d", b.Most)+" calls run",
			when(b.Expires > 0, "first ends in %d s", b.Expires)))...)
}

// agentText is an agent of a swarm, with what is not usual about it.
func agentText(a swarm.AgentStatus) string {
	about := words(", ", string(a.Status), when(a.Lease != nil, "works, %d s left", value(a.Lease)),
		when(a.Progress != nil, "%.0f %%", 100*value(a.Progress)),
		when(a.Seen != nil, "seen %d s ago", value(a.Seen)), when(a.ID != "", "%.12s", a.ID), string(a.Cell),
		when(a.WorkID != "", "work %s", short(a.WorkID)))
	return a.Name + when(about != "", " (%s)", about)
}

// value is what p points to, the zero value for nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// swarmsText lists swarms, one a line.
func swarmsText(list []swarm.Entry) string {
	if len(list) == 0 {
		return "You are in no swarm and made none; swarm_create makes one."
	}
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		state := schemas.Count(s.Agents, "agent", "agents")
		if s.EndedAt != "" {
			state = "ended " + s.EndedAt
		}
		fmt.Fprintf(&b, "%s (%s, %s): %s", s.SwarmID, s.Strategy, state, schemas.Shorten(s.Goal, 120))
	}
	return b.String()
}
