package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/memory"
	"cordelia/ops"
)

func memoryGroupCommand(a *app) *cobra.Command {
	action := func(name, words, short, example string, takes []string, hide ...string) *cobra.Command {
		return command{
			op: "memory_group", use: strings.TrimSpace(name + " " + words), short: short, takes: takes, hide: hide,
			fixed: map[string]any{"action": name}, example: "cordelia memory group " + example, show: shown(showGroups),
			learns: true,
		}.command(a)
	}
	return group("group", "Groups that share memory",
		action("create", "GROUP", "Make a group you own", "create team --description 'the parser rewrite'",
			[]string{"group"}, "entity", "role", "emcon"),
		action("list", "", "List the groups you see", "list", nil, "group", "entity", "role", "description", "culture",
			"emcon"),
		action("read", "GROUP", "Show a group with its members", "read team", []string{"group"}, "entity", "role",
			"description", "culture", "emcon"),
		action("add", "GROUP ENTITY", "Add a member, invite one that is not below you, or change a role",
			"add team researcher --role member", []string{"group", "entity"}, "description", "culture", "emcon"),
		action("remove", "GROUP ENTITY", "Remove a member, or take an invitation back", "remove team researcher",
			[]string{"group", "entity"}, "role", "description", "culture", "emcon"),
		action("invitations", "", "List invitations of your agents, or of you, to others' groups", "invitations", nil,
			"group", "entity", "role", "description", "culture", "emcon"),
		action("update", "GROUP", "Change description, culture or emission control", "update team --emcon",
			[]string{"group"}, "entity", "role"),
	)
}

func showGroups(a *app, v ops.MemoryGroupOut) {
	if len(v.Note) > 0 && v.Group == nil && len(v.Groups) == 0 && v.Member == "" && len(v.Invitations) == 0 {
		a.say("%s", a.advice(v.Note)) // all there is to say
		return
	}
	if len(v.Note) > 0 {
		defer a.note("%s", a.advice(v.Note))
	}
	switch {
	case v.Invitation != "":
		a.say("invited: %s", a.who(v.Member))
		a.note("its parent or the user decides; until then it sees nothing of the group")
	case len(v.Invitations) > 0:
		t := table{firm: 1, head: []string{"ID", "BY", "INVITES"}}
		for _, i := range v.Invitations {
			t.add(texts(short(i.ID), clean(i.Inviter), clean(i.Name))...)
		}
		a.print(t)
		first := v.Invitations[0]
		a.note("accept: cordelia review approve %s %s", short(first.ID), clean(first.Hash))
		a.note("decline: cordelia review reject %s", short(first.ID))
	case v.Group != nil:
		showGroup(a, *v.Group)
	case v.Member != "":
		a.say("done: %s", a.who(v.Member))
	case len(v.Groups) == 0:
		a.say("No groups. Make one: cordelia memory group create NAME")
	default:
		t := table{firm: 5, head: []string{"GROUP", "KIND", "YOUR ROLE", "MEMBERS", "WRITES", "CREATED", "DESCRIPTION"}}
		for _, g := range v.Groups {
			writes := cell{}
			if g.Emcon {
				writes = cell{"blocked", yellow}
			}
			t.add(cell{clean(g.ID), bold}, cell{text: clean(g.Kind)}, cell{text: clean(g.Role)},
				cell{text: fmt.Sprint(g.Size)}, writes,
				cell{text: clock(g.CreatedAt)}, cell{text: clean(g.Description)})
		}
		a.print(t)
	}
}

func showGroup(a *app, g memory.GroupInfo) {
	f := fields{}
	f.styled("group", clean(g.ID), bold)
	f.add("kind", clean(g.Kind))
	f.add("description", clean(g.Description))
	f.add("owner", a.who(g.Owner))
	f.add("your role", clean(g.Role))
	f.add("culture", clean(strings.ReplaceAll(inWords(rawOf(g.Culture)), "_", " ")))
	if g.Emcon {
		f.styled("writes", "blocked", yellow)
	}
	f.add("created", clock(g.CreatedAt))
	a.list(f)
	if len(g.Members)+len(g.Invited) == 0 {
		return
	}
	a.say("")
	t := table{firm: 3, head: []string{"MEMBER", "ID", "ROLE", "JOINED"}}
	for _, m := range g.Members {
		t.add(cell{text: clean(m.Name)}, cell{short(m.ID), dim}, cell{text: clean(m.Role)},
			cell{text: clock(m.JoinedAt)})
	}
	for _, m := range g.Invited {
		t.add(cell{text: clean(m.Name)}, cell{short(m.ID), dim}, cell{text: clean(m.Role) + ", invited"},
			cell{text: clock(m.JoinedAt)})
	}
	a.print(t)
}
