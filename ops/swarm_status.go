package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/swarm"
)

var swarmStatus = Define(Spec{
	Name: "swarm_status", Title: "Swarm status", Toolset: Swarms, Effect: access.Read,
	SearchHint:  "team progress workers findings synthesis list swarms",
	Description: "How a swarm you are in or made stands: agents, work, findings, what the synthesis lacks, what is left to use. detail adds ids. Without swarm_id: your swarms.",
}, func(ctx context.Context, c *Call, in swarmStatusIn) (swarmStatusOut, error) {
	return Transact(ctx, c, func(g access.Grant) (out swarmStatusOut, err error) {
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
	SwarmID schemas.GroupID `json:"swarm_id,omitempty"`
	Detail  bool            `json:"detail,omitempty"`
}

type swarmStatusOut struct {
	*swarm.Status
	Swarms *[]swarm.Entry `json:"swarms,omitempty" jsonschema:"those that run first"`
}

// Text is the status, or the list of swarms, in a few lines.
func (o swarmStatusOut) Text() string {
	if o.Status == nil {
		return swarmsText(*o.Swarms)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", o.SwarmID, o.Goal)
	for _, s := range o.Slots {
		fmt.Fprintf(&b, "\n%s: %s", s.Slot, schemas.Count(len(s.Agents), "agent", "agents"))
	}
	for _, w := range o.Work {
		fmt.Fprintf(&b, "\nwork %s: %d", w.State, w.Items)
	}
	fmt.Fprintf(&b, "\nfindings: %d, %d not in the synthesis", o.Findings, o.Unmerged)
	for i, id := range o.UnmergedIDs {
		b.WriteString([]string{": ", ", "}[min(i, 1)] + string(id))
		if slices.Contains(o.JudgedWrong, id) {
			b.WriteString(" (judged wrong)")
		}
	}
	if o.EndedAt != "" {
		fmt.Fprintf(&b, "\nended %s", o.EndedAt)
	}
	return b.String()
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
