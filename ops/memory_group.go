package ops

import (
	"context"
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/work"
)

var memoryGroup = Define(Spec{
	Name: "memory_group", Title: "Manage groups", Toolset: Memory,
	Effect: access.Destroy, SearchHint: "team members roles culture emcon shared memory",
	Description: "Groups share memory. add also changes a role; remove yourself to leave; emcon blocks writes.",
}, manageGroup)

type memoryGroupIn struct {
	Action      string          `json:"action" enum:"create,list,read,add,remove,update"`
	Group       schemas.GroupID `json:"group,omitempty"`
	Entity      string          `json:"entity,omitempty"`
	Role        memory.Role     `json:"role,omitempty" enum:"owner,admin,member,viewer"`
	Description *string         `json:"description,omitempty"`
	Culture     *cultureIn      `json:"culture,omitempty"`
	Emcon       *bool           `json:"emcon,omitempty"`
}

type cultureIn struct {
	Broadcast    *string `json:"broadcast_eagerness,omitempty" enum:"chatty,moderate,taciturn"`
	Notification *string `json:"notification_policy,omitempty" enum:"push,notify,silent"`
	Departure    *string `json:"departure_policy,omitempty" enum:"permissive,standard,restrictive"`
	TTL          *int64  `json:"ttl_default,omitempty"`
}

type memoryGroupOut struct {
	Group  *memory.GroupInfo  `json:"group,omitempty"`
	Groups []memory.GroupInfo `json:"groups,omitempty"`
	Member schemas.EntityID   `json:"member,omitempty"`
	Note   string             `json:"note,omitempty"` // what is still missing
}

// Text names the groups.
func (o memoryGroupOut) Text() string {
	var lines []string
	if o.Member != "" {
		lines = append(lines, "member: "+string(o.Member))
	}
	if o.Note != "" {
		lines = append(lines, o.Note)
	}
	groups := o.Groups
	if o.Group != nil {
		groups = append(groups, *o.Group)
	}
	for _, g := range groups {
		lines = append(lines, fmt.Sprintf("%s: %s, you are %s", g.ID, schemas.Count(g.Size, "member", "members"), g.Role))
	}
	if len(lines) == 0 {
		return "no groups"
	}
	return strings.Join(lines, "\n")
}

func (in memoryGroupIn) culture() memory.CulturePatch {
	if in.Culture == nil {
		return memory.CulturePatch{}
	}
	return memory.CulturePatch(*in.Culture)
}

// check reports what an action lacks.
func (in memoryGroupIn) check() error {
	var found []schemas.Violation
	if in.Action != "list" && in.Group == "" {
		found = append(found, schemas.Violation{Path: "/group", Msg: "is missing"})
	}
	if (in.Action == "add" || in.Action == "remove") && in.Entity == "" {
		found = append(found, schemas.Violation{Path: "/entity", Msg: "is missing"})
	}
	if len(found) > 0 {
		return schemas.Invalidf("%s needs more", in.Action).Try("call memory_group again with what is listed").With(found...)
	}
	return nil
}

func manageGroup(ctx context.Context, c *Call, in memoryGroupIn) (memoryGroupOut, error) {
	if err := in.check(); err != nil {
		return memoryGroupOut{}, err
	}
	return Transact(ctx, c, func(g access.Grant) (memoryGroupOut, error) { return in.run(g) })
}

func (in memoryGroupIn) run(g access.Grant) (out memoryGroupOut, err error) {
	switch in.Action {
	case "list":
		out.Groups, err = memory.ListGroups(g)
		return out, err
	case "create":
		n := memory.NewGroup{ID: in.Group, Culture: in.culture()}
		if in.Description != nil {
			n.Description = *in.Description
		}
		err = memory.CreateGroup(g, n)
	case "add":
		if in.Role == "" {
			in.Role = access.RoleMember
		}
		if out.Member, err = memory.AddMember(g, in.Group, in.Entity, in.Role); err == nil {
			out.Note, err = agents.Approve(g, out.Member, in.Group)
		}
		if err == nil { // a viewer holds no work
			err = work.Revoke(g, out.Member)
		}
	case "remove":
		out.Member, err = memory.RemoveMember(g, in.Group, in.Entity)
		if err == nil {
			err = work.Revoke(g, out.Member)
		}
		if out.Member == g.Actor() {
			return out, err // who has left sees no more of it
		}
	case "update":
		_, err = memory.UpdateGroup(g, in.Group, memory.GroupPatch{Description: in.Description, Culture: in.culture(), Emcon: in.Emcon})
	}
	if err != nil {
		return memoryGroupOut{}, err
	}
	info, err := memory.ReadGroup(g, in.Group)
	out.Group = &info
	return out, err
}
