package ops

import (
	"context"

	"cordelia/access"
	"cordelia/roles"
	"cordelia/schemas"
)

var roleSpawn = Define(Spec{
	Name: "role_spawn", Title: "Spawn a role", Toolset: Roles, Effect: access.Write,
	SearchHint: "create child role template spawn",
	Description: "Make a child role from a template that names you among its spawners. It gets the stricter of the " +
		"template and you; what was taken back is said. It may wait for the owner's approval.",
}, spawnRole)

type roleSpawnIn struct {
	Template  string            `json:"template" jsonschema:"its id"`
	Params    map[string]string `json:"params,omitempty" jsonschema:"parameter to value"`
	Parent    string            `json:"parent,omitempty" jsonschema:"role; default you"`
	Workspace string            `json:"workspace,omitempty" jsonschema:"if you have several"`
}

// RoleSpawnOut is the answer of role_spawn.
type RoleSpawnOut struct {
	Role      string           `json:"role"`
	AgentID   schemas.EntityID `json:"agent_id,omitempty"`
	Clamped   []string         `json:"clamped,omitempty"`
	Inherited int              `json:"inherited,omitempty" jsonschema:"insights"`
	AskID     string           `json:"ask_id,omitempty"`
	Next      schemas.Hint     `json:"next"`
}

// Text says what was made, and what of it was taken back.
func (o RoleSpawnOut) Text() string {
	list := []string{when(o.AskID == "", "%s is made; %s", o.Role, words(", ",
		schemas.Count(o.Inherited, "insight inherited", "insights inherited")))}
	for _, c := range o.Clamped {
		list = append(list, "- clamped: "+Line(c))
	}
	return lines(append(list, o.Next.String())...)
}

func spawnRole(ctx context.Context, c *Call, in roleSpawnIn) (RoleSpawnOut, error) {
	out, err := Transact(ctx, c, func(g access.Grant) (RoleSpawnOut, error) {
		s, err := c.Node.Roles().Spawn(g, in.Workspace, roles.Spawn{Parent: in.Parent, Template: in.Template,
			Params: in.Params})
		out := RoleSpawnOut{Role: s.RoleID, AgentID: s.Agent, Clamped: s.Clamped, Inherited: s.Inherited, AskID: s.Ask}
		out.Next = schemas.Hintf("Run it as its own process: cordelia mcp --as %s", access.RefOf(g.Tx(), s.Agent))
		if s.Ask != "" {
			out.Next = schemas.Hintf("%s waits for the owner's approval as %s", s.RoleID, short(s.Ask))
		}
		return out, err
	})
	c.Node.WriteRoleKeys()
	return out, err
}
