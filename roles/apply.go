package roles

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
)

// Apply makes a workspace what its file says, all of it or nothing; with trial it only lists
// the changes. Only the owner may: CodeDenied for any other actor. The same file again changes
// nothing.
func (r *Roles) Apply(g access.Grant, w schemas.Workspace, trial bool) (Plan, error) {
	if g.Tx() == nil {
		return Plan{}, access.ErrNoGrant
	}
	if w.Owner == "" && g.IsHuman() {
		w.Owner = g.Actor()
	}
	if !g.IsHuman() || g.Actor() != w.Owner {
		return Plan{}, schemas.Deniedf("the file says that %s owns the workspace, and you are %s", w.Owner,
			g.NameOf(g.Actor())).Try("its owner applies it; or put your own id under owner")
	}
	if err := r.recipes(w); err != nil {
		return Plan{}, err
	}
	var now *World
	err := g.Tx().QueryRow(selectOwner, w.Workspace).Scan(new(schemas.EntityID))
	if err == nil {
		if now, err = r.World(g, w.Workspace); errors.Is(err, schemas.ErrNotFound) {
			return Plan{}, schemas.Conflictf("the name %s is taken", w.Workspace).Try("choose another workspace")
		}
	}
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return Plan{}, err
	}
	reasons, err := reasonsOf(g, w.Workspace)
	if err != nil {
		return Plan{}, err
	}
	p := plan(w, now, reasons)
	if err := r.room(w, now); err != nil || trial || len(p.Changes) == 0 {
		p.Applied = err == nil && !trial
		return p, err
	}
	if err := (applying{r, g, w, now}).write(p.Changes); err != nil {
		return p, err
	}
	p.Applied = true
	return p, g.Audit("workspace/"+w.Workspace, map[string]any{"changes": p.Changes})
}

// write makes the changes of a plan.
func (a applying) write(changes []Change) error {
	if err := a.workspace(); err != nil {
		return err
	}
	for _, c := range changes {
		if c.What == "role" {
			if err := a.role(c); err != nil {
				return err
			}
		}
	}
	if err := a.rights(); err != nil {
		return err
	}
	after, err := read(a.g.Tx(), a.w.Workspace)
	if err != nil {
		return err
	}
	return after.streams(a.g)
}

// reasonsOf gives why each role of a workspace is in its state.
func reasonsOf(g access.Grant, workspace string) (map[string]string, error) {
	out := map[string]string{}
	rows, err := g.Tx().Query(selectReasons, workspace)
	_, err = store.Collect(rows, err, func(r *sql.Rows) (id string, err error) {
		var why string
		err = r.Scan(&id, &why)
		out[id] = why
		return id, err
	})
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	return out, nil
}

// recipes refuses a recipe of which the pipeline would take no task.
func (r *Roles) recipes(w schemas.Workspace) error {
	var bad []schemas.Violation
	for _, id := range slices.Sorted(maps.Keys(w.Operators)) {
		does := w.Operators[id].Does
		if does.Kind != schemas.AsTask {
			continue
		}
		budget, _ := span(does.Budget) //nolint:errcheck // checked when the file was read
		err := r.tasks.Check(TaskRequest{Request: does.Intent, Tools: does.Tools, Budget: budget})
		if e, ok := errors.AsType[*schemas.Error](err); ok {
			for _, v := range e.Violations {
				key := map[string]string{"/request": "/intent", "/budget_seconds": "/budget"}[v.Path]
				if key == "/budget" {
					v.Msg += " seconds"
				}
				v.Path = "/operators" + schemas.Pointer(id) + "/does" + cmp.Or(key, v.Path)
				bad = append(bad, v)
			}
		} else if err != nil {
			return err
		}
	}
	if bad != nil {
		return schemas.Invalidf("the workspace was not applied").With(bad...).Try("correct the file")
	}
	return nil
}

// room refuses more roles than the policy allows.
func (r *Roles) room(w schemas.Workspace, now *World) error {
	n := len(w.Roles)
	if now != nil {
		for _, m := range now.Members {
			if !slices.ContainsFunc(w.Roles, func(r schemas.Role) bool { return r.RoleID == m.RoleID }) {
				n++
			}
		}
	}
	if most := maxRoles(w.Policy); n > most {
		return schemas.Invalidf("the workspace would have %d roles", n).Expecting("at most %d (policy.max_roles)", most).
			Try("raise max_roles, or end roles first: cordelia role terminate ROLE")
	}
	return nil
}

func maxRoles(p schemas.WorkspacePolicy) int {
	if p.MaxRoles != nil {
		return *p.MaxRoles
	}
	return DefaultRoles
}

// applying is a file while it is applied.
type applying struct {
	*Roles
	g   access.Grant
	w   schemas.Workspace
	now *World // what was there, nil = nothing
}

// GroupOf is the reserved memory group of a workspace.
func GroupOf(workspace string) schemas.GroupID { return schemas.GroupID("ws-" + workspace) }

// workspace writes the workspace without its roles.
func (a applying) workspace() error {
	tx, spec := a.g.Tx(), a.w
	spec.Roles = nil
	group := GroupOf(a.w.Workspace)
	if a.now == nil {
		if err := a.g.AsNode(func(g access.Grant) error {
			return memory.CreateGroup(g, memory.NewGroup{ID: group, Kind: memory.WorkspaceGroup, Owner: a.w.Owner,
				Description: cmp.Or(a.w.Name, a.w.Workspace)})
		}); err != nil {
			return err
		}
		if _, err := tx.Exec(insertWorkspace, a.w.Workspace, a.w.Owner, group, encoded(spec), tx.Micros(),
			tx.Micros()); err != nil {
			return fmt.Errorf("write workspace: %w", err)
		}
	} else if _, err := tx.Exec(updateWorkspace, encoded(spec), tx.Micros(), a.w.Workspace); err != nil {
		return fmt.Errorf("write workspace: %w", err)
	}
	if _, err := tx.Exec(dropHooks, a.w.Workspace); err != nil {
		return fmt.Errorf("write webhooks: %w", err)
	}
	for _, source := range slices.Sorted(maps.Keys(a.w.Webhooks)) {
		if _, err := tx.Exec(insertHook, source, a.w.Workspace); store.IsUnique(err) {
			return schemas.Conflictf("another workspace has the webhook %s", source).
				Try("give this one another name, as %s-2, and have requests sent to /hooks/%s-2", source, source)
		} else if err != nil {
			return fmt.Errorf("write webhooks: %w", err)
		}
	}
	return nil
}

// role does what the plan says of one role.
func (a applying) role(c Change) error {
	at := slices.IndexFunc(a.w.Roles, func(r schemas.Role) bool { return r.RoleID == c.ID })
	var m *Member
	if a.now != nil {
		m = a.now.byID[c.ID]
	}
	switch c.Does {
	case "create":
		if m != nil {
			if err := a.move(a.g, m.Agent, schemas.RoleTerminate, agentRemoved); err != nil {
				return err
			}
		}
		return a.create(a.w.Roles[at])
	case "change":
		return a.change(m, a.w.Roles[at])
	case "suspend":
		return a.move(a.g, m.Agent, schemas.Suspend, notInFile)
	case "resume":
		err := a.move(a.g, m.Agent, schemas.Resume, "")
		if err == nil && a.w.Roles[at].Status == schemas.RoleTesting {
			err = a.move(a.g, m.Agent, schemas.RoleTry, "")
		}
		return err
	}
	return nil
}

// create makes a role with its agent.
func (a applying) create(r schemas.Role) error {
	record, err := a.enroll(a.g, a.w, a.w.Owner, r, r.RoleID, mayUse(a.w, r.RoleID), rootDepth)
	if err != nil {
		return err
	}
	return a.insert(a.g, &Member{Role: r, Agent: record.ID}, a.w, cmp.Or(r.Status, schemas.RoleActive))
}

// insert writes a role, lets it read the workspace's group if the policy says so, and moves
// it to the state it begins in.
func (r *Roles) insert(g access.Grant, m *Member, w schemas.Workspace, to schemas.RoleStatus) error {
	tx := g.Tx()
	if _, err := tx.Exec(insertRole, m.Agent, w.Workspace, m.RoleID, encoded(m.Role), schemas.RoleDraft, m.Parent,
		m.Template, g.Actor(), tx.Micros(), 0, endsAt(tx.Micros(), m.TTL)); err != nil {
		if store.IsUnique(err) {
			return schemas.Conflictf("there is a role %s already", m.RoleID).Try("choose other parameters")
		}
		return fmt.Errorf("write role: %w", err)
	}
	if w.Policy.MemoryIsolation == schemas.SharedRead {
		if err := g.AsNode(func(g access.Grant) error {
			return memory.Enter(g, GroupOf(w.Workspace), m.Agent, access.RoleViewer)
		}); err != nil {
			return err
		}
	}
	if err := schedule(g, m); err != nil {
		return err
	}
	if len(w.NodeEvents) > 0 {
		if _, err := tx.Exec(joinStream, w.Workspace, events.EntityStream(m.Agent)); err != nil {
			return fmt.Errorf("read events of the node: %w", err)
		}
	}
	switch to {
	case schemas.RoleTesting:
		return r.move(g, m.Agent, schemas.RoleTry, "")
	case schemas.RoleActive:
		return r.move(g, m.Agent, schemas.Activate, "")
	}
	return changed(g, w.Workspace)
}

// change writes the charter of a role anew, and moves the role where its status says.
func (a applying) change(m *Member, to schemas.Role) error {
	if _, err := a.g.Tx().Exec(updateCharter, encoded(to), endsAt(m.Created, to.TTL), m.Agent); err != nil {
		return fmt.Errorf("write role: %w", err)
	}
	if encoded(m.Schedules) != encoded(to.Schedules) { // else they keep their time
		if err := schedule(a.g, &Member{Role: to, Agent: m.Agent}); err != nil {
			return err
		}
	}
	on, why := map[[2]schemas.RoleStatus]schemas.Trigger{
		{schemas.RoleDraft, schemas.RoleTesting}:  schemas.RoleTry,
		{schemas.RoleDraft, schemas.RoleActive}:   schemas.Activate,
		{schemas.RoleTesting, schemas.RoleActive}: schemas.Activate,
		{schemas.RoleActive, schemas.RoleTesting}: schemas.RoleTry,
		{schemas.RoleTesting, schemas.RoleDraft}:  schemas.Suspend,
		{schemas.RoleActive, schemas.RoleDraft}:   schemas.Suspend,
	}[[2]schemas.RoleStatus{m.Own, cmp.Or(to.Status, schemas.RoleActive)}], ""
	switch {
	case on == "" || m.Status == to.Status: // a person may have moved it since
		return nil
	case on == schemas.Suspend:
		why = draftInFile
	}
	return a.move(a.g, m.Agent, on, why)
}

// Export is a workspace as a file that makes it: without the roles that were spawned.
func (r *Roles) Export(g access.Grant, ref string) ([]byte, error) {
	w, err := r.World(g, ref)
	if err != nil {
		return nil, err
	}
	spec := w.Workspace
	for _, m := range w.Members {
		if m.Parent == "" {
			spec.Roles = append(spec.Roles, m.Role)
		}
	}
	return Format(spec)
}
