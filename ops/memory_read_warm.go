package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/trust"
)

var memoryReadWarm = Define(Spec{
	Name: "memory_read_warm", Title: "Read items", Toolset: Memory,
	Effect: access.Read, AlwaysLoad: true, SearchHint: "L2 item open get history provenance",
	Description: "Read items of warm memory (L2) whole, up to 20 by id, with provenance. version or history works on one item.",
}, readWarm)

type memoryReadWarmIn struct {
	IDs     []schemas.ItemID `json:"ids"`
	Version int              `json:"version,omitempty"`
	History bool             `json:"history,omitempty"`
}

type memoryReadWarmOut struct {
	Items    []memory.Item    `json:"items"`
	LeftOut  []schemas.ItemID `json:"left_out,omitempty" jsonschema:"did not fit: ask for them again"`
	Versions []memory.Version `json:"versions,omitempty"`
}

// Text names the items.
func (o memoryReadWarmOut) Text() string {
	lines := make([]string, 0, len(o.Items)+1)
	for _, i := range o.Items {
		from := ""
		if i.Provenance.Source.SecondHand() {
			from = ", second-hand"
		}
		if i.Wrong {
			from += ", judged wrong"
		}
		if i.Stale != "" {
			from += ", its origin changed"
		}
		for _, l := range i.Related {
			if l.Kind == string(memory.StatusConflicts) {
				from += ", conflicts with " + string(l.Other)
			}
		}
		lines = append(lines, fmt.Sprintf("%s v%d %s%s: %s", i.ID, i.Version, i.State, from, Escape(i.Name)))
	}
	if len(o.LeftOut) > 0 {
		lines = append(lines, fmt.Sprintf("%d more did not fit", len(o.LeftOut)))
	}
	return strings.Join(lines, "\n")
}

// warmBytes of items fit into one answer of at most 8,000 tokens; one item always
// does.
const warmBytes = 26_000

func readWarm(ctx context.Context, c *Call, in memoryReadWarmIn) (memoryReadWarmOut, error) {
	out := memoryReadWarmOut{Items: []memory.Item{}}
	one := in.History || in.Version != 0
	if one && len(in.IDs) != 1 {
		return out, schemas.Invalidf("versions are read of one item at a time").Expecting("one id").
			With(schemas.Violation{Path: "/ids", Msg: "must hold one id"})
	}
	var items []memory.Item
	var versions []memory.Version
	err := c.Do(ctx, func(g access.Grant) (err error) {
		if items, err = memory.Get(g, in.IDs); err != nil {
			return err
		}
		if err = markWrong(g, items); err != nil || !one {
			return err
		}
		versions, err = memory.History(g, in.IDs[0])
		return err
	})
	if err != nil {
		return out, err
	}
	c.shown(ctx, slices.ContainsFunc(items, func(i memory.Item) bool { return i.Provenance.Source.SecondHand() }) ||
		slices.ContainsFunc(versions, func(v memory.Version) bool { return v.Provenance.Source.SecondHand() }))
	items, rest, err := fitting(items, warmBytes)
	if err != nil {
		return out, err
	}
	out.Items = append(out.Items, items...)
	for _, item := range rest {
		out.LeftOut = append(out.LeftOut, item.ID)
	}
	if !one {
		return out, nil
	}
	return out, out.pick(versions, in)
}

// pick puts one earlier version in the place of the item, or lists all of them
// without their data.
func (o *memoryReadWarmOut) pick(versions []memory.Version, in memoryReadWarmIn) error {
	for _, v := range versions {
		if v.Version == in.Version {
			o.Items, o.Versions = []memory.Item{}, []memory.Version{v}
			return nil
		}
		v.Data = nil
		o.Versions = append(o.Versions, v)
	}
	if in.Version != 0 && (len(o.Items) == 0 || o.Items[0].Version != in.Version) {
		return schemas.NotFoundf("there is no version %d", in.Version).Try("repeat the call with history")
	}
	return nil
}

// markWrong marks the items that the reader takes for wrong.
func markWrong(g access.Grant, items []memory.Item) error {
	ids := make([]schemas.ItemID, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	words, err := memory.WordsOf(g, ids)
	if err != nil {
		return err
	}
	wrong, err := trust.JudgedWrong(g, words)
	for i := range items {
		items[i].Wrong = wrong[items[i].ID]
	}
	return err
}
