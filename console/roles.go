package console

import (
	"context"

	"cordelia/ops"
	"cordelia/roles"
	"cordelia/schemas"
)

// rolesPage is the organisation chart of the roles.
type rolesPage struct {
	Roles []roles.Entry
	Chart graph
}

func allRoles(ctx context.Context, v *visit) (view, error) {
	out, err := ask[ops.RoleListOut](ctx, v, "role_list", map[string]any{})
	if err != nil {
		return view{}, err
	}
	p := rolesPage{Roles: out.Roles}
	if len(p.Roles) > 0 {
		p.Chart = chartOf(v.caller.Entity, p.Roles)
	}
	return view{template: "roles", title: "Roles", body: p}, nil
}

// chartOf draws to whom each role reports, the person at the left.
func chartOf(person schemas.EntityID, list []roles.Entry) graph {
	const you = "you"
	all := []vertex{{ID: you, Label: "you", Note: "the person"}}
	there := map[string]bool{}
	for _, e := range list {
		there[e.Workspace+"/"+e.Role] = true
	}
	for _, e := range list {
		above := e.Workspace + "/" + e.ReportsTo
		if !there[above] || e.ReportsTo == string(person) {
			above = you
		}
		note := string(e.State)
		if e.Waiting > 0 {
			note += ", " + schemas.Count(e.Waiting, "question", "questions") + " open"
		} else if e.Open > 0 {
			note += ", works on " + schemas.Count(e.Open, "thing", "things")
		}
		all = append(all, vertex{ID: e.Workspace + "/" + e.Role, Label: e.Role, Note: note, Class: string(e.State),
			Href: roleHref(e), From: []string{above}})
	}
	return newGraph("Who reports to whom, from left to right", all)
}

// roleHref is where a role's page is: its name counts within its workspace.
func roleHref(e roles.Entry) string { return Root + "roles/" + e.Workspace + "/" + e.Role }

func oneRole(ctx context.Context, v *visit) (view, error) {
	out, err := ask[ops.RoleListOut](ctx, v, "role_list", map[string]any{"workspace": v.r.PathValue("workspace"),
		"role": v.r.PathValue("id")})
	if err != nil {
		return view{}, err
	}
	return view{template: "role", title: "Role " + out.Role.Role, body: out.Role}, nil
}
