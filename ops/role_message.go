package ops

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/roles"
	"cordelia/schemas"
)

var roleMessage = Define(Spec{
	Name: "role_message", Title: "Messages between roles", Toolset: Roles, Effect: access.Write,
	SearchHint: "send request notify answer message role person",
	Description: "Send a message to a role or the owner: a notification, or a request with a deadline. A request to " +
		"the owner waits in their review queue. Without content: your messages.",
}, message)

type roleMessageIn struct {
	To        string `json:"to,omitempty" jsonschema:"role or owner"`
	Content   string `json:"content,omitempty" also:"message,text" free:"lines" jsonschema:"what you say"`
	Request   bool   `json:"request,omitempty" jsonschema:"you expect an answer"`
	Within    int    `json:"within_seconds,omitempty" jsonschema:"until its deadline, default a day"`
	Answers   string `json:"answers,omitempty" ref:"message" jsonschema:"request you answer"`
	About     string `json:"about,omitempty" ref:"message" jsonschema:"list this request alone"`
	Workspace string `json:"workspace,omitempty" jsonschema:"if you have several"`
}

// RoleMessageOut is the answer of role_message.
type RoleMessageOut struct {
	Messages []roles.Message `json:"messages"`
	Sent     bool            `json:"sent,omitempty"`
}

// Text is a line for each message.
func (o RoleMessageOut) Text() string {
	if len(o.Messages) == 0 {
		return "no messages"
	}
	var list []string
	for _, m := range o.Messages {
		list = append(list, words(", ", fmt.Sprintf("%s %s %s → %s", short(m.ID), m.Kind, Line(m.From), Line(m.To)),
			when(m.Correlation != m.ID, "about %s", short(m.Correlation)), when(m.Late, "late"),
			when(m.Deadline != "", "until %s", minute(m.Deadline)))+when(!o.Sent, ": %s", Line(m.Content)))
	}
	return lines(list...)
}

func message(ctx context.Context, c *Call, in roleMessageIn) (RoleMessageOut, error) {
	if in.Content == "" {
		if in.To != "" || in.Request || in.Answers != "" {
			return RoleMessageOut{}, schemas.Invalidf("the message has no content").Expecting("content, or about alone")
		}
		out := RoleMessageOut{Messages: []roles.Message{}}
		err := c.do(ctx, c.lookOp(), func(g access.Grant) error {
			list, err := c.Node.Roles().Messages(g, in.Workspace, in.About)
			out.Messages = append(out.Messages, list...)
			if err == nil && in.About != "" && len(list) == 0 {
				err = schemas.NotFoundf("there is no request %q of yours or for you", schemas.Shorten(in.About, 64)).
					Try("%s without about lists your messages", schemas.Alone("role_message"))
			}
			return err
		})
		c.shown(ctx, slices.ContainsFunc(out.Messages, func(m roles.Message) bool { return m.Outside }))
		return out, err
	}
	return Transact(ctx, c, func(g access.Grant) (RoleMessageOut, error) {
		m, err := c.Node.Roles().Send(g, in.Workspace, roles.Note{To: in.To, Content: in.Content, Answers: in.Answers,
			Expects: in.Request, Within: time.Duration(in.Within) * time.Second,
			Outside: c.tainted()})
		return RoleMessageOut{Messages: []roles.Message{m}, Sent: true}, err
	})
}
