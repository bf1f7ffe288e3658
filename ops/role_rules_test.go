package ops_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/agents"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/ops/opstest"
	"cordelia/roles"
	"cordelia/schemas"
)

// tables counts, for every table, the rows, or those that hold a text anywhere.
func (f *firm) tables(holding string) map[string]int {
	f.T.Helper()
	found := map[string]int{}
	require.NoError(f.T, f.Node.Store.Read(f.T.Context(), func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
			WHERE t.type = 'table'`)
		if err != nil {
			return err
		}
		where := map[string]string{}
		for rows.Next() {
			var table, column string
			if err := rows.Scan(&table, &column); err != nil {
				return err
			}
			where[table] += ` OR instr(CAST("` + column + `" AS TEXT), ?1) > 0`
		}
		for table, any := range where {
			var n int
			if err := tx.QueryRow(`SELECT count(*) FROM "`+table+`" WHERE 0`+any, holding).Scan(&n); err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
			if n > 0 {
				found[table] = n
			}
		}
		return rows.Err()
	}))
	return found
}

// What is explained, or tried with a dry run, is decided as it would be and leaves no row anywhere.
func TestExplainWritesNothing(t *testing.T) {
	f := newFirm(t, company)
	f.send(f.person, lead(0, "EMEA"))
	before := f.tables("")
	for _, c := range []struct {
		event  string
		all    bool
		action roles.Action
		step   string
	}{
		{`{"type": "lead.created", "domain": "revenue", "payload": {"name": "Acme"}}`, false, roles.Delegate, "trust"},
		{`{"type": "pricing.change_asked", "domain": "revenue"}`, false, roles.Escalate, "trust"},
		{`{"type": "contract.ready", "domain": "deals"}`, true, roles.Forward, "domain"}, // of cmo, the first by its id
		{`{"type": "a.b", "domain": "nowhere"}`, false, roles.Ignore, "route"},
		{`{"type": "directive.spawn", "role": "cro"}`, false, roles.Delegate, "trust"},
	} {
		list, err := f.Node.ExplainEvent(t.Context(), f.person, "", "", []byte(c.event), c.all)
		require.NoError(t, err, c.event)
		require.Equal(t, []any{c.action, c.step}, []any{list[0].Action, list[0].Steps[len(list[0].Steps)-1].Step}, c.event)
	}
	out := f.Must(f.person, "role_event", opstest.With(lead(1, "EMEA"), map[string]any{"dry_run": true}))
	require.Equal(t, "delegate", out["decisions"].([]any)[0].(map[string]any)["action"])
	require.Equal(t, before, f.tables(""))
	require.Greater(t, len(before), 10)
	require.Equal(t, "delegate", f.send(f.person, lead(1, "EMEA"))["action"], "the id is not used up")
}

// What is exported is what was applied, each key of it, with the templates that the owner approved
// and without the roles that were spawned.
func TestAnExportIsWhatWasApplied(t *testing.T) {
	f := newFirm(t, everything)
	want, err := roles.Parse([]byte(everything))
	require.NoError(t, err)
	f.Must(f.Caller("desk"), "role_spawn", map[string]any{"template": "kid", "params": map[string]any{"area": "docs"}})
	export := func() schemas.Workspace {
		file, err := f.Node.ExportWorkspace(t.Context(), f.person, "")
		require.NoError(t, err)
		got, err := roles.Parse(file)
		require.NoError(t, err, string(file))
		require.Empty(t, f.apply(string(file)).Changes)
		return got
	}
	require.Equal(t, want, export())
	f.Must(f.Caller("desk"), "role_draft", map[string]any{"name": "aide", "intent": "more", "template": map[string]any{
		"name_pattern": "Aide", "soul_template": "You aid."}})
	require.Equal(t, want, export(), "a draft is none of it yet")
	_, err = f.decide(f.person, f.waitingFor(f.person, "proposes the template aide"), "approve", "")
	require.NoError(t, err)
	require.Equal(t, []string{"desk"}, export().RoleTemplates["aide"].AllowedSpawners)
}

// A budget that cannot be read is not taken for one of which nothing is used.
func TestABudgetThatCannotBeRead(t *testing.T) {
	f := newFirm(t, strings.Replace(company, "    operator_ids: [revenue_ops, company_intel]\n",
		"    operator_ids: [revenue_ops]\n    budget: {money: 1}\n", 1))
	f.SQL(`ALTER TABLE seat_runs RENAME COLUMN cost TO price`)
	for _, dry := range []bool{false, true} {
		event := lead(0, "EMEA")
		event["dry_run"] = dry
		out, err := f.Call(f.Lead, "role_event", event)
		require.ErrorContains(t, err, "read what a role used", "%v", out)
	}
	f.SQL(`ALTER TABLE seat_runs RENAME COLUMN price TO cost`)
	require.Equal(t, "delegate", f.send(f.Lead, lead(0, "EMEA"))["action"])
}

// A budget is a day's: what is over it is escalated with the figure, no approval goes beyond it,
// and with the next day (UTC) there is a new one.
func TestABudgetIsADays(t *testing.T) {
	f := newFirm(t, strings.Replace(company, "    operator_ids: [revenue_ops, company_intel]\n",
		"    operator_ids: [revenue_ops]\n    budget: {tasks: 1}\n", 1))
	f.Clock.Set(time.Date(2026, 11, 23, 22, 0, 0, 0, time.UTC))
	price := map[string]any{"type": "pricing.change_asked", "domain": "revenue"}
	f.send(f.Lead, price)
	require.Equal(t, "delegate", f.send(f.Lead, lead(0, "EMEA"))["action"])
	require.Equal(t, []any{"escalate", "cro has used today's budget of 1 task"}, reasonOf(f.send(f.Lead, lead(1, "EMEA"))))
	asked := f.waitingFor(f.person, "cro asks to change_pricing")
	_, err := f.decide(f.person, asked, "approve", "")
	require.ErrorIs(t, err, schemas.ErrConflict)
	require.ErrorContains(t, err, "today's budget of 1 task")
	f.Clock.Move(3 * time.Hour)
	_, err = f.decide(f.person, asked, "approve", "")
	require.NoError(t, err)
	require.Equal(t, []any{"escalate", "cro has used today's budget of 1 task"}, reasonOf(f.send(f.Lead, lead(2, "EMEA"))),
		"what was approved counts")
	f.Clock.Move(24 * time.Hour)
	require.Equal(t, "delegate", f.send(f.Lead, lead(3, "EMEA"))["action"])
}

func reasonOf(d map[string]any) []any { return []any{d["action"], d["reason"]} }

// Of escalations of one type and one cause one waits; another cause is shown, too.
func TestEqualEscalationsWaitOnce(t *testing.T) {
	f := newFirm(t, strings.Replace(company, "    operator_ids: [revenue_ops, company_intel]\n",
		"    operator_ids: [revenue_ops]\n    budget: {tasks: 1}\n", 1))
	secret := func(n int) map[string]any {
		return opstest.With(lead(n, "EMEA"), map[string]any{"classification": "restricted"})
	}
	first := f.send(f.Lead, secret(0))
	require.Equal(t, first["ask_id"], f.send(f.Lead, secret(1))["ask_id"])
	require.Equal(t, "delegate", f.send(f.Lead, lead(2, "EMEA"))["action"])
	require.NotEqual(t, first["ask_id"], f.send(f.Lead, lead(3, "EMEA"))["ask_id"])
	f.waitingFor(f.person, "lead.created escalated: clearance")
	require.Contains(t, fmt.Sprint(f.waitingFor(f.person, "lead.created escalated: budget")["diff"]), "budget of 1 task")
}

// A role that lives for one task ends with it, however much it is trusted and whatever else bounds
// its life; one with a time ends with that.
func TestLivesAreBounded(t *testing.T) {
	once := strings.NewReplacer("    authority: {autonomous: [label, book]}\n",
		"    authority: {autonomous: [label, book]}\n    ttl: task\n    trust: {default: 0.9}\n").Replace(triage)
	f := newFirm(t, once)
	d := f.send(f.person, map[string]any{"type": "issue.opened", "domain": "issues"})
	require.Equal(t, "silent", d["watch"])
	f.does(f.Caller("triager"), "done")
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM roles WHERE role_id = 'triager' AND reason = 'task_complete'`))
	require.Equal(t, 0, f.Number(`SELECT count(*) FROM events WHERE type = 'role.reported'`), "it is trusted")

	f.apply(strings.NewReplacer("    reports_to: ann\n", "    reports_to: ann\n    ttl: 90d\n", "    parameters:",
		"    ttl: task\n    parameters:").Replace(company))
	out := f.Must(f.Caller("cro"), "role_spawn", map[string]any{"template": "bdr",
		"params": map[string]any{"territory": "APAC"}})
	require.Equal(t, "bdr-apac", out["role"])
	f.Clock.Move(89 * 24 * time.Hour)
	f.settle()
	require.Equal(t, "delegate", f.send(f.person, map[string]any{"type": "lead.created", "role": "bdr-apac"})["action"])
	f.does(f.Caller("bdr-apac"), "done")
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM roles WHERE role_id = 'bdr-apac' AND reason = 'task_complete'`))
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM roles WHERE role_id = 'cro' AND state = 'active'`))
	f.Clock.Move(2 * 24 * time.Hour)
	f.settle()
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM roles WHERE role_id = 'cro' AND reason = 'ttl_expiry'`))
}

// What a role knew goes with the end of the grace period if its policy says delete, what was
// archived at its end too, and nothing before; else it stays.
func TestMemoryGoesAsItsPolicySays(t *testing.T) {
	file := strings.Replace(company, "memory_policy: merge_to_parent", "memory_policy: delete", 1)
	f := newFirm(t, file, func(c *node.Config) { // its clock since the machine's start moves with the other
		c.Monotonic = func() agents.Monotonic { return agents.Monotonic{Boot: "b", Micros: c.Clock.Now().UnixMicro()} }
	})
	cro := f.Caller("cro")
	f.Must(cro, "role_spawn", map[string]any{"template": "bdr", "params": map[string]any{"territory": "APAC"}})
	of := map[string]ops.Caller{"bdr-apac": f.Caller("bdr-apac"), "cmo": f.Caller("cmo")}
	for id, c := range of {
		f.Must(c, "memory_write_hot", map[string]any{"operation": "patch",
			"data": map[string]any{"active": map[string]any{"focus": "Day of " + id}}})
		f.Must(c, "memory_write_warm", opstest.Note("Year of "+id))
	}
	for id := range of {
		_, err := f.Node.MoveRole(t.Context(), f.person, "", id, schemas.RoleTerminate, "over")
		require.NoError(t, err)
	}
	reap := func() {
		for range 3 {
			require.NoError(t, f.Node.Reap(t.Context()))
			f.Clock.Move(2 * time.Hour)
		}
	}
	knows := func(id string) bool {
		return f.tables("Day of " + id)["items"] > 0 && f.tables("Year of " + id)["items"] > 0
	}
	require.True(t, knows("bdr-apac"), "its context as it was archived, too")
	f.Clock.Move(6 * 24 * time.Hour)
	reap()
	require.True(t, knows("bdr-apac"), "the grace period is not over")
	f.Clock.Move(2 * 24 * time.Hour)
	reap()
	for id, c := range of {
		require.Equal(t, 1, f.Number(`SELECT count(*) FROM entities WHERE id = ? AND status = 'removed'`, c.Entity), id)
	}
	require.Empty(t, f.tables("Day of bdr-apac"))
	require.Empty(t, f.tables("Year of bdr-apac"))
	require.True(t, knows("cmo"), "archived is the default")
}

// With shared_read the roles of a workspace read what its owner keeps for it, and write nothing
// there.
func TestSharedReadMakesViewers(t *testing.T) {
	f := newFirm(t, strings.Replace(company, "  max_roles: 100\n", "  memory_isolation: shared_read\n", 1))
	cro := f.Caller("cro")
	note := opstest.With(opstest.Note("Common ground"), map[string]any{"group": "ws-vibe-team"})
	f.Must(f.person, "memory_write_warm", note)
	require.Len(t, f.Must(cro, "memory_search", map[string]any{"query": "common ground"})["results"], 1)
	_, err := f.Call(cro, "memory_write_warm", note)
	require.ErrorIs(t, err, schemas.ErrDenied)
	f.Must(cro, "role_spawn", map[string]any{"template": "bdr", "params": map[string]any{"territory": "APAC"}})
	require.Len(t, f.Must(f.Caller("bdr-apac"), "memory_search", map[string]any{"query": "common ground"})["results"], 1,
		"its child, too")
	f.apply(company)
	require.Empty(t, f.Must(cro, "memory_search", map[string]any{"query": "common ground"})["results"])
	f.apply(strings.Replace(company, "  max_roles: 100\n", "  memory_isolation: shared_read\n", 1))
	for _, role := range []string{"bdr-apac", "cro", "cmo"} {
		require.Len(t, f.Must(f.Caller(role), "memory_search", map[string]any{"query": "common ground"})["results"], 1, role)
	}
}

// What changes of a role leaves its schedules their time; a change of theirs begins them anew.
func TestSchedulesKeepTheirTime(t *testing.T) {
	f := newFirm(t, clockwork)
	next := func() int { return f.Number(`SELECT next_at FROM role_schedules`) }
	was := next()
	f.Clock.Move(50 * time.Minute)
	require.NotEmpty(t, f.apply(strings.Replace(clockwork, "budget: {tasks: 5}", "budget: {tasks: 6}", 1)).Changes)
	require.Equal(t, was, next())
	f.Clock.Move(11 * time.Minute)
	f.settle()
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM role_events WHERE type = 'report.due'`))
	f.apply(strings.Replace(clockwork, "every: 1h", "every: 2h", 1))
	require.Equal(t, int(f.Clock.Now().Add(2*time.Hour).UnixMicro()), next())
}

// A message may name the owner without knowing who that is.
func TestAMessageNamesTheOwner(t *testing.T) {
	f := newFirm(t, company)
	cro := f.Caller("cro")
	sent := f.Must(cro, "role_message", map[string]any{"to": "owner", "content": "May I travel?",
		"request": true})["messages"].([]any)[0].(map[string]any)
	require.Equal(t, "ann", sent["to"])
	require.Len(t, f.Must(f.person, "review_list", map[string]any{})["waiting"], 1)
	_, err := f.Call(cro, "role_message", map[string]any{"to": "user", "content": "Hi"})
	require.ErrorContains(t, err, `or "owner"`)
}

// A person's answer after the deadline is kept, and marked late, though what waited for it in the
// review queue was refused by then.
func TestALateAnswerOfAPersonIsKept(t *testing.T) {
	f := newFirm(t, company)
	cro := f.Caller("cro")
	sent := f.Must(cro, "role_message", map[string]any{"to": "ann", "content": "May I travel?", "request": true,
		"within_seconds": 3600})["messages"].([]any)[0].(map[string]any)
	f.Clock.Move(2 * time.Hour)
	f.settle()
	require.Empty(t, f.Must(f.person, "review_list", map[string]any{})["waiting"])
	f.Must(f.person, "role_message", map[string]any{"answers": sent["id"], "content": "Yes, by train."})
	got := f.Must(cro, "role_message", map[string]any{"about": sent["id"]})["messages"].([]any)
	require.Len(t, got, 2)
	answer := got[0].(map[string]any)
	require.Equal(t, []any{"Yes, by train.", "ann", true}, []any{answer["content"], answer["from"], answer["late"]})
}

// A command that runs alone shows what became of work, though no routine of a node runs beside it;
// of several workspaces drafts and messages are listed together, and where one is needed they are
// named.
func TestCommandsNeedNoServer(t *testing.T) {
	f := newFirm(t, company)
	f.send(f.person, lead(0, "EMEA"))
	cro := f.Caller("cro")
	w := f.Must(cro, "task_claim", map[string]any{})["work"].(map[string]any)
	f.Must(cro, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "failed"})
	shown := f.Must(f.person, "role_list", map[string]any{"role": "cro"})["role"].(map[string]any)
	require.Equal(t, 0.0, shown["open"])
	require.Contains(t, fmt.Sprint(shown["trust"]), "hundredths:15")

	f.apply(triage)
	f.Must(cro, "role_draft", map[string]any{"name": "upsell", "intent": "more", "template": map[string]any{
		"name_pattern": "Upsell", "soul_template": "You sell more."}})
	require.Len(t, f.Must(f.person, "role_draft", map[string]any{})["drafts"], 1)
	for _, to := range []string{"cro", "triager"} {
		f.Must(f.person, "role_message", map[string]any{"to": to, "content": "Good morning"})
	}
	require.Len(t, f.Must(f.person, "role_message", map[string]any{})["messages"], 2)
	_, err := f.Node.ExportWorkspace(t.Context(), f.person, "")
	require.ErrorContains(t, err, "you have 2 workspaces; /workspace: must be one of triage, vibe-team")
}

// A draft is an agent that is registered and gets no event; its states, and its agent's, follow the
// table until it ends.
func TestStatesOfARoleAndItsAgent_INV_ROLE_EDGE(t *testing.T) {
	f := newFirm(t, strings.Replace(company, "    reports_to: ann\n", "    reports_to: ann\n    status: draft\n", 1))
	states := func(role, agent string) {
		t.Helper()
		require.Equal(t, 1, f.Number(`SELECT count(*) FROM roles r JOIN entities e ON e.id = r.agent
			WHERE r.role_id = 'cro' AND r.state = ? AND e.status = ?`, role, agent), role)
	}
	move := func(on schemas.Trigger) {
		t.Helper()
		_, err := f.Node.MoveRole(t.Context(), f.person, "", "cro", on, "")
		require.NoError(t, err, on)
	}
	states("draft", "registered")
	require.Equal(t, []any{"ignore", "cro is draft; a person lets it act: cordelia role activate cro"},
		reasonOf(f.send(f.Lead, map[string]any{"type": "lead.created", "role": "cro"})))
	_, err := f.Node.MoveRole(t.Context(), f.person, "", "cro", schemas.Resume, "")
	require.ErrorIs(t, err, schemas.ErrConflict)
	move(schemas.RoleTry)
	states("testing", "active")
	move(schemas.Activate)
	states("active", "active")
	f.Must(f.Caller("cro"), "memory_write_warm", opstest.Note("Known before"))
	move(schemas.Suspend)
	states("suspended", "suspended")
	move(schemas.Resume)
	states("active", "active")
	require.Len(t, f.Must(f.Caller("cro"), "memory_search", map[string]any{"query": "known before"})["results"], 1)
	move(schemas.RoleTerminate)
	states("terminated", "deactivated")
	require.Equal(t, "ignore", f.send(f.Lead, map[string]any{"type": "lead.created", "domain": "revenue"})["action"])
}

// What comes from outside is a person's to approve: a role that is asked may refuse it, and no more.
func TestWhatIsFromOutsideAPersonApproves_INV_ROLE_ASK(t *testing.T) {
	f := newFirm(t, strings.NewReplacer("    soul: You triage.\n", "    soul: You triage.\n    reports_to: colleague\n",
		"{autonomous: [label, book]}", "{needs_approval: [label, book]}").Replace(triage))
	colleague := f.Caller("colleague")
	for i := range 2 {
		_, _, err := f.hook("github", issue(i, "x"), map[string]string{"X-GitHub-Event": "issues",
			"X-GitHub-Delivery": fmt.Sprint(i)}, f.secret("github"))
		require.NoError(t, err)
	}
	list := f.Must(colleague, "review_list", map[string]any{})["waiting"].([]any)
	require.Len(t, list, 2)
	first, second := list[0].(map[string]any), list[1].(map[string]any)
	_, err := f.decide(colleague, first, "approve", "")
	require.ErrorIs(t, err, schemas.ErrPerson)
	require.Equal(t, 0, f.Number(`SELECT count(*) FROM work_items`))
	_, err = f.decide(colleague, second, "reject", "no")
	require.NoError(t, err)
	_, err = f.decide(f.person, first, "approve", "")
	require.NoError(t, err)
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM work_items`))
}
