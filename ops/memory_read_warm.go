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
	Description: "Read items of warm memory (L2) whole, up to 20 by id, with provenance. version or history works " +
		"on one item.",
}, readWarm)

type memoryReadWarmIn struct {
	IDs     []schemas.ItemID `json:"ids" jsonschema:"1-20"`
	Version int              `json:"version,omitempty" jsonschema:"an earlier one"`
	History bool             `json:"history,omitempty" jsonschema:"list versions"`
}

// MemoryReadWarmOut is the answer of memory_read_warm.
type MemoryReadWarmOut struct {
	Items    []memory.Item    `json:"items"`
	LeftOut  []schemas.ItemID `json:"left_out,omitempty" jsonschema:"did not fit: ask for them again"`
	Versions []memory.Version `json:"versions,omitempty"`

	who names
}

// Text gives the items whole.
func (o MemoryReadWarmOut) Text() string {
	var list []string
	for _, i := range o.Items {
		list = append(list, itemText(i, o.who.of(i.Author), o.who))
	}
	for _, v := range o.Versions {
		list = append(list, words(", ", fmt.Sprintf("version %d", v.Version), minute(v.At),
			"by "+o.who.of(v.Provenance.Author), fmt.Sprintf("confidence %.3g", v.Confidence),
			factText(v.Subject, v.Key, v.ValidFrom, v.ValidTo)), when(len(v.Data) > 0, "  %s", oneJSON(v.Data)))
	}
	return lines(append(list, when(len(o.LeftOut) > 0, "did not fit, ask for them again: %s", shorts(o.LeftOut)))...)
}

// itemText is an item whole: what it is and where it comes from, then its data.
func itemText(i memory.Item, author string, who names) string {
	p := i.Provenance
	head := words(", ", fmt.Sprintf("%s v%d %s by %s", short(i.ID), i.Version, i.Type, author), minuteless(i.UpdatedAt),
		when(i.Group != "", "in %s", i.Group), when(i.Group == "", "%s", i.Visibility),
		when(i.State != "current", "%s", i.State),
		when(i.Wrong, "judged wrong"), fmt.Sprintf("confidence %.3g", i.Confidence), when(i.Validated, "validated"),
		when(p.Source.SecondHand(), "second-hand"), when(p.Source != "agent", "from %s", p.Source),
		when(p.Tainted, "kept as external"), factText(i.Subject, i.Key, i.ValidFrom, i.ValidTo),
		when(i.Supersedes != "", "supersedes %s", short(i.Supersedes)),
		when(i.SupersededBy != "", "superseded by %s", short(i.SupersededBy)),
		when(i.Origin != "", "copy of %s", short(i.Origin)), when(i.Stale != "", "its origin changed"),
		when(i.ExpiresAt != "", "until %s", minute(i.ExpiresAt)),
		when(i.Owner != i.Author && who != nil, "owner %s", who.of(i.Owner)),
		when(p.SharedBy != "" && who != nil, "shared by %s", who.of(p.SharedBy)),
		when(p.ImportedBy != "" && who != nil, "imported by %s", who.of(p.ImportedBy)), viaText(p.Via, who),
		when(p.Task != "", "lesson of task %s", short(p.Task)))
	for _, l := range i.Related {
		head += fmt.Sprintf(", %s %s", strings.ReplaceAll(l.Kind, "_", " "), short(l.Other))
	}
	return head + "\n  " + oneJSON(i.Data)
}

// factText is what an item states of a subject, and when it holds.
func factText(subject, key, from, to string) string {
	return words(", ", when(subject != "", "%s · %s", Line(subject), Line(key)),
		when(from != "", "valid from %s", minute(from)), when(to != "", "valid to %s", minute(to)))
}

// viaText names who acted through the author.
func viaText(via []schemas.EntityID, who names) string {
	list := make([]string, len(via))
	for i, id := range via {
		list[i] = who.of(id)
	}
	return when(len(via) > 0 && who != nil, "via %s", strings.Join(list, ", "))
}

// warmBytes of items fit into one answer of at most 8,000 tokens; one item always
// does.
const warmBytes = 26_000

func readWarm(ctx context.Context, c *Call, in memoryReadWarmIn) (MemoryReadWarmOut, error) {
	out := MemoryReadWarmOut{Items: []memory.Item{}}
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
		if err = markWrong(g, items); err != nil {
			return err
		}
		for _, i := range items {
			p := i.Provenance
			out.who.add(g, i.Author, i.Owner, p.SharedBy, p.ImportedBy)
			out.who.add(g, p.Via...)
		}
		if !one {
			return nil
		}
		versions, err = memory.History(g, in.IDs[0])
		for _, v := range versions {
			out.who.add(g, v.Provenance.Author)
		}
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
func (o *MemoryReadWarmOut) pick(versions []memory.Version, in memoryReadWarmIn) error {
	for _, v := range versions {
		if v.Version == in.Version {
			o.Items, o.Versions = []memory.Item{}, []memory.Version{v}
			return nil
		}
		v.Data = nil
		o.Versions = append(o.Versions, v)
	}
	if in.Version != 0 && (len(o.Items) == 0 || o.Items[0].Version != in.Version) {
		newest := 0
		if len(o.Items) > 0 {
			newest = o.Items[0].Version
		}
		return schemas.NotFoundf("there is no version %d", in.Version).Expecting("version: 1 to %d", newest).
			Try("%s lists them", schemas.Tool("memory_read_warm", "ids", in.IDs, "history", true))
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
