package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/memory"
	"cordelia/ops"
)

func memoryGroupCommand(a *cli.App) *cobra.Command {
	action := func(name, words, short, example string, takes []string, hide ...string) *cobra.Command {
		return cli.Command{
			Op: "memory_group", Use: strings.TrimSpace(name + " " + words), Short: short, Takes: takes, Hide: hide,
			Fixed: map[string]any{"action": name}, Example: "cordelia memory group " + example,
			Show:   cli.Shown(showGroups),
			Learns: true,
		}.Command(a)
	}
	return cli.Group("group", "Groups that share memory",
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

func showGroups(a *cli.App, v ops.MemoryGroupOut) {
	if len(v.Note) > 0 && v.Group == nil && len(v.Groups) == 0 && v.Member == "" && len(v.Invitations) == 0 {
		a.Say("%s", a.Advice(v.Note)) // all there is to say
		return
	}
	if len(v.Note) > 0 {
		defer a.Note("%s", a.Advice(v.Note))
	}
	switch {
	case v.Invitation != "":
		a.Say("invited: %s", a.Who(v.Member))
		a.Note("its parent or the user decides; until then it sees nothing of the group")
	case len(v.Invitations) > 0:
		t := cli.Table{Firm: 1, Head: []string{"ID", "BY", "INVITES"}}
		for _, i := range v.Invitations {
			t.Add(cli.Texts(cli.Short(i.ID), cli.Clean(i.Inviter), cli.Clean(i.Name))...)
		}
		a.Print(t)
		first := v.Invitations[0]
		a.Note("accept: cordelia review approve %s %s", cli.Short(first.ID), cli.Clean(first.Hash))
		a.Note("decline: cordelia review reject %s", cli.Short(first.ID))
	case v.Group != nil:
		showGroup(a, *v.Group)
	case v.Member != "":
		a.Say("done: %s", a.Who(v.Member))
	case len(v.Groups) == 0:
		a.Say("No groups. Make one: cordelia memory group create NAME")
	default:
		t := cli.Table{Firm: 5, Head: []string{"GROUP", "KIND", "YOUR ROLE", "MEMBERS", "WRITES", "CREATED",
			"DESCRIPTION"}}
		for _, g := range v.Groups {
			writes := cli.Cell{}
			if g.Emcon {
				writes = cli.Styled("blocked", cli.Yellow)
			}
			t.Add(cli.Styled(cli.Clean(g.ID), cli.Bold), cli.Text(cli.Clean(g.Kind)), cli.Text(cli.Clean(g.Role)),
				cli.Text(fmt.Sprint(g.Size)), writes,
				cli.Text(cli.Clock(g.CreatedAt)), cli.Text(cli.Clean(g.Description)))
		}
		a.Print(t)
	}
}

// cultureOf words what a group asks of its members.
func cultureOf(c memory.Culture) string {
	ends := "items do not expire"
	if c.TTL > 0 {
		ends = "items expire after " + (time.Duration(c.TTL) * time.Second).String()
	}
	return fmt.Sprintf("broadcast eagerness %s, notification policy %s, departure policy %s, %s", c.Broadcast,
		c.Notification, c.Departure, ends)
}

func showGroup(a *cli.App, g memory.GroupInfo) {
	f := cli.Fields{}
	f.Styled("group", cli.Clean(g.ID), cli.Bold)
	f.Add("kind", cli.Clean(g.Kind))
	f.Add("description", cli.Clean(g.Description))
	f.Add("owner", a.Who(g.Owner))
	f.Add("your role", cli.Clean(g.Role))
	f.Add("culture", cli.Clean(cultureOf(g.Culture)))
	if g.Emcon {
		f.Styled("writes", "blocked", cli.Yellow)
	}
	f.Add("created", cli.Clock(g.CreatedAt))
	a.List(f)
	if len(g.Members)+len(g.Invited) == 0 {
		return
	}
	a.Say("")
	t := cli.Table{Firm: 3, Head: []string{"MEMBER", "ID", "ROLE", "JOINED"}}
	for _, m := range g.Members {
		t.Add(cli.Text(cli.Clean(m.Name)), cli.Styled(cli.Short(m.ID), cli.Dim), cli.Text(cli.Clean(m.Role)),
			cli.Text(cli.Clock(m.JoinedAt)))
	}
	for _, m := range g.Invited {
		t.Add(cli.Text(cli.Clean(m.Name)), cli.Styled(cli.Short(m.ID), cli.Dim),
			cli.Text(cli.Clean(m.Role)+", invited"),
			cli.Text(cli.Clock(m.JoinedAt)))
	}
	a.Print(t)
}
