package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/roles"
	"cordelia/schemas"
)

var roleEvent = Define(Spec{
	Name: "role_event", Title: "Send an event to roles", Toolset: Roles, Effect: access.Write, Repeatable: true,
	SearchHint: "event route delegate escalate webhook directive role",
	Description: "Tell a workspace's roles what happened. The role that owns the domain decides by its charter: " +
		"delegate, escalate, forward or ignore. directive.spawn, .respond, .reflect and .design_role tell a role " +
		"to do so.",
}, sendEvent)

type roleEventIn struct {
	Type      string                 `json:"type" jsonschema:"as lead.created"`
	Domain    string                 `json:"domain,omitempty" jsonschema:"whose it is; or role"`
	Role      string                 `json:"role,omitempty" jsonschema:"role it is for"`
	Payload   json.RawMessage        `json:"payload,omitempty" text:"text" jsonschema:"what happened"`
	Source    string                 `json:"source,omitempty" jsonschema:"where it comes from"`
	Delivery  string                 `json:"delivery,omitempty" jsonschema:"its id there: taken once"`
	Thread    string                 `json:"thread,omitempty" jsonschema:"what it belongs to"`
	Secrecy   schemas.Classification `json:"classification,omitempty" enum:"public,internal,confidential,restricted"`
	Workspace string                 `json:"workspace,omitempty" jsonschema:"if you have several"`
	DryRun    bool                   `json:"dry_run,omitempty" jsonschema:"only say what would be"`
}

// RoleEventOut is the answer of role_event.
type RoleEventOut struct {
	EventID   string          `json:"event_id,omitempty"`
	Workspace string          `json:"workspace,omitempty"`
	Repeated  bool            `json:"repeated,omitempty"`
	DryRun    bool            `json:"dry_run,omitempty"`
	Decisions []roles.Decided `json:"decisions"`
}

// Text says what each role decided, and what followed.
func (o RoleEventOut) Text() string {
	var list []string
	if o.Repeated {
		list = append(list, "it came before; nothing was done now")
	}
	for _, d := range o.Decisions {
		list = append(list, decisionText(d))
	}
	return lines(append(list, when(o.DryRun, "nothing was done"))...)
}

func decisionText(d roles.Decided) string {
	return words(", ", fmt.Sprintf("%s: %s: %s", cmp.Or(d.Role, "no role"), d.Word(), Line(d.Reason)),
		when(d.Target != "", "to %s", d.Target), when(d.Sandbox, "in testing: nothing follows"),
		when(d.WorkID != "", "work %s", short(d.WorkID)), when(d.TaskID != "", "task %s", short(d.TaskID)),
		when(d.Ended != "", "%s", d.Ended), when(d.AskID != "", "%s waits in review_list, %s", short(d.AskID), d.State))
}

func (in roleEventIn) event(c *Call) (roles.Event, error) {
	e := roles.Event{ID: in.Delivery, Type: in.Type, Source: in.Source, Domain: in.Domain, Payload: in.Payload,
		Thread: in.Thread, Names: in.Role, Secrecy: in.Secrecy}
	err := roles.CheckEvent(&e, c.Node.Now())
	if refused, ok := errors.AsType[*schemas.Error](err); ok {
		for i, v := range refused.Violations {
			if v.Path == schemas.Pointer("id") { // as this tool names it
				refused.Violations[i].Path = schemas.Pointer("delivery")
			}
		}
	}
	return e, err
}

func sendEvent(ctx context.Context, c *Call, in roleEventIn) (RoleEventOut, error) {
	e, err := in.event(c)
	if err != nil {
		return RoleEventOut{}, err
	}
	e.Outside = c.tainted() // what its sender read may speak out of it
	if in.DryRun {
		out := RoleEventOut{DryRun: true, Decisions: []roles.Decided{}}
		err := c.do(ctx, c.lookOp(), func(g access.Grant) error {
			list, err := c.Node.Roles().Explain(g, in.Workspace, e, false)
			for _, d := range list {
				out.Decisions = append(out.Decisions, roles.Decided{Decision: d})
			}
			return err
		})
		return out, err
	}
	c.settled(ctx)
	return Transact(ctx, c, func(g access.Grant) (RoleEventOut, error) {
		t, err := c.Node.Roles().Deliver(g, in.Workspace, e)
		return RoleEventOut{EventID: t.EventID, Workspace: t.Workspace, Repeated: t.Repeated, Decisions: t.Decisions}, err
	})
}

// ExplainEvent says what every role of a workspace, or those on its way, would decide over an
// event, with each step.
func (s *Service) ExplainEvent(ctx context.Context, caller Caller, workspace, role string,
	raw json.RawMessage, all bool) (out []roles.Decision, err error) {
	e, err := roles.ParseEvent(raw)
	if err != nil {
		return nil, err
	}
	if e.Names = cmp.Or(role, e.Names); strings.TrimSpace(e.Type) == "" {
		return nil, schemas.Invalidf("the event has no type").Expecting("type, as lead.created")
	}
	if err := roles.CheckEvent(&e, s.Now()); err != nil {
		return nil, err
	}
	err = s.Auth.Do(ctx, caller.Principal, access.Op{Tool: roleList.Name, Effect: access.Read},
		func(g access.Grant) error {
			out, err = s.Roles().Explain(g, workspace, e, all)
			return err
		})
	return out, err
}
