package console

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
	"cordelia/ops/opstest"
	"cordelia/roles"
	"cordelia/schemas"
)

// furnished is a house in which everything that pages show is there, with one text wherever
// an agent may write one.
type furnished struct {
	*browser
	task, item, older string   // ids
	paths             []string // of every page
}

// crew registers agents that sit in the roles of tasks.
func (b *browser) crew(names ...string) (list []ops.Caller) {
	b.T.Helper()
	none := map[string]any{"layers": []string{"l1"}, "groups": []string{}, "visibility": []string{}}
	for _, name := range names {
		b.Must(b.Lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name, "name": name,
			"capabilities": map[string]any{"memory_read": none, "memory_write": none, "tools": []string{"task_claim",
				"task_report"}, "max_parallel_ops": 5, "autonomous": true, "ttl_seconds": 3600}})
		list = append(list, b.Caller(name))
	}
	return list
}

// sit claims a role's seat and reports an answer to it.
func (b *browser) sit(c ops.Caller, role, said string, answer map[string]any) {
	b.T.Helper()
	w, ok := b.Must(c, "task_claim", map[string]any{"role": role})["work"].(map[string]any)
	require.True(b.T, ok, "there is no %s to claim", role)
	b.Must(c, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
		"result": answer, "evidence": []any{map[string]any{"tool": "bash", "input": said, "exit": 0, "head": said}}})
}

// furnish fills a house with a text.
func furnish(t *testing.T, said string) *furnished {
	b := newBrowser(t)
	b.login()
	f := &furnished{browser: b}
	seen := "the harbour master saw that " + said
	verdict := []any{map[string]any{"criterion": seen, "verdict": "pass", "evidence": said}}
	crew := b.crew("planner", "doer", "judge", "merger")
	f.task = b.Must(b.Lead, "task_submit", map[string]any{"request": said, "intent": said, "hold": true,
		"tools": []string{"bash"}})["task_id"].(string)
	b.sit(crew[0], "R2", said, map[string]any{"task_criteria": []any{seen}, "subtasks": []any{map[string]any{
		"intent": said, "sequence": 1, "tools": []string{"bash"}, "success_criteria": []any{seen}}}})
	b.sit(crew[1], "R3", said, map[string]any{"file": said})
	b.sit(crew[2], "R4a", said, map[string]any{"verdicts": verdict})
	b.sit(crew[3], "R4b", said, map[string]any{"verdicts": verdict, "output": said})

	asked := b.Must(b.Lead, "task_submit", map[string]any{"request": "paint " + said})["task_id"].(string)
	b.sit(crew[0], "R1", said, map[string]any{"questions": []any{"which colour: " + said}})
	given := b.Must(b.Lead, "task_submit", map[string]any{"intent": "sweep " + said})["task_id"].(string)
	for state := ""; state != string(schemas.WorkBlocked); {
		w := b.Must(crew[1], "task_claim", map[string]any{"task_id": given})["work"].(map[string]any)
		state = b.Must(crew[1], "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"],
			"outcome": "released", "note": said})["state"].(string)
	}

	note := func(about string) map[string]any {
		return map[string]any{"type": "learning", "subject": said, "key": "light", "data": map[string]any{
			"type": "insight", "content": about + " " + said}}
	}
	f.older = b.written(note("first"))
	newer := note("second")
	newer["supersedes"] = f.older
	f.item = b.written(newer)
	w := b.Worker("spy")
	b.Must(w, "memory_write_warm", map[string]any{"type": "learning", "visibility": "private", "data": map[string]any{
		"type": "procedure", "content": said, "tools": []any{}}})
	b.Must(b.Person(), "trust_assess", map[string]any{"id": f.item, "verdict": "wrong"})
	b.Must(b.Lead, "memory_group", map[string]any{"action": "create", "group": "harbour", "description": said})
	b.Must(b.Lead, "memory_group", map[string]any{"action": "add", "group": "harbour", "entity": "spy"})
	told := b.Must(w, "memory_write_warm", opstest.With(opstest.Note("the spy saw that "+said),
		map[string]any{"visibility": "group", "group": "harbour"}))["id"]
	b.Must(b.Lead, "trust_assess", map[string]any{"id": told, "verdict": "right", "relayed": true})
	b.Must(b.Lead, "agent_register", map[string]any{"agent_type": "custom", "display_name": said, "name": "odd"})
	b.Must(b.Lead, "agent_lifecycle", map[string]any{"agent": "odd", "action": "activate"})
	b.Must(b.Lead, "agent_lifecycle", map[string]any{"agent": "odd", "action": "suspend", "reason": said})
	swarm := b.Must(b.Lead, "swarm_create", map[string]any{"goal": said, "strategy": "broadcast",
		"agents": []any{map[string]any{"slot": "hand", "count": 2}}})["swarm_id"].(string)

	workspace, err := roles.Parse([]byte(`
workspace: port
owner: ann
operators:
  pilots:
    triggers: {bring_in: ship.came}
    does: {intent: "bring in {payload.name}", criteria: ["it is moored"]}
roles:
  - {role_id: master, soul: "You run the port.", domains: [port], reports_to: ann, operator_ids: [pilots],
     authority: {autonomous: [], needs_approval: [bring_in], forbidden: []}}
  - {role_id: mate, soul: "You help.", domains: [ropes], reports_to: master}
`))
	require.NoError(t, err)
	_, err = b.Node.ApplyWorkspace(t.Context(), b.Person(), workspace, false)
	require.NoError(t, err)
	b.Must(b.Person(), "role_event", map[string]any{"type": "ship.came", "domain": "port", "workspace": "port",
		"payload": map[string]any{"name": said}})

	f.paths = []string{"", "tasks", "tasks/" + asked, "tasks/" + given, "tasks/" + f.task,
		"tasks/" + f.task + "/replay",
		"tasks/" + f.task + "/replay?step=1", "agents", "agents?ended=1", "agents/odd", "agents/claude-code",
		"agents/doer", "memory",
		"memory?q=first&as=claude-code",
		"memory?as=spy", "memory/" + f.item, "memory/" + f.older, "groups", "groups/harbour", "review", "review/" + f.task,
		"swarms", "swarms/" + swarm, "roles", "roles/port/master", "roles/port/mate", "events", "events?action=task_submit",
		"health", "health?by=role"}
	return f
}
