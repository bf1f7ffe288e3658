package ops

import (
	"context"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
)

// Held lists what instructs and waits for the person's release.
func (s *Service) Held(ctx context.Context, person Caller) (items []memory.Item, err error) {
	op := access.Op{Tool: "memory_release", Effect: access.Read, Human: true}
	err = s.Auth.Do(ctx, person.Principal, op, func(g access.Grant) error {
		items, err = memory.Held(g)
		return err
	})
	return items, err
}

// Release lets an item that instructs take effect, or with false takes that back: it is no
// tool, because no agent may decide what instructs other agents.
func (s *Service) Release(ctx context.Context, person Caller, id schemas.ItemID, version int, released bool) error {
	op := access.Op{Tool: "memory_release", Effect: access.Write, Human: true}
	return s.Auth.Do(ctx, person.Principal, op, func(g access.Grant) error {
		whole, err := refItem.whole(g, string(id))
		if err != nil {
			return err
		}
		return memory.Release(g, schemas.ItemID(whole), version, released)
	})
}
