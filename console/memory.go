package console

import (
	"context"
	"strconv"

	"cordelia/memory"
	"cordelia/ops"
	"cordelia/schemas"
)

// searchPage is a search as the person, or as an agent of theirs, would have it.
type searchPage struct {
	Query, As string
	Agents    []string
	Found     ops.MemorySearchOut
}

func search(ctx context.Context, v *visit) (view, error) {
	asked := v.r.URL.Query()
	p := searchPage{Query: asked.Get("q"), As: asked.Get("as")}
	in := map[string]any{"limit": 20}
	for name, value := range map[string]string{"query": p.Query, "as": p.As, "cursor": asked.Get("cursor"),
		"group": asked.Get("group")} {
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
	p.Found, err = ask[ops.MemorySearchOut](ctx, v, "memory_search", in)
	return view{"memory", "Memory", p}, err
}

// itemPage is an item with its versions.
type itemPage struct {
	memory.Item
	Versions []memory.Version
}

func oneItem(ctx context.Context, v *visit) (view, error) {
	id := v.r.PathValue("id")
	out, err := ask[ops.MemoryReadWarmOut](ctx, v, "memory_read_warm", map[string]any{"ids": []string{id}})
	if err != nil {
		return view{}, err
	}
	if len(out.Items) == 0 {
		return view{}, schemas.NotFoundf("there is no item %s", schemas.ShortID(id)).
			Try("search for it")
	}
	p := itemPage{Item: out.Items[0]}
	old, err := ask[ops.MemoryReadWarmOut](ctx, v, "memory_read_warm",
		map[string]any{"ids": []string{id}, "history": true})
	p.Versions = old.Versions
	return view{"item", p.Name, p}, err
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

// number reads a form's whole number.
func number(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, schemas.Invalidf("%q is no number", schemas.Shorten(s, 20)).Try("go back, and use the page's buttons")
	}
	return n, nil
}
