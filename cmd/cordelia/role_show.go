package main

import (
	"cmp"
	"fmt"
	"strings"

	"cordelia/ops"
	"cordelia/roles"
	"cordelia/schemas"
)

func showRoles(a *app, v ops.RoleListOut) {
	if len(v.Roles) == 0 {
		a.say("no roles")
		a.note("make some: cordelia role apply FILE")
		return
	}
	t := table{firm: 1, head: []string{"ROLE", "STATE", "DOMAINS", "REPORTS TO", "PARENT", "OPEN", "TODAY", "WAITS",
		"WORKSPACE"}}
	for _, e := range v.Roles {
		t.add(texts(clean(e.Role), string(e.State), clean(strings.Join(e.Domains, " ")), clean(e.ReportsTo),
			clean(e.Parent), count(e.Open), count(e.Today), count(e.Waiting), clean(e.Workspace))...)
	}
	a.print(t)
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func showRole(a *app, v ops.RoleListOut) {
	r := *v.Role
	f := fields{}
	f.add("role", clean(r.Role))
	f.add("state", string(r.State))
	f.add("workspace", clean(r.Workspace))
	f.add("soul", clean(r.Soul))
	f.add("domains", clean(strings.Join(r.Domains, ", ")))
	f.add("reports to", clean(r.ReportsTo))
	f.add("parent", clean(r.Parent))
	f.add("template", clean(r.Template))
	f.add("operators", clean(strings.Join(r.Operators, ", ")))
	f.add("autonomous", clean(strings.Join(r.Authority.Autonomous, ", ")))
	f.add("needs approval", clean(strings.Join(r.Authority.NeedsApproval, ", ")))
	f.add("forbidden", clean(strings.Join(r.Authority.Forbidden, ", ")))
	f.add("wakes", string(r.Wake))
	f.add("budget a day", budgetText(r.Budget))
	f.add("ends after", clean(r.TTL))
	f.add("memory at its end", string(r.MemoryPolicy))
	f.add("agent", short(string(r.Agent)))
	f.add("open", fmt.Sprintf("%d, today %d, waiting %d", r.Open, r.Today, r.Waiting))
	for _, g := range r.Goals {
		f.add("goal", clean(g.Description)+" ("+string(cmp.Or(g.Status, schemas.GoalActive))+")")
		for i, k := range g.KeyResults {
			f.add("", fmt.Sprintf("%s: %g of %g %s, %.0f %%", clean(k.Description), k.Current, k.Target, clean(k.Unit),
				100*g.Progress[i]))
		}
	}
	for _, t := range r.Trust {
		f.add("trust", fmt.Sprintf("%s %d/100: %s", clean(t.Action), t.Hundredths, t.Watch))
	}
	for _, rec := range r.Recommendations {
		f.add("recommended", fmt.Sprintf("spawn %s: %s", clean(rec.Template), clean(rec.Reason)))
	}
	a.list(f)
	if len(r.Last) > 0 {
		a.say("")
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

func showTaken(a *app, v ops.RoleEventOut) {
	t := table{firm: 1, head: []string{"ROLE", "DECIDES", "REASON", "LEADS TO"}}
	for _, d := range v.Decisions {
		leads := ""
		switch {
		case d.WorkID != "":
			leads = "work " + short(d.WorkID)
		case d.TaskID != "":
			leads = "task " + short(d.TaskID)
		case d.AskID != "":
			leads = short(d.AskID) + " in review list"
		case d.Target != "":
			leads = "to " + d.Target
		}
		if d.Sandbox {
			leads = "nothing: it is in testing"
		}
		t.add(texts(clean(cmp.Or(d.Role, "none")), string(d.Action), clean(d.Reason), clean(leads))...)
	}
	a.print(t)
	switch {
	case v.Repeated:
		a.note("this delivery came before; nothing was done now")
	case v.DryRun:
		a.note("nothing was done; run it again without --dry-run")
	}
}

func showDecisions(a *app, list []roles.Decision) {
	for _, d := range list {
		a.say("%s: %s", clean(cmp.Or(d.Role, "no role")), d.Action)
		t := table{head: []string{"STEP", "SAYS"}, firm: 1}
		for _, s := range d.Steps {
			t.add(texts(s.Step, clean(s.Says))...)
		}
		a.print(t)
		if d.Target != "" {
			a.say("to %s", clean(d.Target))
		}
	}
	a.note("nothing was done")
}

func showTested(a *app, list []roles.Past) {
	if len(list) == 0 {
		a.say("no decisions")
		return
	}
	t := table{firm: 1, head: []string{"WHEN", "EVENT", "DECIDED", "REASON", "WOULD"}}
	for _, p := range list {
		t.add(texts(clock(p.At), clean(p.Event), string(p.Action), clean(p.Reason), clean(p.Would))...)
	}
	a.print(t)
}

func showSpawned(a *app, v ops.RoleSpawnOut) {
	if v.AskID != "" {
		a.say("%s waits for the owner's approval: %s", clean(v.Role), short(v.AskID))
	} else {
		a.say("%s is made, with %s", clean(v.Role), schemas.Count(v.Inherited, "insight inherited", "insights inherited"))
	}
	for _, c := range v.Clamped {
		a.say("clamped: %s", clean(c))
	}
	if v.AskID == "" {
		a.note("run it as its own process: cordelia mcp --as %s", clean(v.Role))
	}
}

func showMessages(a *app, v ops.RoleMessageOut) {
	if len(v.Messages) == 0 {
		a.say("no messages")
		return
	}
	t := table{firm: 1, head: []string{"ID", "KIND", "FROM", "TO", "UNTIL", "SAYS"}}
	for _, m := range v.Messages {
		kind := string(m.Kind)
		if m.Late {
			kind += ", late"
		}
		t.add(texts(short(m.ID), kind, clean(m.From), clean(m.To), clock(m.Deadline), clean(m.Content))...)
	}
	a.print(t)
}

func showDrafts(a *app, v ops.RoleDraftOut) {
	if len(v.Drafts) == 0 {
		a.say("no drafts")
		return
	}
	t := table{firm: 1, head: []string{"ASK", "TEMPLATE", "BY", "STATUS", "INTENT"}}
	for _, d := range v.Drafts {
		t.add(texts(short(d.AskID), clean(d.TemplateID), clean(d.Proposed), string(d.State), clean(d.Intent))...)
	}
	a.print(t)
	a.note("to decide: cordelia review show ID, then cordelia role approve ID HASH")
}
