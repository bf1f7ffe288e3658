package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/memory"
	"cordelia/review"
	"cordelia/schemas"
	"cordelia/work"
)

var memoryGroup = Define(Spec{
	Name: "memory_group", Title: "Manage groups", Toolset: Memory,
	Effect: access.Destroy, SearchHint: "team members roles culture emcon shared memory",
	Description: "Groups share memory. add invites agents not below you, also changes a role; remove yourself to " +
		"leave; emcon blocks writes.",
}, manageGroup)

type memoryGroupIn struct {
	Action      string          `json:"action" enum:"create,list,read,add,remove,update,invitations"`
	Group       schemas.GroupID `json:"group,omitempty" also:"name,id" jsonschema:"its id"`
	Entity      string          `json:"entity,omitempty" also:"agent,agentid,member" jsonschema:"agent to add or remove"`
	Role        memory.Role     `json:"role,omitempty" enum:"owner,admin,member,viewer" jsonschema:"to add as; else member, or unchanged"`
	Description *string         `json:"description,omitempty" jsonschema:"what it is for"`
	Culture     *cultureIn      `json:"culture,omitempty" jsonschema:"how news and copies are handled"`
	Emcon       *bool           `json:"emcon,omitempty" jsonschema:"true blocks writes"`
}

type cultureIn struct {
	Broadcast    *string `json:"broadcast_eagerness,omitempty" enum:"chatty,moderate,taciturn"`
	Notification *string `json:"notification_policy,omitempty" enum:"push,notify,silent"`
	Departure    *string `json:"departure_policy,omitempty" enum:"permissive,standard,restrictive"`
	TTL          *int64  `json:"ttl_default,omitempty" jsonschema:"seconds until items expire, 0 = never"`
}

// MemoryGroupOut is the answer of memory_group.
type MemoryGroupOut struct {
	Group  *memory.GroupInfo  `json:"group,omitempty"`
	Groups []memory.GroupInfo `json:"groups,omitempty"`
	Member schemas.EntityID   `json:"member,omitempty"`
	Note   schemas.Hint       `json:"note,omitempty"` // what is still missing
	// Invitation is the id of the one that add made instead of a member.
	Invitation  string          `json:"invitation,omitempty"`
	Invitations []InvitationOut `json:"invitations,omitempty"`

	listed []review.Entry // Invitations, as what waits
	who    names
}

// InvitationOut is an invitation that waits for the caller's decision.
type InvitationOut struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Inviter string `json:"inviter"`
	Hash    string `json:"hash"`
}

// Text describes the groups: one with its members, several in a line each.
func (o MemoryGroupOut) Text() string {
	var list []string
	switch {
	case o.Invitation != "":
		list = append(list, fmt.Sprintf(
			"invited: %s (invitation %s); its parent or the user decides, until then it sees nothing of the group",
			o.who.of(o.Member), short(o.Invitation)))
	case o.Member != "":
		list = append(list, "member: "+o.who.of(o.Member))
	}
	list = append(list, Line(o.Note.String()))
	groups := o.Groups
	if o.Group != nil {
		groups = append(groups, *o.Group)
	}
	for _, g := range groups {
		list = append(list, words(", ", fmt.Sprintf("%s: you are %s", g.ID, g.Role),
			when(g.Role != access.RoleOwner, "owner %s", o.who.of(g.Owner)),
			when(o.Group == nil, "%s", schemas.Count(g.Size, "member", "members")),
			when(g.Emcon, "emcon: writes are blocked"), when(g.Description != "", "“%s”", Line(g.Description))))
	}
	if list = append(list, invitationLines(o.listed)...); len(o.listed) > 0 {
		list = append(list, "decide with review_decide, naming each hash")
	}
	if g := o.Group; g != nil {
		c := g.Culture
		var members []string
		for _, m := range g.Members {
			members = append(members, fmt.Sprintf("%s (%s)", Line(m.Name), m.Role))
		}
		for _, m := range g.Invited {
			members = append(members, fmt.Sprintf("%s (%s, invited)", Line(m.Name), m.Role))
		}
		list = append(list, fmt.Sprintf("culture: %s, %s, %s, ttl_default %d", c.Broadcast, c.Notification, c.Departure,
			c.TTL),
			when(len(members) > 0, "members: %s", strings.Join(members, ", ")))
	}
	if text := lines(list...); text != "" {
		return text
	}
	return "no groups"
}

// maxInvitationsShown is how many waiting invitations one call lists.
const maxInvitationsShown = 50

func (in memoryGroupIn) culture() memory.CulturePatch {
	if in.Culture == nil {
		return memory.CulturePatch{}
	}
	return memory.CulturePatch(*in.Culture)
}

// groupActions are the actions, each with the arguments that it takes.
var groupActions = []struct {
	name  string
	takes []string
}{
	{"create", []string{"group", "description", "culture"}},
	{"list", nil},
	{"read", []string{"group"}},
	{"add", []string{"group", "entity", "role"}},
	{"remove", []string{"group", "entity"}},
	{"update", []string{"group", "description", "culture", "emcon"}},
	{"invitations", nil},
}

// check reports what an action lacks, and what it does not take.
func (in memoryGroupIn) check() error {
	var found []schemas.Violation
	for _, arg := range []struct {
		name            string
		given, required bool
	}{{"group", in.Group != "", true}, {"entity", in.Entity != "", true}, {"role", in.Role != "", false},
		{"description", in.Description != nil, false}, {"culture", in.Culture != nil, false},
		{"emcon", in.Emcon != nil, false}} {
		var taking []string
		for _, action := range groupActions {
			if slices.Contains(action.takes, arg.name) {
				taking = append(taking, action.name)
			}
		}
		switch takes := slices.Contains(taking, in.Action); {
		case takes && arg.required && !arg.given:
			found = append(found, schemas.Violation{Path: schemas.Pointer(arg.name), Msg: "is missing"})
		case !takes && arg.given:
			found = append(found, schemas.Violation{Path: schemas.Pointer(arg.name),
				Msg: "goes with " + strings.Join(taking, ", ")})
		}
	}
	if found == nil {
		return nil
	}
	return schemas.Invalidf("these are not the arguments of %s", in.Action).
		Try("correct what is listed and %s again", schemas.Do("memory_group")).With(found...)
}

func manageGroup(ctx context.Context, c *Call, in memoryGroupIn) (MemoryGroupOut, error) {
	if err := in.check(); err != nil {
		return MemoryGroupOut{}, err
	}
	return Transact(ctx, c, func(g access.Grant) (MemoryGroupOut, error) {
		out, err := in.run(c, g)
		out.who.add(g, out.Member)
		for _, info := range out.Groups {
			out.who.add(g, info.Owner)
		}
		if out.Group != nil {
			out.who.add(g, out.Group.Owner)
		}
		return out, err
	})
}

func (in memoryGroupIn) run(c *Call, g access.Grant) (out MemoryGroupOut, err error) {
	switch in.Action {
	case "invitations":
		return invitations(c, g)
	case "list":
		out.Groups, err = memory.ListGroups(g)
		out.Groups = slices.DeleteFunc(out.Groups, func(i memory.GroupInfo) bool { return i.Kind == memory.StagingGroup })
		return out, err // review_list shows what is staged
	case "create":
		n := memory.NewGroup{ID: in.Group, Culture: in.culture()}
		if in.Description != nil {
			n.Description = *in.Description
		}
		err = memory.CreateGroup(g, n)
	case "add":
		err = in.add(g, &out)
	case "remove":
		out.Member, err = memory.RemoveMember(g, in.Group, in.Entity)
		if err == nil {
			err = work.Revoke(g, out.Member)
		}
		if out.Member == g.Actor() {
			return out, err // who has left sees no more of it
		}
	case "update":
		_, err = memory.UpdateGroup(g, in.Group, memory.GroupPatch{Description: in.Description, Culture: in.culture(),
			Emcon: in.Emcon})
	}
	if err != nil {
		return MemoryGroupOut{}, err
	}
	info, err := memory.ReadGroup(g, in.Group)
	out.Group = &info
	return out, err
}

// invitations lists the invitations that wait for the caller's decision.
func invitations(c *Call, g access.Grant) (out MemoryGroupOut, err error) {
	if out.listed, _, err = review.List(g, review.After{Kind: review.ToGroup}, maxInvitationsShown,
		c.tainted()); err != nil {
		return out, err
	}
	out.listed = slices.DeleteFunc(out.listed, func(e review.Entry) bool { return e.Kind != review.ToGroup })
	for _, e := range out.listed {
		out.Invitations = append(out.Invitations, InvitationOut{e.ID, e.Name, e.Author, e.Hash})
	}
	if len(out.listed) == 0 {
		out.Note = schemas.Hintf("no invitations")
	}
	return out, nil
}

// add makes an entity a member, or invites it. A member is given the group in its capabilities.
func (in memoryGroupIn) add(g access.Grant, out *MemoryGroupOut) error {
	added, err := memory.AddMember(g, in.Group, in.Entity, in.Role)
	out.Member, out.Invitation = added.ID, added.Invitation
	if err != nil || added.Invitation != "" {
		return err
	}
	if out.Note, err = agents.LetReach(g, added.ID, in.Group, added.Role); err != nil {
		return err
	}
	return work.Revoke(g, added.ID) // a viewer holds no work
}
