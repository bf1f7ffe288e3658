package ops

import (
	"context"
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/memory"
)

var memoryWriteHot = Define(Spec{
	Name: "memory_write_hot", Title: "Write hot context", Toolset: Memory,
	Effect: access.Write, AlwaysLoad: true,
	SearchHint: "L1 update context focus preferences working memory task progress",
	Description: "Change your hot context (L1). patch merges data, null deletes; replace sets all you may write. " +
		"Anything free goes under agent.working_memory.",
}, writeHot)

type memoryWriteHotIn struct {
	Operation         memory.HotOperation `json:"operation" enum:"patch,replace"`
	Data              json.RawMessage     `json:"data" jsonschema:"by section"`
	ExpectedUpdatedAt string              `json:"expected_updated_at,omitempty" jsonschema:"refuse if changed since"`
}

type memoryWriteHotOut struct {
	UpdatedAt string   `json:"updated_at"`
	Size      int      `json:"size" jsonschema:"bytes stored"`
	Warnings  []string `json:"warnings,omitempty"`
}

// Text confirms the write.
func (o memoryWriteHotOut) Text() string {
	return lines(append([]string{fmt.Sprintf("written, %d bytes; updated_at %s", o.Size, o.UpdatedAt)},
		o.Warnings...)...)
}

func writeHot(ctx context.Context, c *Call, in memoryWriteHotIn) (memoryWriteHotOut, error) {
	change, err := memory.NewHotChange(in.Operation, in.Data, in.ExpectedUpdatedAt)
	if err != nil {
		return memoryWriteHotOut{}, err
	}
	return Transact(ctx, c, func(g access.Grant) (memoryWriteHotOut, error) {
		entity, view, err := ownHot(g)
		if err != nil {
			return memoryWriteHotOut{}, err
		}
		d, err := memory.WriteHot(g, entity, change, view)
		return memoryWriteHotOut{UpdatedAt: d.UpdatedAt, Size: d.Size, Warnings: d.Warnings}, err
	})
}
