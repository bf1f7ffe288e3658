package ops

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"cordelia/access"
	"cordelia/roles"
)

var roleList = Define(Spec{
	Name: "role_list", Title: "List roles", Toolset: Roles, Effect: access.Read,
	SearchHint: "registry roles goals authority domains who owns",
	Description: "The roles of your workspace: state, domains, whom each reports to, open work. With role: its " +
		"charter, goals, authority, trust, and what it decided last.",
}, listRoles)

type roleListIn struct {
	Role      string `json:"role,omitempty" jsonschema:"one, whole"`
	Workspace string `json:"workspace,omitempty" jsonschema:"default all of yours"`
}

// RoleListOut is the answer of role_list.
type RoleListOut struct {
	Roles []roles.Entry `json:"roles"`
	Role  *roles.Detail `json:"role,omitempty"`
}

// Text is a line for each role, or all of one.
func (o RoleListOut) Text() string {
	if o.Role != nil {
		return roleText(*o.Role)
	}
	if len(o.Roles) == 0 {
		return "no roles"
	}
	var list []string
	for _, e := range o.Roles {
		list = append(list, entryLine(e))
	}
	return lines(list...)
}

func entryLine(e roles.Entry) string {
	return words(", ", fmt.Sprintf("%s %s", e.Role, e.State), when(e.Why != "", "%s", Line(e.Why)),
		when(e.Back != "", "a person lets it act: %s", e.Back), when(len(e.Domains) > 0, "owns %s",
			strings.Join(e.Domains, " ")), "reports to "+e.ReportsTo, when(e.Parent != "", "child of %s", e.Parent),
		when(e.Open > 0, "%d open", e.Open), when(e.Waiting > 0, "%d waiting", e.Waiting), "in "+e.Workspace)
}

func roleText(d roles.Detail) string {
	list := []string{entryLine(d.Entry), "soul: " + Line(d.Soul),
		when(len(d.Operators) > 0, "operators: %s", strings.Join(d.Operators, ", ")),
		when(len(d.Authority.Autonomous) > 0, "autonomous: %s", strings.Join(d.Authority.Autonomous, ", ")),
		when(len(d.Authority.NeedsApproval) > 0, "needs approval: %s", strings.Join(d.Authority.NeedsApproval, ", ")),
		when(len(d.Authority.Forbidden) > 0, "forbidden: %s", strings.Join(d.Authority.Forbidden, ", "))}
	for _, goal := range d.Goals {
		list = append(list, fmt.Sprintf("goal %s: %s", Line(goal.ID), Line(goal.Description)))
		for _, k := range goal.KeyResults {
			list = append(list, "  "+Line(k.String()))
		}
	}
	for _, t := range d.Trust {
		list = append(list, fmt.Sprintf("trusted %d/100 with %s: %s", t.Hundredths, t.Action, t.Watch))
	}
	for _, r := range d.Recommendations {
		list = append(list, fmt.Sprintf("recommended: role_spawn %s: %s",
			mustJSON(map[string]any{"template": r.Template, "params": r.Params}), Line(r.Reason)))
	}
	for _, p := range d.Last {
		list = append(list, words(", ", fmt.Sprintf("%s %s: %s: %s", minute(p.At), p.Event, p.Word(), Line(p.Reason)),
			when(p.Would != "", "would %s", p.Would)))
	}
	return lines(list...)
}

// settled does what time and ended work made due of roles: a program that runs one command has no
// routine that does.
func (c *Call) settled(ctx context.Context) {
	if err := c.Node.ReapRoles(ctx); err != nil {
		slog.Warn("roles", "err", err)
	}
}

func listRoles(ctx context.Context, c *Call, in roleListIn) (RoleListOut, error) {
	c.settled(ctx)
	return Transact(ctx, c, func(g access.Grant) (out RoleListOut, err error) {
		if in.Role != "" {
			d, err := c.Node.Roles().Show(g, in.Workspace, in.Role)
			return RoleListOut{Roles: []roles.Entry{}, Role: &d}, err
		}
		list, err := c.Node.Roles().List(g, in.Workspace)
		return RoleListOut{Roles: append([]roles.Entry{}, list...)}, err
	})
}
