package roles

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cordelia/pipeline"
	"cordelia/schemas"
)

// Change is one thing that applying a file does.
type Change struct {
	What string `json:"what"` // workspace, role, template or operator
	ID   string `json:"id"`
	Does string `json:"does"` // create, change, suspend, resume, remove
	Why  string `json:"why,omitempty"`
}

// Plan is what applying a file does, or did.
type Plan struct {
	Workspace string   `json:"workspace"`
	Changes   []Change `json:"changes"`
	Clamped   []string `json:"clamped,omitempty"` // of a template, to what its spawner has
	Notes     []string `json:"notes,omitempty"`
	Applied   bool     `json:"applied"`
	Keys      []string `json:"keys,omitempty"` // files that sign the requests of webhooks
}

// notInFile is why a role is suspended that the file does not name any more.
const notInFile = "it is not in the file any more"

// restored is why roles are suspended after a restore that did not find them here: what their file allowed at
// the time of the backup may have been taken back since.
const restored = "it was restored from a backup; apply the file again"

// draftInFile is why a role that acted is suspended by a file that says status: draft.
const draftInFile = "its file says draft; apply a file that says it acts"

// agentRemoved is why a role is made again.
const agentRemoved = "its agent is removed"

// ofFile reports whether a file that has a role ends a suspension for this reason.
func ofFile(why string) bool { return why == notInFile || why == restored || why == draftInFile }

// plan compares a file with what is there; nil is nothing.
func plan(w schemas.Workspace, now *World, states map[string]string) Plan {
	p := Plan{Workspace: w.Workspace, Changes: []Change{}}
	add := func(what, id, does, why string) { p.Changes = append(p.Changes, Change{what, id, does, why}) }
	var was schemas.Workspace
	if now == nil {
		add("workspace", w.Workspace, "create", "")
	} else {
		was = now.Workspace
		if was.Name != w.Name || encoded(was.Policy) != encoded(w.Policy) ||
			encoded(was.NodeEvents) != encoded(w.NodeEvents) {
			add("workspace", w.Workspace, "change", "")
		}
	}
	compare(was.Operators, w.Operators, func(id, does string) { add("operator", id, does, "") })
	compare(was.Webhooks, w.Webhooks, func(id, does string) { add("webhook", id, does, "") })
	compare(was.RoleTemplates, w.RoleTemplates, func(id, does string) { add("template", id, does, "") })
	for _, r := range w.Roles {
		var m *Member
		if now != nil {
			m = now.byID[r.RoleID]
		}
		switch {
		case m == nil:
			add("role", r.RoleID, "create", string(cmp.Or(r.Status, schemas.RoleActive)))
			continue
		case m.AgentIs == schemas.Removed:
			add("role", r.RoleID, "create", agentRemoved)
			continue
		case encoded(m.Role) != encoded(r):
			add("role", r.RoleID, "change", strings.Join(differing(m.Role, r), ", "))
		}
		switch {
		case m.Own != schemas.RoleSuspended || !ofFile(states[r.RoleID]) || r.Status == schemas.RoleDraft:
		case m.AgentIs == schemas.Deactivated:
			p.Notes = append(p.Notes, fmt.Sprintf("role %s stays suspended: its agent is deactivated; first: cordelia agent "+
				"reactivate %s", r.RoleID, r.RoleID))
		default:
			add("role", r.RoleID, "resume", "the file has it")
		}
	}
	if now != nil {
		for _, m := range now.Members {
			named := slices.ContainsFunc(w.Roles, func(r schemas.Role) bool { return r.RoleID == m.RoleID })
			if m.Parent == "" && !named && m.Own.Acts() {
				add("role", m.RoleID, "suspend", notInFile)
			}
		}
	}
	p.remark(w)
	return p
}

// compare says which entries of a table are made, changed and removed.
func compare[V any](was, is map[string]V, say func(id, does string)) {
	for _, id := range slices.Sorted(maps.Keys(is)) {
		if old, ok := was[id]; !ok {
			say(id, "create")
		} else if encoded(old) != encoded(is[id]) {
			say(id, "change")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(was)) {
		if _, ok := is[id]; !ok {
			say(id, "remove")
		}
	}
}

// differing names the keys in which two charters differ.
func differing(a, b schemas.Role) (keys []string) {
	for key, pair := range map[string][2]any{
		"soul": {a.Soul, b.Soul}, "domains": {a.Domains, b.Domains}, "reports_to": {a.ReportsTo, b.ReportsTo},
		"operator_ids": {a.OperatorIDs, b.OperatorIDs}, "authority": {a.Authority, b.Authority},
		"clearance": {a.Clearance, b.Clearance}, "goals": {a.Goals, b.Goals}, "trust": {a.Trust, b.Trust},
		"wake": {a.Wake, b.Wake}, "budget": {a.Budget, b.Budget}, "every": {a.Schedules, b.Schedules},
		"asks": {a.Asks, b.Asks}, "status": {a.Status, b.Status}, "ttl": {a.TTL, b.TTL},
		"memory_policy": {a.MemoryPolicy, b.MemoryPolicy}} {
		if encoded(pair[0]) != encoded(pair[1]) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// remark lists what a file asks for and does not get: undeclared operators, what looks like a slip
// of the pen, and the rights of a template that its users do not have.
func (p *Plan) remark(w schemas.Workspace) {
	p.triggers(w)
	p.tools(w)
	declared := slices.Sorted(maps.Keys(w.Operators))
	actions := actionsOf(w)
	missing := func(of string, ids []string, a schemas.Authority) {
		for _, id := range ids {
			if !slices.Contains(declared, id) {
				p.Notes = append(p.Notes, fmt.Sprintf("%s names operator %s, which operators does not declare: nothing is "+
					"delegated to it%s", of, id, schemas.DidYouMean(id, declared)))
			}
		}
		for _, action := range slices.Concat(a.Autonomous, a.NeedsApproval, a.Forbidden) {
			if hint := schemas.DidYouMean(action, actions); hint != "" && !slices.Contains(actions, action) {
				p.Notes = append(p.Notes, fmt.Sprintf("%s: its authority names %s, which no operator does%s", of, action, hint))
			}
		}
	}
	for _, r := range w.Roles {
		missing("role "+r.RoleID, r.OperatorIDs, r.Authority)
		if len(r.Domains) == 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("role %s owns no domain, so no event is its own", r.RoleID))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.RoleTemplates)) {
		t := w.RoleTemplates[id]
		missing("template "+id, t.OperatorIDs, t.Authority)
		if len(t.AllowedSpawners) == 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("template %s names no allowed_spawners: no role can use it", id))
		}
		for _, spawner := range t.AllowedSpawners {
			at := slices.IndexFunc(w.Roles, func(r schemas.Role) bool { return r.RoleID == spawner })
			if at < 0 {
				continue
			}
			_, clamped := Clamp(t, w.Roles[at], w.Policy)
			for _, c := range clamped {
				p.Clamped = append(p.Clamped, fmt.Sprintf("template %s, spawned by %s: %s", id, spawner, c))
			}
		}
	}
}

// tools remarks of recipes that name a tool which no client has by that name.
func (p *Plan) tools(w schemas.Workspace) {
	known := pipeline.GeneralTools()
	for _, id := range slices.Sorted(maps.Keys(w.Operators)) {
		for _, tool := range w.Operators[id].Does.Tools {
			if name := pipeline.ToolName(tool); !slices.Contains(known, name) {
				p.Notes = append(p.Notes, fmt.Sprintf("operator %s names the tool %s, which no worker gives%s", id, tool,
					among(name, known)))
			}
		}
	}
}

// actionsOf lists the actions of all operators.
func actionsOf(w schemas.Workspace) (actions []string) {
	for _, o := range w.Operators {
		actions = slices.AppendSeq(actions, maps.Keys(o.Triggers))
	}
	slices.Sort(actions)
	return slices.Compact(actions)
}

// triggers remarks of operators that wait for a type that GitHub does not send, but a similar one.
func (p *Plan) triggers(w schemas.Workspace) {
	if !slices.ContainsFunc(slices.Collect(maps.Values(w.Webhooks)), func(h schemas.Webhook) bool {
		return h.Kind == github
	}) {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(w.Operators)) {
		o := w.Operators[id]
		for _, action := range slices.Sorted(maps.Keys(o.Triggers)) {
			for _, t := range o.Triggers[action] {
				thing, what, _ := strings.Cut(t, ".")
				known := githubTypes[thing]
				if hint := schemas.Nearest(what, known); hint != "" && !slices.Contains(known, what) {
					p.Notes = append(p.Notes, fmt.Sprintf("operator %s: %s waits for %s, which GitHub does not send; did you mean "+
						"%s.%s?", id, action, t, thing, hint))
				}
			}
		}
	}
}
