package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cordelia/memory"
	"cordelia/ops"
	"cordelia/schemas"
)

// itemPage is an item with its versions and what it comes from.
type itemPage struct {
	memory.Item
	By        string // its author's name
	May       ops.ItemMoves
	Versions  []memory.Version
	Lineage   graph
	Conflicts []memory.Item // what says otherwise of the same
}

func oneItem(ctx context.Context, v *visit) (view, error) {
	item, err := readItem(ctx, v, v.r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	p := itemPage{Item: item, By: v.nameOf(ctx, item.Author)}
	if p.May, err = v.node.ItemMoves(ctx, v.caller, item); err != nil {
		return view{}, err
	}
	old, err := ask[ops.MemoryReadWarmOut](ctx, v, "memory_read_warm",
		map[string]any{"ids": []string{string(item.ID)}, "history": true})
	if err != nil {
		return view{}, err
	}
	p.Versions = old.Versions
	l := lineage{ctx: ctx, v: v, seen: map[schemas.ItemID]bool{}}
	if err := l.add(item, p.Versions); err != nil {
		return view{}, err
	}
	if len(l.list) > 1 {
		p.Lineage = newGraph("Versions and lineage, from left to right", l.list)
	}
	for _, r := range item.Related {
		if r.Kind != "conflicts_with" {
			continue
		}
		other, err := readItem(ctx, v, string(r.Other))
		if err != nil && !errors.Is(err, schemas.ErrNotFound) {
			return view{}, err
		}
		if err == nil {
			p.Conflicts = append(p.Conflicts, other)
		}
	}
	return view{template: "item", title: p.Name, body: p}, nil
}

// Next is the version that a change makes.
func (p itemPage) Next() int { return p.Version + 1 }

// readItem reads one item whole.
func readItem(ctx context.Context, v *visit, id string) (item memory.Item, err error) {
	out, err := ask[ops.MemoryReadWarmOut](ctx, v, "memory_read_warm", map[string]any{"ids": []string{id}})
	if err != nil {
		return item, err
	}
	if len(out.Items) == 0 {
		return item, schemas.NotFoundf("there is no item %s", schemas.ShortID(id)).Try("search for it")
	}
	return out.Items[0], nil
}

// lineage gathers an item's versions, what it comes from and what came of it.
type lineage struct {
	ctx  context.Context
	v    *visit
	seen map[schemas.ItemID]bool
	list []vertex
}

// mostLinked bounds the items that a lineage reads.
const mostLinked = 24

// add adds an item with its earlier versions, then what it has to do with.
func (l *lineage) add(item memory.Item, versions []memory.Version) error {
	before := ""
	for _, old := range versions {
		if old.Version == item.Version {
			continue
		}
		id := fmt.Sprintf("%s/%d", item.ID, old.Version)
		l.list = append(l.list, vertex{ID: id, Label: item.Name, Note: fmt.Sprintf("version %d", old.Version),
			Class: "superseded", From: some(before)})
		before = id
	}
	return l.follow(item, some(before))
}

// follow adds an item, those before it and those after it.
func (l *lineage) follow(item memory.Item, from []string) error {
	if l.seen[item.ID] || len(l.seen) >= mostLinked {
		return nil
	}
	l.seen[item.ID] = true
	at := len(l.list)
	l.list = append(l.list, vertex{ID: string(item.ID), Label: item.Name,
		Note: fmt.Sprintf("%s, version %d", item.State, item.Version), Class: item.State, From: from,
		Href: Root + "memory/" + string(item.ID)})
	for _, id := range before(item) {
		l.list[at].From = append(l.list[at].From, string(id))
		if err := l.read(id, nil); err != nil {
			return err
		}
	}
	if item.SupersededBy != "" {
		return l.read(item.SupersededBy, nil)
	}
	return nil
}

// before lists what an item comes from, each once.
func before(item memory.Item) (list []schemas.ItemID) {
	told := map[schemas.ItemID]bool{"": true, item.ID: true}
	ids := append([]schemas.ItemID{item.Supersedes, item.Origin}, item.Provenance.DerivedFrom...)
	for _, r := range item.Related {
		if r.Kind == "refines" || r.Kind == "derived_from" {
			ids = append(ids, r.Other)
		}
	}
	for _, id := range ids {
		if !told[id] {
			told[id] = true
			list = append(list, id)
		}
	}
	return list
}

// read follows an item by its id; one that is hidden or gone is left out.
func (l *lineage) read(id schemas.ItemID, from []string) error {
	if l.seen[id] {
		return nil
	}
	item, err := readItem(l.ctx, l.v, string(id))
	if errors.Is(err, schemas.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.follow(item, from)
}

// some is a list of one thing, or of none.
func some(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func judge(ctx context.Context, v *visit) (string, error) {
	id := v.r.PathValue("id")
	_, err := ask[ops.TrustAssessOut](ctx, v, "trust_assess", map[string]any{"id": id,
		"verdict": v.r.PostFormValue("verdict")})
	return Root + "memory/" + id, err
}

func deleteItem(ctx context.Context, v *visit) (string, error) {
	id := v.r.PathValue("id")
	in := map[string]any{"id": id}
	if v.r.PostFormValue("undo") != "" {
		in["mode"] = "undo"
	}
	_, err := ask[ops.MemoryDeleteWarmOut](ctx, v, "memory_delete_warm", in)
	return Root + "memory/" + id, err
}

// writeItem writes a new version of an item that is the person's, if it is still the version
// that was shown, or an item that supersedes it.
func writeItem(ctx context.Context, v *visit) (string, error) {
	id := v.r.PathValue("id")
	data := json.RawMessage(v.r.PostFormValue("data"))
	if !json.Valid(data) {
		return "", schemas.Invalidf("these are no fields of an item").Expecting(`JSON, as {"type": "insight", "content": "…"}`).
			Try("go back, and mend the text")
	}
	in := map[string]any{"data": data}
	if v.r.PostFormValue("how") == "supersede" {
		in["type"], in["supersedes"] = v.r.PostFormValue("type"), id
		for _, name := range []string{"group", "visibility", "subject", "key"} {
			if value := strings.TrimSpace(v.r.PostFormValue(name)); value != "" {
				in[name] = value
			}
		}
	} else {
		version, err := number(v.r.PostFormValue("version"))
		if err != nil {
			return "", err
		}
		in["id"], in["if_version"] = id, version
	}
	out, err := ask[ops.MemoryWriteWarmOut](ctx, v, "memory_write_warm", in)
	return Root + "memory/" + string(out.ID), err
}
