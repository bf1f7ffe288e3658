package ops

import (
	"context"
	"time"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/work"
)

// Costs sums up what clients took to fill seats since a moment, priced by price where a
// client names none. It is the person's own: no agent asks what another costs.
func (s *Service) Costs(ctx context.Context, person Caller, by work.CostKey, since time.Time,
	price work.Pricing) (list []work.Cost, err error) {
	op := access.Op{Tool: "cost", Effect: access.Read, Human: true, InPerson: true}
	err = s.Auth.Do(ctx, person.Principal, op, func(g access.Grant) error {
		if list, err = work.Costs(g, by, since, price); err != nil || by != work.ByAgent {
			return err
		}
		for i := range list {
			list[i].Key = g.NameOf(schemas.EntityID(list[i].Key))
		}
		return nil
	})
	return list, err
}
