package main

import (
	"cmp"
	"fmt"
	"strings"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/roles"
	"cordelia/schemas"
)

func showRoles(a *cli.App, v ops.RoleListOut) {
	if len(v.Roles) == 0 {
		a.Say("no roles")
		a.Note("make some: cordelia role apply FILE")
		return
	}
	t := cli.Table{Firm: 1, Head: []string{"ROLE", "STATE", "DOMAINS", "REPORTS TO", "PARENT", "OPEN", "TODAY", "WAITS",
		"WORKSPACE"}}
	for _, e := range v.Roles {
		t.Add(cli.Texts(cli.Clean(e.Role), string(e.State), cli.Clean(strings.Join(e.Domains, " ")),
			cli.Clean(e.ReportsTo),
			cli.Clean(e.Parent), count(e.Open), count(e.Today), count(e.Waiting), cli.Clean(e.Workspace))...)
	}
	a.Print(t)
	for _, e := range v.Roles {
		if e.State == schemas.RoleSuspended {
			a.Note("%s", stateOf(a, e))
		}
	}
}

// stateOf says why a role is suspended, and what lets it act.
func stateOf(a *cli.App, e roles.Entry) string {
	text := cli.Clean(e.Role) + " is " + string(e.State)
	if e.Why != "" {
		text += ": " + cli.Clean(e.Why)
	}
	if e.Back != "" {
		text += "; to let it act: " + a.Here(cli.Clean(e.Back))
	}
	return text
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func showRole(a *cli.App, v ops.RoleListOut) {
	r := *v.Role
	f := cli.Fields{}
	f.Add("role", cli.Clean(r.Role))
	f.Add("state", string(r.State))
	f.Add("why", cli.Clean(r.Why))
	f.Add("to let it act", a.Here(cli.Clean(r.Back)))
	f.Add("workspace", cli.Clean(r.Workspace))
	f.Add("soul", cli.Clean(r.Soul))
	f.Add("domains", cli.Clean(strings.Join(r.Domains, ", ")))
	f.Add("reports to", cli.Clean(r.ReportsTo))
	f.Add("parent", cli.Clean(r.Parent))
	f.Add("template", cli.Clean(r.Template))
	f.Add("operators", cli.Clean(strings.Join(r.Operators, ", ")))
	f.Add("autonomous", cli.Clean(strings.Join(r.Authority.Autonomous, ", ")))
	f.Add("needs approval", cli.Clean(strings.Join(r.Authority.NeedsApproval, ", ")))
	f.Add("forbidden", cli.Clean(strings.Join(r.Authority.Forbidden, ", ")))
	f.Add("wakes", string(r.Wake))
	f.Add("budget a day", budgetText(r.Budget))
	f.Add("ends after", cli.Clean(r.TTL))
	f.Add("memory at its end", string(r.MemoryPolicy))
	f.Add("agent", cli.Short(string(r.Agent)))
	f.Add("open", fmt.Sprintf("%d, today %d, waiting %d", r.Open, r.Today, r.Waiting))
	for _, g := range r.Goals {
		f.Add("goal", cli.Clean(g.Description)+" ("+string(cmp.Or(g.Status, schemas.GoalActive))+")")
		for _, k := range g.KeyResults {
			f.Add("", cli.Clean(k.String()))
		}
	}
	for _, t := range r.Trust {
		f.Add("trust", fmt.Sprintf("%s %d/100: %s", cli.Clean(t.Action), t.Hundredths, t.Watch))
	}
	for _, rec := range r.Recommendations {
		f.Add("recommended", fmt.Sprintf("spawn %s: %s", cli.Clean(rec.Template), cli.Clean(rec.Reason)))
	}
	a.List(f)
	if len(r.Last) > 0 {
		a.Say("")
		showTested(a, r.Last)
	}
}

func budgetText(b schemas.RoleBudget) string {
	var parts []string
	if b.Tasks > 0 {
		parts = append(parts, schemas.Count(b.Tasks, "task", "tasks"))
	}
	if b.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", b.Tokens))
	}
	if b.Money > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", b.Money))
	}
	return strings.Join(parts, ", ")
}

func showTaken(a *cli.App, v ops.RoleEventOut) {
	t := cli.Table{Firm: 1, Head: []string{"ROLE", "DECIDES", "REASON", "LEADS TO"}}
	for _, d := range v.Decisions {
		leads := ""
		switch {
		case d.WorkID != "":
			leads = "work " + cli.Short(d.WorkID)
		case d.TaskID != "":
			leads = "task " + cli.Short(d.TaskID)
		case d.AskID != "":
			leads = cli.Short(d.AskID) + " in review list"
		case d.Target != "":
			leads = "to " + d.Target
		}
		if d.Sandbox {
			leads = "nothing: it is in testing"
		}
		t.Add(cli.Texts(cli.Clean(cmp.Or(d.Role, "none")), d.Word(), cli.Clean(d.Reason), cli.Clean(leads))...)
	}
	a.Print(t)
	switch {
	case v.Repeated:
		a.Note("this delivery came before; nothing was done now")
	case v.DryRun:
		a.Note("nothing was done; run it again without --dry-run")
	}
}

func showDecisions(a *cli.App, list []roles.Decision) {
	for _, d := range list {
		a.Say("%s: %s", cli.Clean(cmp.Or(d.Role, "no role")), d.Word())
		t := cli.Table{Head: []string{"STEP", "SAYS"}, Firm: 1}
		for _, s := range d.Steps {
			t.Add(cli.Texts(s.Step, cli.Clean(s.Says))...)
		}
		a.Print(t)
		if d.Target != "" {
			a.Say("to %s", cli.Clean(d.Target))
		}
	}
	a.Note("nothing was done")
}

func showTested(a *cli.App, list []roles.Past) {
	if len(list) == 0 {
		a.Say("no decisions")
		return
	}
	t := cli.Table{Firm: 1, Head: []string{"WHEN", "EVENT", "DECIDED", "REASON", "WOULD"}}
	for _, p := range list {
		t.Add(cli.Texts(cli.Clock(p.At), cli.Clean(p.Event), p.Word(), cli.Clean(p.Reason),
			cli.Clean(p.Would))...)
	}
	a.Print(t)
}

func showSpawned(a *cli.App, v ops.RoleSpawnOut) {
	if v.AskID != "" {
		a.Say("%s waits for the owner's approval: %s", cli.Clean(v.Role), cli.Short(v.AskID))
	} else {
		a.Say("%s is made, with %s", cli.Clean(v.Role),
			schemas.Count(v.Inherited, "insight inherited", "insights inherited"))
	}
	for _, c := range v.Clamped {
		a.Say("clamped: %s", cli.Clean(c))
	}
	if v.AskID == "" {
		a.Note("%s", a.Advice(v.Next))
	}
}

func showMessages(a *cli.App, v ops.RoleMessageOut) {
	if len(v.Messages) == 0 {
		a.Say("no messages")
		return
	}
	t := cli.Table{Firm: 1, Head: []string{"ID", "KIND", "FROM", "TO", "UNTIL", "SAYS"}}
	for _, m := range v.Messages {
		kind := string(m.Kind)
		if m.Late {
			kind += ", late"
		}
		t.Add(cli.Texts(cli.Short(m.ID), kind, cli.Clean(m.From), cli.Clean(m.To), cli.Clock(m.Deadline),
			cli.Clean(m.Content))...)
	}
	a.Print(t)
}

func showDrafts(a *cli.App, v ops.RoleDraftOut) {
	if len(v.Drafts) == 0 {
		a.Say("no drafts")
		return
	}
	t := cli.Table{Firm: 1, Head: []string{"ASK", "TEMPLATE", "BY", "STATUS", "INTENT"}}
	for _, d := range v.Drafts {
		t.Add(cli.Texts(cli.Short(d.AskID), cli.Clean(d.TemplateID), cli.Clean(d.Proposed), string(d.State),
			cli.Clean(d.Intent))...)
	}
	a.Print(t)
	a.Note("to decide: cordelia review show ID, then cordelia role approve ID HASH")
}
