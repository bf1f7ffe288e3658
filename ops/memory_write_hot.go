package ops

import (
	"context"
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/memory/hot"
	"cordelia/schemas"
)

var memoryWriteHot = Define(Spec{
	Name: "memory_write_hot", Title: "Write hot context", Toolset: Memory,
	Effect: access.Write, AlwaysLoad: true,
	SearchHint: "L1 update context focus preferences working memory task progress",
	Description: "Change your hot context (L1). patch merges data, null deletes; replace sets all you may write. " +
		"Anything free goes under agent.working_memory.",
}, writeHot)

type memoryWriteHotIn struct {
	Operation         hot.Operation   `json:"operation" enum:"patch,replace"`
	Data              json.RawMessage `json:"data" like:"context" patch:"true" jsonschema:"by section"`
	ExpectedUpdatedAt string          `json:"expected_updated_at,omitempty" jsonschema:"refuse if changed since"`
}

// MemoryWriteHotOut is the answer of memory_write_hot.
type MemoryWriteHotOut struct {
	UpdatedAt string         `json:"updated_at"`
	Size      int            `json:"size" jsonschema:"bytes stored"`
	Warnings  []schemas.Hint `json:"warnings,omitempty"`
}

// Text confirms the write.
func (o MemoryWriteHotOut) Text() string {
	return lines(fmt.Sprintf("written, %d bytes; updated_at %s", o.Size, o.UpdatedAt), hintLines(o.Warnings))
}

func writeHot(ctx context.Context, c *Call, in memoryWriteHotIn) (MemoryWriteHotOut, error) {
	change, err := hot.NewChange(in.Operation, in.Data, in.ExpectedUpdatedAt)
	if err != nil {
		return MemoryWriteHotOut{}, err
	}
	return Transact(ctx, c, func(g access.Grant) (MemoryWriteHotOut, error) {
		entity, view, err := ownHot(g)
		if err != nil {
			return MemoryWriteHotOut{}, err
		}
		d, err := hot.Write(g, entity, change, view)
		return MemoryWriteHotOut{UpdatedAt: d.UpdatedAt, Size: d.Size, Warnings: d.Warnings}, err
	})
}
