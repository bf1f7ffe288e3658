package ops

import (
	"context"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
)

var memoryShare = Define(Spec{
	Name: "memory_share", Title: "Share item", Toolset: Memory,
	Effect: access.Write, Repeatable: true, SearchHint: "L2 copy into group publish team",
	Description: "Copy an item into a group. The copy never changes and names its origin.",
}, share)

type memoryShareIn struct {
	ID    schemas.ItemID  `json:"id" also:"item,itemid" jsonschema:"item"`
	Group schemas.GroupID `json:"group" also:"to" jsonschema:"where to"`
}

func share(ctx context.Context, c *Call, in memoryShareIn) (MemoryWriteWarmOut, error) {
	return Transact(ctx, c, func(g access.Grant) (MemoryWriteWarmOut, error) {
		w, err := memory.Share(g, in.ID, in.Group)
		return writtenOut(w), err
	})
}
