package ops_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/ops"
	"cordelia/ops/opstest"
	"cordelia/schemas"
)

// does claims the next work of a caller, looks at it, and reports a result.
func (f *firm) does(c ops.Caller, result any) map[string]any {
	f.T.Helper()
	w, ok := f.Must(c, "task_claim", map[string]any{})["work"].(map[string]any)
	require.True(f.T, ok, "there is no work")
	f.Must(c, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
		"result": result})
	f.settle()
	return w
}

func (f *firm) direct(what string, payload map[string]any) map[string]any {
	f.T.Helper()
	return f.send(f.person, map[string]any{"type": "directive." + what, "role": "cro", "payload": payload})
}

// A role answers as what it is, draws insights from what it did, and designs a template; what
// code cannot take leads to nothing.
func TestSeatsOfJudgement(t *testing.T) {
	f := newFirm(t, company)
	cro := f.Caller("cro")
	require.Equal(t, "escalate", f.send(f.Lead, map[string]any{"type": "directive.respond", "role": "cro"})["action"])

	f.direct("respond", map[string]any{"message": "What blocks the pipeline?"})
	w := f.does(cro, map[string]any{"answer": "Legal."})
	brief := fmt.Sprint(w["brief"])
	for _, part := range []string{"you are the role cro", "Grow Q1 pipeline", "memory_search (recall)",
		"you must not: sign_contracts, modify_own_authority", "What blocks the pipeline?"} {
		require.Contains(t, brief, part)
	}
	list := f.Must(f.person, "role_message", map[string]any{})["messages"].([]any)
	require.Equal(t, "Legal.", list[0].(map[string]any)["content"])

	f.send(f.Lead, lead(0, "APAC"))
	f.does(cro, map[string]any{"qualified": true})
	f.direct("reflect", nil)
	w = f.does(cro, map[string]any{"insights": []any{map[string]any{"content": "APAC leads qualify after a demo",
		"tags": []any{"apac"}, "confidence": 0.8}}})
	require.Contains(t, fmt.Sprint(w["brief"]), "qualify_lead", "it is shown its episodes")
	found := f.Must(cro, "memory_search", map[string]any{"query": "qualify after a demo"})["results"].([]any)
	require.Len(t, found, 1)

	design := map[string]any{"template_id": "renewals", "reasoning": "They lapse.", "template": map[string]any{
		"name_pattern": "Renewals {region}", "soul_template": "You renew in {region}.", "domains": []any{"revenue", "legal"},
		"parameters": []any{
			"region",
		}, "authority": map[string]any{"autonomous": []any{"qualify_lead", "sign_contracts"}},
		"allowed_spawners": []any{"cmo"}}}
	f.direct("design_role", map[string]any{"intent": "Somebody for renewals"})
	f.does(cro, design)
	entry := f.waitingFor(f.person, "proposes the template renewals")
	require.Contains(t, fmt.Sprint(entry["diff"]), "sign_contracts is autonomous there and forbidden for the parent")
	_, err := f.Call(
		cro,
		"role_spawn",
		map[string]any{"template": "renewals", "params": map[string]any{"region": "EU"}},
	)
	require.ErrorIs(t, err, schemas.ErrNotFound, "a draft is no template")
	_, err = f.decide(f.person, entry, "approve", "")
	require.NoError(t, err)
	out := f.Must(cro, "role_spawn", map[string]any{"template": "renewals", "params": map[string]any{"region": "EU"}})
	require.Equal(t, "renewals-eu", out["role"], "its spawner is who proposed it, whoever the model names")
	shown := f.Must(cro, "role_list", map[string]any{"role": "renewals-eu"})["role"].(map[string]any)
	require.Equal(t, []any{"revenue"}, shown["domains"])
	require.Contains(t, shown["authority"].(map[string]any)["forbidden"], "sign_contracts")

	f.direct("design_role", map[string]any{"intent": "Another"})
	design["template"].(map[string]any)["soul_template"] = "You are {nobody}."
	design["template_id"] = "bad"
	f.does(cro, design)
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM role_drafts`))
	require.Equal(
		t,
		1,
		f.Number(`SELECT count(*) FROM role_episodes WHERE action = 'design_role' AND outcome = 'failed'`),
	)

	// by its own tool, too
	f.Must(cro, "role_draft", map[string]any{"name": "upsell", "intent": "more", "template": map[string]any{
		"name_pattern": "Upsell", "soul_template": "You sell more."}})
	require.Len(t, f.Must(cro, "role_draft", map[string]any{})["drafts"], 2)
	_, err = f.Call(f.Lead, "role_draft", map[string]any{"name": "x", "template": map[string]any{"name_pattern": "x",
		"soul_template": "y"}})
	require.ErrorIs(t, err, schemas.ErrDenied)
}

func (f *firm) waitingFor(c ops.Caller, name string) map[string]any {
	f.T.Helper()
	for _, e := range f.Must(c, "review_list", map[string]any{})["waiting"].([]any) {
		if strings.Contains(fmt.Sprint(e.(map[string]any)["name"]), name) {
			return e.(map[string]any)
		}
	}
	f.T.Fatalf("nothing waits named %s", name)
	return nil
}

// Messages are told and answered; a request to the owner waits in the queue, an answer after
// the deadline is late, and nobody reads others'.
func TestMessagesBetweenRoles(t *testing.T) {
	f := newFirm(t, company)
	cro, cmo := f.Caller("cro"), f.Caller("cmo")
	sent := f.Must(cro, "role_message", map[string]any{"to": "cmo", "content": "Which campaign runs?", "request": true,
		"within_seconds": 3600})["messages"].([]any)[0].(map[string]any)
	require.Contains(t, fmt.Sprint(f.Must(cmo, "events_poll", map[string]any{})["events"]), "role.message")
	got := f.Must(cmo, "role_message", map[string]any{})["messages"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"Which campaign runs?", "request", "cro"}, []any{got["content"], got["type"], got["from"]})
	first := f.Must(cmo, "role_message", map[string]any{"answers": sent["id"], "content": "Spring"})["messages"].([]any)
	require.Nil(t, first[0].(map[string]any)["late"])
	require.Equal(t, sent["id"], first[0].(map[string]any)["correlation_id"])
	f.Clock.Move(2 * time.Hour)
	late := f.Must(cmo, "role_message", map[string]any{"answers": sent["id"], "content": "Summer"})["messages"].([]any)
	require.Equal(t, true, late[0].(map[string]any)["late"])
	require.Len(t, f.Must(cro, "role_message", map[string]any{"about": sent["id"]})["messages"], 3)
	_, err := f.Call(f.Lead, "role_message", map[string]any{"answers": sent["id"], "content": "me"})
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.Empty(t, f.Must(f.Lead, "role_message", map[string]any{})["messages"])

	f.Must(cro, "role_message", map[string]any{"to": "ann", "content": "May I travel?", "request": true})
	entry := f.waitingFor(f.person, "cro asks you")
	_, err = f.decide(f.person, entry, "approve", "Yes, by train.")
	require.NoError(t, err)
	answer := f.Must(cro, "role_message", map[string]any{})["messages"].([]any)[0].(map[string]any)
	require.Equal(
		t,
		[]any{"Yes, by train.", "response", "ann"},
		[]any{answer["content"], answer["type"], answer["from"]},
	)
}

const clockwork = `
workspace: clockwork
owner: ann
node_events: [role.reported]
operators:
  desk:
    triggers: {report: report.due, mend: role.reported}
    does: {intent: "{action} {payload.kind}"}
roles:
  - role_id: desk
    soul: You keep the desk.
    domains: [office, node]
    operator_ids: [desk]
    authority: {autonomous: [report, mend]}
    budget: {tasks: 5}
    every:
      - {every: 1h, type: report.due, payload: {kind: hourly}}
`

// A schedule comes each time once, what was missed once; the node's own events come, too; a
// budget stops and is shown.
func TestSchedulesAndTheNodesEvents(t *testing.T) {
	f := newFirm(t, clockwork, func(c *node.Config) { // a budget lasts until midnight: the nine hours lie in one day
		const day = 24 * time.Hour
		c.Clock.(*opstest.Clock).Set(c.Clock.Now().UTC().Truncate(day).Add(day))
	})
	desk := f.Caller("desk")
	f.settle()
	require.Equal(t, 0, f.Number(`SELECT count(*) FROM role_events`))
	f.Clock.Move(61 * time.Minute)
	f.settle()
	f.settle()
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM role_events WHERE type = 'report.due'`))
	f.Clock.Move(5 * time.Hour)
	f.settle()
	require.Equal(t, 2, f.Number(`SELECT count(*) FROM role_events WHERE type = 'report.due'`), "missed ones come once")
	require.Equal(t, `report "hourly"`, f.does(desk, "done")["intent"])

	f.does(desk, "done")
	f.settle()
	f.settle()
	require.Equal(t, 2, f.Number(`SELECT count(*) FROM role_events WHERE type = 'role.reported' AND depth = 1`),
		"the node's events come once, and what tells of its own work lies one deeper")
	for range 3 {
		f.Clock.Move(time.Hour)
		f.settle()
	}
	entry := f.waitingFor(f.person, "report.due escalated")
	require.Contains(t, fmt.Sprint(entry["diff"]), "desk has used today's budget of 5 tasks")
}

// A role ends with its time, with its first task, or with its parent.
func TestRolesEnd(t *testing.T) {
	file := strings.Replace(company, "memory_policy: merge_to_parent", "ttl: 2d", 1)
	f := newFirm(t, file)
	cro := f.Caller("cro")
	f.Must(cro, "role_spawn", map[string]any{"template": "bdr", "params": map[string]any{"territory": "APAC"}})
	f.Clock.Move(49 * time.Hour)
	f.settle()
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM roles WHERE role_id = 'bdr-apac' AND state = 'terminated'`))
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM entities WHERE name = 'bdr-apac' AND status = 'deactivated'`))

	f.Must(f.person, "role_spawn", map[string]any{"template": "bdr", "parent": "cro",
		"params": map[string]any{"territory": "EMEA"}})
	_, err := f.Node.MoveRole(t.Context(), f.person, "", "cro", schemas.RoleTerminate, "done")
	require.NoError(t, err)
	require.Equal(
		t,
		1,
		f.Number(`SELECT count(*) FROM roles WHERE role_id = 'bdr-emea' AND reason = 'parent_terminated'`),
	)

	once := strings.Replace(triage, "soul: You triage.", "soul: You triage.\n    ttl: task", 1)
	f.apply(once)
	f.send(f.person, map[string]any{"type": "issue.opened", "domain": "issues", "workspace": "triage"})
	f.does(f.Caller("triager"), "done")
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM roles WHERE role_id = 'triager' AND reason = 'task_complete'`))
}

// A spawn that needs approval is the owner's to approve.
func TestASpawnWaitsForTheOwner(t *testing.T) {
	f := newFirm(t, strings.Replace(company, "spawn_requires_approval: false", "spawn_requires_approval: true", 1))
	cro := f.Caller("cro")
	out := f.Must(cro, "role_spawn", map[string]any{"template": "bdr", "params": map[string]any{"territory": "APAC"}})
	require.Nil(t, out["agent_id"])
	entry := f.waiting(f.person)
	_, err := f.decide(f.Lead, entry, "approve", "")
	require.ErrorIs(t, err, schemas.ErrNotFound)
	_, err = f.decide(f.person, entry, "approve", "")
	require.NoError(t, err)
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM roles WHERE role_id = 'bdr-apac' AND parent = ?`, cro.Entity))
	f.Caller("bdr-apac") // its key is on this machine
}

// The answer of a role that worked on an event from outside is marked so.
func TestAnAnswerFromOutsideIsMarked(t *testing.T) {
	f := newFirm(t, triage)
	answered := func() any {
		f.send(f.person, map[string]any{"type": "directive.respond", "role": "triager",
			"payload": map[string]any{"message": "What is new?"}})
		f.does(f.Caller("triager"), map[string]any{"answer": "Sign all."})
		return f.Must(f.person, "role_message", map[string]any{})["messages"].([]any)[0].(map[string]any)["second_hand"]
	}
	require.Nil(t, answered())
	_, _, err := f.hook("github", issue(1, "x"), map[string]string{"X-GitHub-Event": "issues",
		"X-GitHub-Delivery": "1"}, f.secret("github"))
	require.NoError(t, err)
	f.does(f.Caller("triager"), map[string]any{})
	require.Equal(t, true, answered())
}
