package ops

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"

	"cordelia/access"
	"cordelia/memory/archive"
	"cordelia/memory/canonical"
	"cordelia/memory/hot"
	"cordelia/schemas"
)

// ExportRequest says what to export for a caller.
type ExportRequest struct {
	As     string           // a descendant the caller acts as
	Of     schemas.EntityID // whose memory: "" = of the caller or As; for a person also one below, which may have ended
	Group  schemas.GroupID  // everything readable in that group instead
	Format archive.Format
}

// Export writes what a caller owns, or one below a person, or a group. It takes the right to
// read memory. What is written to w may be used only if Export returns no error: the rights
// are asked for once more at the end.
func (s *Service) Export(
	ctx context.Context, caller Caller, r ExportRequest, w io.Writer,
) (done archive.Exported, err error) {
	op := access.Op{Tool: memoryReadWarm.Name, Effect: access.Read, As: r.As}
	err = s.Auth.Do(ctx, caller.Principal, op, func(g access.Grant) error {
		of := cmp.Or(r.Of, g.Actor())
		hot := func(g access.Grant) (json.RawMessage, error) { return exportHot(g, of) }
		if r.Group != "" {
			hot = nil
		}
		done, err = archive.Export(g, w, archive.ExportRequest{
			Of: of, Group: r.Group, Format: r.Format, Hot: hot, Signer: s.exportSigner(caller)})
		return err
	})
	return done, err
}

// exportSigner signs exports with the person's key where a person exports, so that they are
// known wherever that key is; else with the node's, so that no agent signs what it hands on.
func (s *Service) exportSigner(caller Caller) archive.Signer {
	if caller.Method == access.ByHuman && caller.Sign != nil {
		return archive.Signer{Node: s.ID, ID: caller.Entity, KeySeq: uint32(caller.KeySeq), Sign: func(m []byte) []byte {
			signature, _ := caller.Sign(m)
			return signature
		}}
	}
	return archive.Signer{Node: s.ID, ID: s.ID, KeySeq: 1, Sign: func(m []byte) []byte {
		signature, _ := s.Sign(m)
		return signature
	}}
}

// exportHot gives the context of an entity, nil if it went with the entity.
func exportHot(g access.Grant, of schemas.EntityID) (json.RawMessage, error) {
	entity, view, err := hotOf(g, string(of))
	if err != nil {
		return nil, err
	}
	doc, err := hot.Read(g, entity, view)
	if err == nil {
		return doc.Own()
	}
	if errors.Is(err, schemas.ErrNotFound) && of != g.Actor() {
		return nil, nil
	}
	return nil, err
}

// ImportRequest says what to import for a caller, and how.
type ImportRequest struct {
	As             string // a descendant the caller acts as
	Files          []archive.Input
	Group          schemas.GroupID // where to put what names no place: Markdown and the memory server's
	CreateGroups   bool
	ReplaceContext bool
}

// Import takes files over as the caller's own, or as those of the descendant it acts as. It
// takes the right to write memory. What it believes of them archive.Import says.
func (s *Service) Import(ctx context.Context, caller Caller, r ImportRequest) (done archive.Imported, err error) {
	bundle, err := archive.ReadBundle(r.Files...)
	if err != nil {
		return done, err
	}
	op := access.Op{Tool: memoryWriteWarm.Name, Effect: access.Write, As: r.As}
	err = s.Auth.Do(ctx, caller.Principal, op, func(g access.Grant) error {
		done, err = archive.Import(g, bundle,
			archive.ImportOptions{Known: archive.Known{Node: s.ID, Key: s.PublicKey()},
				CreateGroups: r.CreateGroups, Group: r.Group, ReplaceContext: r.ReplaceContext, Hot: importHot})
		return err
	})
	return done, err
}

// importHot compares a context with the caller's and, with replace, puts it in its place.
func importHot(g access.Grant, own json.RawMessage, replace bool) (archive.ContextImport, error) {
	entity, view, err := hotOf(g, "")
	if err != nil {
		return "", err
	}
	doc, err := hot.Read(g, entity, view)
	if err != nil {
		return "", err
	}
	now, err := doc.Own()
	if err != nil {
		return "", err
	}
	if same, err := sameJSON(now, own); err != nil || same {
		return archive.ContextSame, err
	}
	if !replace {
		return archive.ContextKept, nil
	}
	change, err := hot.NewChange(hot.Replace, own, "")
	if err != nil {
		return "", err
	}
	_, err = hot.Write(g, entity, change, view)
	return archive.ContextReplaced, err
}

// sameJSON reports whether two JSON texts have the same canonical form.
func sameJSON(a, b []byte) (bool, error) {
	x, err := canonical.JSON(a)
	if err != nil {
		return false, err
	}
	y, err := canonical.JSON(b)
	if err != nil {
		return false, schemas.Invalidf("the context is not valid JSON").Because(err)
	}
	return bytes.Equal(x, y), nil
}
