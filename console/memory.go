package console

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"cordelia/events"
	"cordelia/memory"
	"cordelia/ops"
	"cordelia/schemas"
)

// searchPage is a search as the person, or as an agent of theirs, would have it.
type searchPage struct {
	Query, As, Group string
	Agents           []string
	Found            ops.MemorySearchOut
	Changed          []change // lately, on the page without words
}

// change is what one did to memory in the last 24 hours, of the newest entries of the record.
type change struct {
	Who, Action, Last string
	Times             int
	Items             []memory.Item // the newest of those it was done to
	ids               []schemas.ItemID
}

const (
	recentEntries = 300 // how far back into the record the changes of a day are looked for
	mostNamed     = 5   // items of a change
)

// changing are the actions that change what memory says, in words.
var changing = map[string]string{"memory_write_warm": "wrote", "memory_delete_warm": "deleted",
	"memory_release": "released", "trust_assess": "judged", "memory_group": "changed groups"}

func search(ctx context.Context, v *visit) (view, error) {
	asked := v.r.URL.Query()
	p := searchPage{Query: asked.Get("q"), As: asked.Get("as"), Group: asked.Get("group")}
	in := map[string]any{"limit": 20}
	for name, value := range map[string]string{"query": p.Query, "as": p.As, "cursor": asked.Get("cursor"),
		"group": p.Group} {
		if value != "" {
			in[name] = value
		}
	}
	agents, err := ask[ops.AgentListOut](ctx, v, "agent_list", map[string]any{"limit": 100})
	if err != nil {
		return view{}, err
	}
	for _, a := range agents.Agents {
		p.Agents = append(p.Agents, a.Name)
	}
	if p.Found, err = ask[ops.MemorySearchOut](ctx, v, "memory_search", in); err != nil {
		return view{}, err
	}
	if p.Query+p.As+p.Group+asked.Get("cursor") == "" {
		p.Changed, err = changes(ctx, v)
	}
	return view{template: "memory", title: "Memory", body: p}, err
}

// changes counts what changed memory in the last 24 hours, by who did what, the newest first.
func changes(ctx context.Context, v *visit) (list []change, err error) {
	entries, _, err := v.node.AuditTail(ctx, v.caller.Principal,
		events.AuditFilter{Since: v.node.Now().Add(-24 * time.Hour).UnixMicro()}, 0, recentEntries)
	if err != nil {
		return nil, err
	}
	names := map[schemas.EntityID]string{}
	for _, e := range slices.Backward(entries) {
		if changing[e.Action] == "" {
			continue
		}
		if names[e.Actor] == "" {
			names[e.Actor] = v.nameOf(ctx, e.Actor)
		}
		at := slices.IndexFunc(list, func(c change) bool { return c.Who == names[e.Actor] && c.Action == e.Action })
		if at < 0 {
			at = len(list)
			list = append(list, change{Who: names[e.Actor], Action: e.Action, Last: e.Time})
		}
		c := &list[at]
		c.Times++
		id, ok := strings.CutPrefix(e.Target, "item/")
		if ok && len(c.ids) < mostNamed && !slices.Contains(c.ids, schemas.ItemID(id)) {
			c.ids = append(c.ids, schemas.ItemID(id))
		}
	}
	for i := range list {
		if len(list[i].ids) == 0 {
			continue
		}
		out, err := ask[ops.MemoryReadWarmOut](ctx, v, "memory_read_warm", map[string]any{"ids": list[i].ids})
		if err != nil && !errors.Is(err, schemas.ErrNotFound) {
			return nil, err
		}
		list[i].Items = out.Items
	}
	return list, nil
}

// Says is the change in words.
func (c change) Says() string {
	return changing[c.Action] + ", " + schemas.Count(c.Times, "time", "times")
}

// groupsPage lists the groups that share memory, and the folders bound to them.
type groupsPage struct {
	Groups   []memory.GroupInfo
	Bindings []memory.Binding
}

func groups(ctx context.Context, v *visit) (view, error) {
	out, err := ask[ops.MemoryGroupOut](ctx, v, "memory_group", map[string]any{"action": "list"})
	if err != nil {
		return view{}, err
	}
	p := groupsPage{Groups: out.Groups}
	p.Bindings, err = v.node.Bindings(ctx, v.caller.Principal)
	return view{template: "groups", title: "Groups", body: p}, err
}

// groupPage is one group.
type groupPage struct {
	memory.GroupInfo
	Bindings []memory.Binding
}

// newGroupPage reads a group with the folders that are bound to it.
func newGroupPage(ctx context.Context, v *visit, id string) (p groupPage, err error) {
	out, err := ask[ops.MemoryGroupOut](ctx, v, "memory_group", map[string]any{"action": "read", "group": id})
	if err != nil {
		return p, err
	}
	p.GroupInfo = *out.Group
	list, err := v.node.Bindings(ctx, v.caller.Principal)
	for _, b := range list {
		if b.Group == p.ID {
			p.Bindings = append(p.Bindings, b)
		}
	}
	return p, err
}

func oneGroup(ctx context.Context, v *visit) (view, error) {
	p, err := newGroupPage(ctx, v, v.r.PathValue("id"))
	return view{template: "group", title: "Group " + string(p.ID), body: p}, err
}

// number reads a form's whole number.
func number(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, schemas.Invalidf("%q is no number", schemas.Shorten(s, 20)).Try("go back, and use the page's buttons")
	}
	return n, nil
}
