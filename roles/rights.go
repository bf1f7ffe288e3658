package roles

import (
	"encoding/json"
	"errors"
	"slices"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/memory"
	"cordelia/schemas"
)

// rootDepth is how many generations of roles may stand below one of the file.
const rootDepth = 3

// mayUse reports whether a role may use a template of the workspace.
func mayUse(w schemas.Workspace, role string) bool {
	for _, t := range w.RoleTemplates {
		if slices.Contains(t.AllowedSpawners, role) {
			return true
		}
	}
	return false
}

// enroll registers the agent behind a role below parent.
func (r *Roles) enroll(g access.Grant, w schemas.Workspace, parent schemas.EntityID, role schemas.Role,
	display string, spawner bool, depth int) (agents.Record, error) {
	rights := encoded(rightsOf(spawner, depth, ttlSeconds(role.TTL)))
	declared, err := access.ParseCapabilities([]byte(rights), r.agents.Tools())
	if err != nil {
		return agents.Record{}, err
	}
	record, err := r.agents.Enroll(g, parent, agents.Registration{Type: schemas.Autonomous, DisplayName: display,
		Name: role.RoleID, Capabilities: declared, Grants: groupsOf(w)})
	if errors.Is(err, schemas.ErrConflict) {
		return record, schemas.Conflictf("an agent is named %s already", role.RoleID).
			Try("give the role another role_id").Because(err)
	}
	return record, err
}

// groupsOf are the groups that the roles of a workspace may reach.
func groupsOf(w schemas.Workspace) (g schemas.Grants) {
	if w.Policy.MemoryIsolation == schemas.SharedRead {
		g.Groups = []string{string(GroupOf(w.Workspace))}
	}
	return g
}

// ttlSeconds is how long the agent of a role may live, 0 = as long as its parent.
func ttlSeconds(ttl string) int64 {
	d, err := span(ttl)
	if err != nil {
		return 0
	}
	return int64(d.Seconds())
}

// endsAt is when a role that was made at a time ends by its ttl, 0 = no time ends it.
func endsAt(made int64, ttl string) int64 {
	d, err := span(ttl)
	if err != nil {
		return 0
	}
	return made + d.Microseconds()
}

// rightsOf are the capabilities of a role's agent: its own memory, work, messages and, of
// one that may spawn, roles below it.
func rightsOf(spawner bool, depth int, ttl int64) map[string]any {
	tools := []string{"memory_read_hot", "memory_write_hot", "memory_session", "memory_search", "memory_read_warm",
		"memory_write_warm", "events_poll", "events_subscribe", "task_claim", "task_report", "task_status",
		"trust_score", "review_list", "review_decide", "role_event", "role_message", "role_list"}
	if spawner {
		tools = append(tools, "role_spawn", "role_draft")
	} else {
		tools, depth = append(tools, "role_draft"), max(depth-1, 0)
	}
	scope := map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"ws-*"},
		"visibility": []string{"private", "group", "public"}}
	return map[string]any{"memory_read": scope,
		"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{},
			"visibility": []string{"private"}},
		"tools": tools, "max_parallel_ops": 8, "autonomous": true, "ttl_seconds": ttl, "max_delegation_depth": depth}
}

// differingRights are the fields in which one rightsOf differs from another, the tools as +name and -name.
func differingRights(was, is map[string]any) map[string]any {
	out := map[string]any{}
	for field, v := range is {
		if encoded(v) != encoded(was[field]) {
			out[field] = v
		}
	}
	if now, ok := out["tools"].([]string); ok {
		before, change := was["tools"].([]string), []string{}
		for _, tool := range now {
			if !slices.Contains(before, tool) {
				change = append(change, "+"+tool)
			}
		}
		for _, tool := range before {
			if !slices.Contains(now, tool) {
				change = append(change, "-"+tool)
			}
		}
		out["tools"] = change
	}
	return out
}

// changeRights changes the rights of a role's agent by what differs between two rightsOf: what its owner took
// from it otherwise stays taken.
func (r *Roles) changeRights(g access.Grant, agent schemas.EntityID, was, is map[string]any) error {
	change := differingRights(was, is)
	if len(change) == 0 {
		return nil
	}
	_, err := agents.Update(g, string(agent), agents.Change{Capabilities: json.RawMessage(encoded(change))},
		r.agents.Tools())
	return err
}

// letSpawn gives the agent of a role the tool that spawns. CodeConflict for one below which no role
// may stand any more.
func (r *Roles) letSpawn(g access.Grant, m *Member) error {
	chain, err := g.ChainOf(m.Agent)
	if err != nil {
		return err
	}
	depth := depthBelow(chain[:len(chain)-1])
	if depth == 0 {
		return schemas.Conflictf("%s stands as deep as roles may, so it spawns none", m.RoleID).Try("reject this")
	}
	return r.changeRights(g, m.Agent, rightsOf(false, depth, 0), rightsOf(true, depth, 0))
}

// depthBelow is how many generations of roles may stand below a role that is made under the last of
// a chain.
func depthBelow(chain []access.ChainLink) int { return max(rootDepth-len(chain)+1, 0) }

// rights changes the rights of the file's roles where its templates, a ttl or its isolation changed.
func (a applying) rights() error {
	if a.now == nil {
		return nil
	}
	for _, m := range a.now.Members {
		if m.AgentIs == schemas.Removed {
			continue
		}
		ttl := m.TTL
		if at := slices.IndexFunc(a.w.Roles, func(r schemas.Role) bool { return r.RoleID == m.RoleID }); at >= 0 {
			ttl = a.w.Roles[at].TTL
		}
		if m.Parent == "" {
			if err := a.changeRights(a.g, m.Agent,
				rightsOf(mayUse(a.now.Workspace, m.RoleID), rootDepth, ttlSeconds(m.TTL)),
				rightsOf(mayUse(a.w, m.RoleID), rootDepth, ttlSeconds(ttl))); err != nil {
				return err
			}
		}
		was, is := a.now.Workspace.Policy.MemoryIsolation == schemas.SharedRead,
			a.w.Policy.MemoryIsolation == schemas.SharedRead
		if was == is {
			continue
		}
		groups := groupsOf(a.w).Groups
		if _, err := agents.Update(a.g, string(m.Agent), agents.Change{Groups: &groups}, a.agents.Tools()); err != nil {
			return err
		}
		if err := a.g.AsNode(func(g access.Grant) error {
			if is {
				return memory.Enter(g, GroupOf(a.w.Workspace), m.Agent, access.RoleViewer)
			}
			return memory.Leave(g, GroupOf(a.w.Workspace), m.Agent)
		}); err != nil {
			return err
		}
	}
	return changed(a.g, a.w.Workspace)
}
