package ops

import (
	"context"
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/roles"
	"cordelia/schemas"
)

var roleDraft = Define(Spec{
	Name: "role_draft", Title: "Propose a role template", Toolset: Roles, Effect: access.Write,
	SearchHint: "design template role draft propose",
	Description: "Propose a template of a role you would spawn. Its authority lies inside yours, and the owner " +
		"decides. Without template: the drafts there are.",
}, draftRole)

type roleDraftIn struct {
	Name      string          `json:"name,omitempty" jsonschema:"id of the template"`
	Template  json.RawMessage `json:"template,omitempty" jsonschema:"as under role_templates"`
	Intent    string          `json:"intent,omitempty" jsonschema:"what for"`
	Reasoning string          `json:"reasoning,omitempty" free:"lines" jsonschema:"why so"`
	Workspace string          `json:"workspace,omitempty" jsonschema:"if you have several"`
}

// RoleDraftOut is the answer of role_draft.
type RoleDraftOut struct {
	Drafts []roles.Draft `json:"drafts"`
}

// Text is a line for each draft.
func (o RoleDraftOut) Text() string {
	if len(o.Drafts) == 0 {
		return "no drafts"
	}
	var list []string
	for _, d := range o.Drafts {
		list = append(list, words(", ", fmt.Sprintf("%s by %s: %s", d.TemplateID, d.Proposed, d.State),
			when(d.State == schemas.ReviewPending, "waits for the owner as %s", short(d.AskID)), Line(d.Intent)))
	}
	return lines(list...)
}

func draftRole(ctx context.Context, c *Call, in roleDraftIn) (RoleDraftOut, error) {
	if len(in.Template) == 0 {
		out := RoleDraftOut{Drafts: []roles.Draft{}}
		err := c.do(ctx, c.lookOp(), func(g access.Grant) error {
			list, err := c.Node.Roles().Drafts(g, in.Workspace)
			out.Drafts = append(out.Drafts, list...)
			return err
		})
		return out, err
	}
	t, err := roles.ParseTemplate(in.Template)
	if err != nil {
		return RoleDraftOut{}, err
	}
	return Transact(ctx, c, func(g access.Grant) (RoleDraftOut, error) {
		d, err := c.Node.Roles().Propose(g, in.Workspace, roles.Draft{TemplateID: in.Name, Template: t, Intent: in.Intent,
			Reasoning: in.Reasoning})
		return RoleDraftOut{Drafts: []roles.Draft{d}}, err
	})
}
