package ops_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/ops/opstest"
	"cordelia/schemas"
)

// everything is a file in which each key says something.
const everything = `
workspace: every
name: Everything
owner: ann
policy: {max_roles: 9, default_trust: 0.3, spawn_requires_approval: false, memory_isolation: strict}
node_events: [agent.status_changed]
operators:
  desk:
    triggers: {note: note.came, big: big.came, tick: tick.came, seen: agent.status_changed}
    does: {kind: work, intent: "{action} {payload.title}", criteria: [{criterion: c1, command: run it}], client: codex, model: small, constraints: [k1],
      tools: [t1], within: 2h}
  plan:
    triggers: {plan: plan.came}
    does: {kind: task, intent: "plan {payload.title}", tools: [bash], budget: 30m, within: 90h, hold: false}
webhooks:
  crm: {domain: office, signature: X-S, delivery: X-D, type: kind, thread: id, author: who,
    events: {made: note.came}, self: [bot], fields: {title: label}}
  git: {kind: github, domain: office, events: {issue.opened: note.came}, self: [our-bot]}
roles:
  - role_id: boss
    soul: You lead.
    domains: [top]
    operator_ids: [desk]
    authority: {autonomous: [note]}
  - role_id: desk
    soul: You keep the desk.
    domains: [office, node]
    reports_to: boss
    operator_ids: [desk, plan]
    authority: {autonomous: [note, plan, tick, seen], needs_approval: [big], forbidden: [bad.came]}
    clearance: {office: confidential}
    goals:
      - id: g1
        description: Keep order
        status: active
        key_results: [{id: k1, description: Notes kept, target: 8, current: 4, start: 2, unit: notes, lower_is_better: false}]
    trust: {default: 0.31, scores: {note: 0.32}}
    wake: always
    budget: {tasks: 50, tokens: 100000, money: 90}
    every: [{every: 20h, type: tick.came, domain: office, payload: {title: tock}}]
    asks: {within: 30h, then: escalate}
    status: active
    ttl: 300d
    memory_policy: archive
role_templates:
  kid:
    name_pattern: "kid {area}"
    soul_template: "You keep {area}."
    domains: [office]
    authority: {autonomous: [note], needs_approval: [tick], forbidden: [plan]}
    clearance: {office: confidential}
    operator_ids: [desk, plan]
    default_trust: 0.3
    budget: {tasks: 40, tokens: 100000, money: 90}
    wake: always
    ttl: 200d
    memory_policy: archive
    parameters: [area]
    allowed_spawners: [desk]
    spawn_signals:
      - id: s1
        description: Many notes
        conditions: [{metric: episodes_by_tag, threshold: 2, window_days: 30, tag_field: area}]
        extract_params: {area: area}
      - id: s2
        description: Large notes
        conditions: [{metric: payload_field, threshold: 2, field: size, min_value: 5}]
`

// keyChanges reads from testdata/role_keys.txt how each key is changed; the story must then go
// differently.
func keyChanges(t *testing.T) map[string][2]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/role_keys.txt")
	require.NoError(t, err)
	out, key := map[string][2]string{}, ""
	for line := range strings.Lines(string(raw)) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\n"), `\n`, "\n")
		was, isOld := strings.CutPrefix(line, "  - ")
		is, isNew := strings.CutPrefix(line, "  + ")
		switch {
		case isOld:
			out[key] = [2]string{was}
		case isNew:
			out[key] = [2]string{out[key][0], is}
		case line != "" && !strings.HasPrefix(line, "#"):
			key = line
		}
	}
	return out
}

// keysOf lists the paths of all keys that hold a value.
func pathsOf(t reflect.Type, at string) (paths []string) {
	switch t.Kind() {
	case reflect.Pointer:
		return pathsOf(t.Elem(), at)
	case reflect.Struct:
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			paths = append(paths, pathsOf(field.Type, strings.TrimPrefix(at+"."+name, "."))...)
		}
		return paths
	case reflect.Slice, reflect.Map:
		if e := t.Elem(); e.Kind() == reflect.Struct {
			return pathsOf(e, at+".*")
		}
	}
	return []string{at}
}

// Every key of a workspace's file has an effect on what happens.
func TestEveryKeyHasAnEffect(t *testing.T) {
	changes := keyChanges(t)
	keys := pathsOf(reflect.TypeFor[schemas.Workspace](), "")
	for _, key := range keys {
		require.Contains(t, changes, key, "say here how the key is changed")
	}
	for key := range changes {
		require.True(t, slices.Contains(keys, key), "there is no key %s", key)
	}
	base := story(t, everything)
	require.Equal(t, base, story(t, everything), "the story goes alike each time")
	for key, change := range changes {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			change[1] = strings.NewReplacer("autonomous_x: [big], ", "", "autonomous_x: [tick], ", "").Replace(change[1])
			file := strings.Replace(everything, change[0], change[1], 1)
			require.NotEqual(t, everything, file, "the change does not fit the file")
			told := story(t, file)
			assert.NotEqual(t, base, told, "%s has no effect", key)
			assert.Equal(t, key == "owner", !strings.HasPrefix(told, "note.came"), "the file is refused: %s", told)
		})
	}
}

var unsteady = regexp.MustCompile(
	`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{64}\b|\b[0-9a-f]{8}\b`)

// teller plays a story and writes down what happens.
type teller struct {
	*firm
	out strings.Builder
}

func (s *teller) say(what string, v any, err error) {
	if err != nil {
		v = err
	}
	fmt.Fprintf(&s.out, "%s: %s\n", what, unsteady.ReplaceAllString(fmt.Sprint(v), "ID"))
}

// rows reads texts.
func (s *teller) rows(what, query string) {
	var all []string
	require.NoError(s.T, s.Node.Store.Read(s.T.Context(), func(tx *store.Tx) error {
		rows, err := tx.Query(query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			all = append(all, text)
		}
		return rows.Err()
	}))
	s.say(what, strings.Join(all, "\n"), nil)
}

// event sends an event and tells the decisions.
func (s *teller) event(kind string, more map[string]any) {
	args := opstest.With(map[string]any{"type": kind, "domain": "office", "payload": map[string]any{"title": "T",
		"area": "docs", "place": "shelf", "size": 7}}, more)
	out, err := s.Call(s.person, "role_event", args)
	s.say(kind, out["decisions"], err)
}

// works does the next work of a role and tells of it.
func (s *teller) works(name string) {
	f, err := s.Node.OpenIdentity(s.T.Context(), name)
	if err != nil {
		s.say(name, "", err)
		return
	}
	c, err := s.Node.Caller(s.T.Context(), f, "session-1")
	require.NoError(s.T, err)
	out, err := s.Call(c, "task_claim", map[string]any{})
	w, ok := out["work"].(map[string]any)
	if err != nil || !ok {
		s.say(name+" has no work", "", err)
		return
	}
	s.say(name+" works", fmt.Sprint(w["intent"], w["brief"]), nil)
	s.SQL(`INSERT INTO seat_runs(item, fence, client, outcome, input_tokens, cost, started_at, ended_at)
		SELECT n, fence, 'c', 'answered', 1000, 5000000, ?, ? FROM work_items WHERE id = ?`,
		s.Clock.Now().UnixMicro(), s.Clock.Now().UnixMicro(), w["work_id"])
	_, err = s.Call(c, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done"})
	s.say(name+" is done", "", err)
	s.settle()
}

// story plays all that a workspace does, and tells it.
func story(t *testing.T, file string) string {
	t.Helper()
	s := &teller{firm: &firm{House: opstest.New(t, func(c *node.Config) { c.Durability = store.Relaxed })}}
	s.Clock.Set(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC))
	s.person = s.Person()
	var err error
	if s.plan, err = s.tryApply(file); err != nil {
		return err.Error()
	}
	s.event("note.came", nil)
	s.works("desk")
	for _, kind := range []string{"big.came", "bad.came", "plan.came", "tick.came", "unheard.of"} {
		s.event(kind, nil)
	}
	s.event("note.came", map[string]any{"classification": "confidential"})
	s.event("note.came", map[string]any{"domain": "top", "role": s.first()})
	s.rows("tasks", `SELECT request || tools || settings || held || deadline FROM tasks`)
	s.rows("deadlines", `SELECT intent || deadline FROM work_items WHERE deadline > 0 AND seat = 0`)
	s.hooks()
	s.spawns()
	s.remembers()
	s.rows("asks", `SELECT title || '|' || (SELECT name FROM entities WHERE id = asked) || '|' || deadline || '|'
		|| follows || '|' || state FROM role_asks
		WHERE kind <> 'insights' ORDER BY id`)
	s.Clock.Move(25 * time.Hour)
	s.settle()
	s.rows("asks later", `SELECT title || '|' || (SELECT name FROM entities WHERE id = asked) || '|' || deadline || '|' || state FROM role_asks ORDER BY id`)
	s.rows("ticks", `SELECT type || domain || event FROM role_events WHERE source = 'schedule'`)
	s.event("note.came", nil)
	for range 6 {
		s.works("desk")
	}
	s.rows("recommended", `SELECT template || signal || params || reason || strength FROM role_recommendations`)
	s.rows("told", `SELECT v.type || v.domain || d.action FROM role_events v JOIN role_decisions d ON d.event = v.n
		WHERE v.domain = 'node' ORDER BY v.n LIMIT 3`)
	s.rows("reported", `SELECT n.name FROM events e JOIN entities n ON e.stream = 'e/' || n.id
		WHERE type = 'role.reported' GROUP BY 1 ORDER BY 1`)
	for _, id := range []string{"kid-docs", "desk"} {
		_, err := s.Node.MoveRole(t.Context(), s.person, "", id, schemas.RoleTerminate, "over")
		s.say(id+" ends", "", err)
	}
	s.rows("left", `SELECT kind || title || shows FROM role_asks WHERE kind = 'insights'`)
	return s.out.String()
}

// first is the role that leads.
func (s *teller) first() string {
	if s.Number(`SELECT count(*) FROM roles WHERE role_id = 'boss'`) == 1 {
		return "boss"
	}
	return "bass"
}

// hooks sends what two sources would.
func (s *teller) hooks() {
	crm, git := s.secret("crm"), s.secret("git")
	for i, who := range []string{"eve", "bot"} {
		t, skip, err := s.hook("crm", fmt.Sprintf(`{"kind":"made","id":"d-%d","who":%q,"label":"L"}`, i, who),
			map[string]string{"X-D": fmt.Sprint(i), "X-S": s.signed(crm, i, who)}, crm)
		s.say("crm", fmt.Sprint(t.Decisions, skip), err)
	}
	t, skip, err := s.hook("git", issue(1, "Issue"), map[string]string{"X-GitHub-Event": "issues",
		"X-GitHub-Delivery": "1"}, git)
	s.say("git", fmt.Sprint(t.Decisions, skip), err)
	s.rows("hooked", `SELECT type || domain || thread || event FROM role_events WHERE source IN ('crm', 'git')`)
}

func (s *teller) signed(secret string, i int, who string) string {
	return signature(fmt.Sprintf(`{"kind":"made","id":"d-%d","who":%q,"label":"L"}`, i, who), secret)
}

// spawns has a child made, which gets its share of events.
func (s *teller) spawns() {
	desk := s.Caller("desk")
	s.must(desk, "memory_write_warm", opstest.Note("Known of docs"))
	out, err := s.Call(desk, "role_spawn", map[string]any{"template": "kid", "params": map[string]any{"area": "docs"}})
	s.say("spawned", out["role"], err)
	if err != nil || out["agent_id"] == nil {
		return
	}
	kid := out["role"].(string)
	s.event("note.came", map[string]any{"role": kid})
	s.works(kid)
	for _, kind := range []string{"note.came", "tick.came", "plan.came", "big.came"} {
		s.event(kind, map[string]any{"role": kid})
	}
	s.event("note.came", map[string]any{"role": kid, "classification": "confidential"})
	s.rows("until", `SELECT role_id || until FROM roles WHERE parent <> ''`)
}

func (s *teller) must(c ops.Caller, tool string, args map[string]any) { s.Must(c, tool, args) }

// remembers tells what a role finds in the group of the workspace.
func (s *teller) remembers() {
	var group string
	for _, g := range s.Must(s.person, "memory_group", map[string]any{"action": "list"})["groups"].([]any) {
		if id := fmt.Sprint(g.(map[string]any)["id"]); strings.HasPrefix(id, "ws-") {
			group = id
			s.say("group", g.(map[string]any)["description"], nil)
		}
	}
	s.Must(s.person, "memory_write_warm", opstest.With(opstest.Note("Common ground"), map[string]any{"group": group}))
	found := s.Must(s.Caller("desk"), "memory_search", map[string]any{"query": "common ground"})["results"].([]any)
	s.say("found", len(found), nil)
	shown, err := s.Call(s.person, "role_list", map[string]any{"role": "desk"})
	if err == nil {
		goal := shown["role"].(map[string]any)["goals"].([]any)[0].(map[string]any)
		s.say("goal", fmt.Sprint(goal["id"], goal["key_results"].([]any)[0].(map[string]any)["id"]), nil)
	}
}
