package ops

import (
	"context"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
)

var memoryDeleteWarm = Define(Spec{
	Name: "memory_delete_warm", Title: "Delete item", Toolset: Memory,
	Effect: access.Destroy, Repeatable: true, SearchHint: "L2 forget remove undo purge",
	Description: "Delete an item, undo that, or purge its text for good.",
}, deleteWarm)

type memoryDeleteWarmIn struct {
	ID   schemas.ItemID  `json:"id" also:"item,itemid" jsonschema:"item"`
	Mode memory.Deletion `json:"mode,omitempty" enum:"delete,undo,purge"`
}

// MemoryDeleteWarmOut is the answer of memory_delete_warm.
type MemoryDeleteWarmOut struct {
	ID     schemas.ItemID `json:"id"`
	Copies int            `json:"copies,omitempty" jsonschema:"purged with it"`

	done memory.Deletion
}

// Text confirms it.
func (o MemoryDeleteWarmOut) Text() string {
	switch o.done {
	case memory.Bury:
		// whole: an item of another writer has no short form any more for who deleted it
		return words("; ", "deleted "+string(o.ID), "mode undo brings it back")
	case memory.Undo:
		return short(o.ID) + " is back"
	}
	return words(" ", "purged "+short(o.ID), when(o.Copies > 0, "and %s", schemas.Count(o.Copies, "copy", "copies")))
}

func deleteWarm(ctx context.Context, c *Call, in memoryDeleteWarmIn) (MemoryDeleteWarmOut, error) {
	if in.Mode == "" {
		in.Mode = memory.Bury
	}
	return Transact(ctx, c, func(g access.Grant) (MemoryDeleteWarmOut, error) {
		copies, err := memory.Remove(g, in.ID, in.Mode)
		return MemoryDeleteWarmOut{ID: in.ID, Copies: copies, done: in.Mode}, err
	})
}
