package ops

import (
	"context"
	"fmt"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/swarm"
)

var swarmDisband = Define(Spec{
	Name: "swarm_disband", Title: "Disband a swarm", Toolset: Swarms, Effect: access.Destroy, Repeatable: true,
	SearchHint: "end finish archive swarm synthesis",
	Description: "End a swarm you coordinate or made: share findings, cancel work, archive, deactivate its agents. " +
		"With synthesis_item, only if that derives from every finding.",
}, disbandSwarm)

type swarmDisbandIn struct {
	SwarmID       schemas.GroupID  `json:"swarm_id" also:"swarm,id" jsonschema:"its id"`
	SynthesisItem schemas.ItemID   `json:"synthesis_item,omitempty" jsonschema:"item"`
	Share         []schemas.ItemID `json:"share,omitempty" jsonschema:"findings, item ids"`
	ShareWith     schemas.GroupID  `json:"share_with,omitempty" jsonschema:"group"`
}

// SwarmDisbandOut is the answer of swarm_disband.
type SwarmDisbandOut struct{ swarm.Ended }

// Text says what became of it.
func (o SwarmDisbandOut) Text() string {
	return words(", ", fmt.Sprintf("%s has ended: %s deactivated", o.SwarmID,
		schemas.Count(o.Agents, "agent", "agents")), schemas.Count(o.Cancelled, "item", "items")+" cancelled",
		when(o.Unmerged > 0, "%d of its findings in no synthesis", o.Unmerged),
		when(len(o.Shared) > 0, "shared as %s", shorts(o.Shared))) +
		when(o.ArchiveID != "", "; its archive: memory_read_warm %s", short(o.ArchiveID))
}

func disbandSwarm(ctx context.Context, c *Call, in swarmDisbandIn) (SwarmDisbandOut, error) {
	e := swarm.Ending{Swarm: in.SwarmID, Synthesis: in.SynthesisItem, Share: in.Share, ShareWith: in.ShareWith}
	if err := swarm.CheckEnding(e); err != nil {
		return SwarmDisbandOut{}, err
	}
	return Transact(ctx, c, func(g access.Grant) (out SwarmDisbandOut, err error) {
		out.Ended, err = swarm.Disband(g, e, func(node access.Grant, id schemas.EntityID) error {
			_, _, err := c.Node.MoveAgent(node, string(id), schemas.TaskComplete,
				"the swarm "+string(in.SwarmID)+" has ended")
			return err
		})
		return out, err
	})
}
