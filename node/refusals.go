package node

import (
	"context"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/schemas"
)

// Refused says how often in one minute an agent's calls of a tool were refused for a reason. The audit
// record has changes alone; refusals are counted, for each agent of the line that does not allow a call.
type Refused struct {
	Time   string           `json:"time"` // the minute
	Entity schemas.EntityID `json:"entity"`
	Tool   string           `json:"tool"`
	Reason string           `json:"reason"`
	Times  int              `json:"times"`
}

// Refusals lists the newest refusals from a time on, in µs UTC, oldest first, at most AuditPage, but for one
// more, which tells that there are more; of the agent that ref names, or of all for "". They are kept for a
// week, and are the person's to see.
func (n *Node) Refusals(ctx context.Context, person access.Principal, ref string, since int64) (list []Refused,
	err error) {
	n.Auth.Flush(ctx) // those of this process's last second, too
	err = n.Auth.Do(ctx, person, auditOp, func(g access.Grant) error {
		entity, err := entityOf(g, schemas.EntityID(ref))
		if err != nil {
			return err
		}
		found, err := access.RefusalsSince(g.Tx(), entity, since, AuditPage+1)
		slices.Reverse(found)
		list = make([]Refused, len(found))
		for i, d := range found {
			at := time.Unix(d.Minute*60, 0).UnixMicro()
			list[i] = Refused{events.Timestamp(at), d.Entity, d.Tool, d.Reason, d.Times}
		}
		return err
	})
	return list, err
}
