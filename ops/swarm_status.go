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
	SearchHint:  "team progress workers findings synthesis",
	Description: "How a swarm you are in or made stands: agents, work, findings, what the synthesis lacks, what is left to use. detail adds ids.",
}, func(ctx context.Context, c *Call, in swarmStatusIn) (swarmStatusOut, error) {
	return Transact(ctx, c, func(g access.Grant) (out swarmStatusOut, err error) {
		out.Status, err = swarm.Show(g, in.SwarmID, in.Detail)
		return out, err
	})
})

type swarmStatusIn struct {
	SwarmID schemas.GroupID `json:"swarm_id"`
	Detail  bool            `json:"detail,omitempty"`
}

type swarmStatusOut struct{ swarm.Status }

// Text is the status in a few lines.
func (o swarmStatusOut) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", o.SwarmID, o.Goal)
	for _, s := range o.Slots {
		fmt.Fprintf(&b, "\n%s: %s", s.Slot, schemas.Count(len(s.Agents), "agent", "agents"))
	}
	for _, w := range o.Work {
		fmt.Fprintf(&b, "\nwork %s: %d", w.State, w.Items)
	}
	fmt.Fprintf(&b, "\nfindings: %d, %d not in the synthesis", o.Findings, o.Unmerged)
	if o.EndedAt != "" {
		fmt.Fprintf(&b, "\nended %s", o.EndedAt)
	}
	return b.String()
}
