package ops

import (
	"context"

	"cordelia/access"
	"cordelia/swarm"
)

// Swarms lists the swarms that the caller, or the descendant it acts as, may see. It
// takes the right to see how one stands.
func (n *Node) Swarms(ctx context.Context, caller Caller, as string) (list []swarm.Entry, err error) {
	op := access.Op{Tool: swarmStatus.Name, Effect: access.Read, As: as}
	err = n.Auth.Do(ctx, caller.Principal, op, func(g access.Grant) (err error) {
		list, err = swarm.List(g)
		return err
	})
	return list, err
}
