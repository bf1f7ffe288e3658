package ops

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
)

// Export writes everything that of owns: the caller, or the descendant it acts as, if
// that is "", or one below the person who calls, also one that has ended. It takes the
// right to read memory. What is written to w may be used only if Export returns nil:
// the rights are asked for once more at the end.
func (n *Node) Export(ctx context.Context, caller Caller, as string, of schemas.EntityID, w io.Writer, f memory.Format) error {
	op := access.Op{Tool: memoryReadWarm.Name, Effect: access.Read, As: as}
	return n.Auth.Do(ctx, caller.Principal, op, func(g access.Grant) error {
		of := cmp.Or(of, g.Actor())
		return memory.Export(g, of, w, f, func(g access.Grant) (json.RawMessage, error) { return exportHot(g, of) })
	})
}

// exportHot gives the context of an entity, nil if it went with the entity.
func exportHot(g access.Grant, of schemas.EntityID) (json.RawMessage, error) {
	entity, view, err := hotOf(g, string(of))
	if err != nil {
		return nil, err
	}
	doc, err := memory.ReadHot(g, entity, view)
	if err == nil {
		return doc.Own()
	}
	if errors.Is(err, schemas.ErrNotFound) && of != g.Actor() {
		return nil, nil
	}
	return nil, err
}

// Imported counts what an import brought.
type Imported struct {
	Items  int  `json:"items"` // new here
	Groups int  `json:"groups"`
	Same   int  `json:"same"` // there already
	Hot    bool `json:"hot"`
}

// Import takes an export over as the caller's own, or as that of the descendant
// it acts as: all or nothing. It takes the right to write memory.
func (n *Node) Import(ctx context.Context, caller Caller, as string, r io.Reader) (Imported, error) {
	bundle, err := memory.ReadBundle(r)
	if err != nil {
		return Imported{}, err
	}
	op := access.Op{Tool: memoryWriteWarm.Name, Effect: access.Write, As: as}
	var done memory.Imported
	err = n.Auth.Do(ctx, caller.Principal, op, func(g access.Grant) error {
		done, err = memory.Import(g, bundle, importHot)
		return err
	})
	return Imported{Items: done.Items, Groups: done.Groups, Same: done.Same, Hot: done.Hot}, err
}

// importHot replaces the caller's context, unless it is the same.
func importHot(g access.Grant, own json.RawMessage) error {
	entity, view, err := hotOf(g, "")
	if err != nil {
		return err
	}
	doc, err := memory.ReadHot(g, entity, view)
	if err != nil {
		return err
	}
	if now, err := doc.Own(); err != nil || bytes.Equal(now, own) {
		return err
	}
	change, err := memory.NewHotChange(memory.HotReplace, own, "")
	if err != nil {
		return err
	}
	_, err = memory.WriteHot(g, entity, change, view)
	return err
}
