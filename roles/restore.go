package roles

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// RestorePlan is what a restore does to roles, so that none acts by an authority that it has not now.
type RestorePlan struct {
	Roles  []SuspendedRole // known to the backup alone: they come back suspended
	Asks   []string        // open questions that are withdrawn
	Places []string        // workspaces that stay as they are now

	kept, ended []stored // roles that stay as they are now; of those the ones that end
	spaces      []space
	hooks       map[string]string // source to workspace, as now
	schedules   []due
	asks        []Ask // open in both, with the one who is asked now and the deadline of now
}

// SuspendedRole is a role that comes back suspended, and why.
type SuspendedRole struct {
	Agent     schemas.EntityID `json:"agent_id"`
	Role      string           `json:"role"`
	Workspace string           `json:"workspace"`
	Reason    string           `json:"reason"`
}

// stored is a role as a database has it.
type stored struct {
	SuspendedRole
	charter, template       string
	parent                  schemas.EntityID
	state                   schemas.RoleStatus
	activated, ended, until int64
}

// space is a workspace as a database has it.
type space struct {
	id, spec string
	owner    schemas.EntityID
}

// due is when a schedule of a role comes next.
type due struct {
	agent   schemas.EntityID
	n, next int64
}

// PlanRestore compares a backup with the database that it replaces. A role that both know stays as
// it is now, with its charter and its workspace, whatever the backup says; one that has ended in
// either has ended. A role that the backup alone knows comes back suspended. A question goes on if it is open here,
// too; it goes to the one who is asked now.
func PlanRestore(present, backup *store.Tx) (r RestorePlan, err error) {
	was, err := allStored(backup)
	if err != nil {
		return r, err
	}
	now, err := allStored(present)
	if err != nil {
		return r, err
	}
	known, kept := map[schemas.EntityID]stored{}, map[schemas.EntityID]bool{}
	for _, n := range now {
		known[n.Agent] = n
	}
	for _, s := range was {
		n, ok := known[s.Agent]
		switch {
		case s.state == schemas.RoleTerminated:
		case !ok && s.state.Acts():
			s.Reason = restored
			r.Roles = append(r.Roles, s.SuspendedRole)
		case ok && n != s:
			r.kept, kept[n.Agent] = append(r.kept, n), true
			if n.state == schemas.RoleTerminated {
				r.ended = append(r.ended, n)
			}
		}
	}
	if len(kept) > 0 {
		all, err := allDue(present)
		if err != nil {
			return r, err
		}
		for _, d := range all {
			if kept[d.agent] {
				r.schedules = append(r.schedules, d)
			}
		}
	}
	if err := r.places(present, backup); err != nil {
		return r, err
	}
	return r, r.questions(present, backup)
}

// places plans the workspaces that both databases know and that are others now.
func (r *RestorePlan) places(present, backup *store.Tx) error {
	was, err := allSpaces(backup)
	if err != nil {
		return err
	}
	now, err := allSpaces(present)
	if err != nil {
		return err
	}
	for _, n := range now {
		if slices.ContainsFunc(was, func(s space) bool { return s.id == n.id && s != n }) {
			r.spaces, r.Places = append(r.spaces, n), append(r.Places, n.id)
		}
	}
	if len(now) > 0 {
		r.hooks, err = hooksOf(present)
	}
	return err
}

// questions plans the open questions of the backup.
func (r *RestorePlan) questions(present, backup *store.Tx) error {
	now, err := openAsks(present)
	if err != nil {
		return err
	}
	was, err := openAsks(backup)
	if err != nil {
		return err
	}
	open := map[string]Ask{}
	for _, a := range now {
		open[a.ID] = a
	}
	for _, a := range was {
		n, ok := open[a.ID]
		moved := a
		moved.Asked, moved.Deadline = n.Asked, n.Deadline
		switch {
		case !ok || encoded(moved) != encoded(n) || a.decision != n.decision || a.data != n.data:
			r.Asks = append(r.Asks, a.ID)
		case a.Asked != n.Asked || a.Deadline != n.Deadline:
			r.asks = append(r.asks, n)
		}
	}
	return nil
}

// listed reads all rows that a query gives, none from a database without the table.
func listed[V any](tx *store.Tx, table, query string, scan func(*sql.Rows) (V, error)) ([]V, error) {
	if has, err := tx.HasTable(table); err != nil || !has {
		return nil, err
	}
	rows, err := tx.Query(query)
	list, err := store.Collect(rows, err, scan)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	return list, nil
}

// allStored lists all roles of a database, none of one from before there were roles.
func allStored(tx *store.Tx) ([]stored, error) {
	return listed(tx, "roles", selectStored, func(r *sql.Rows) (s stored, err error) {
		return s, r.Scan(&s.Agent, &s.Role, &s.Workspace, &s.Reason, &s.charter, &s.state, &s.parent, &s.template,
			&s.activated, &s.ended, &s.until)
	})
}

func allSpaces(tx *store.Tx) ([]space, error) {
	return listed(tx, "workspaces", selectSpaces, func(r *sql.Rows) (s space, err error) {
		return s, r.Scan(&s.id, &s.owner, &s.spec)
	})
}

func allDue(tx *store.Tx) ([]due, error) {
	return listed(tx, "role_schedules", selectAllDue, func(r *sql.Rows) (d due, err error) {
		return d, r.Scan(&d.agent, &d.n, &d.next)
	})
}

func openAsks(tx *store.Tx) ([]Ask, error) {
	return listed(tx, "role_asks", selectOpenAsks, func(r *sql.Rows) (Ask, error) { return scanAsk(r) })
}

// hooksOf gives the workspace of each webhook in a database.
func hooksOf(tx *store.Tx) (map[string]string, error) {
	out := map[string]string{}
	_, err := listed(tx, "role_hooks", selectSources, func(r *sql.Rows) (source string, err error) {
		var workspace string
		err = r.Scan(&source, &workspace)
		out[source] = workspace
		return source, err
	})
	return out, err
}

// Kept says of each role what stays as it is now, in words.
func (r RestorePlan) Kept() map[schemas.EntityID]string {
	out := map[schemas.EntityID]string{}
	for _, s := range r.kept {
		out[s.Agent] = "role " + string(s.state)
	}
	return out
}

// Restore makes the roles of a restored database what they are to be. It is for the node.
func (r RestorePlan) Restore(g access.Grant) error {
	for _, one := range r.Roles {
		if _, err := g.Tx().Exec(suspendRestored, one.Reason, one.Agent); err != nil {
			return fmt.Errorf("suspend roles: %w", err)
		}
	}
	if err := r.keepRoles(g); err != nil {
		return err
	}
	if err := r.keepSpaces(g); err != nil {
		return err
	}
	for _, id := range r.Asks {
		if _, err := g.Tx().Exec(withdrawRestored, restored, id); err != nil {
			return fmt.Errorf("withdraw what was asked: %w", err)
		}
	}
	for _, a := range r.asks {
		if _, err := g.Tx().Exec(moveAsk, a.Asked, a.Deadline, a.Then, a.ID); err != nil {
			return fmt.Errorf("keep what was asked: %w", err)
		}
	}
	if _, err := g.Tx().Exec(touchRestored); err != nil {
		return fmt.Errorf("change workspaces: %w", err)
	}
	return nil
}

// keepRoles writes the roles that stay as they are now, with what belongs to the end of one.
func (r RestorePlan) keepRoles(g access.Grant) error {
	for _, s := range r.kept {
		if _, err := g.Tx().Exec(keepRole, s.charter, s.state, s.parent, s.template, s.activated, s.ended, s.until,
			s.Reason, s.Agent); err != nil {
			return fmt.Errorf("keep role: %w", err)
		}
		if _, err := g.Tx().Exec(dropSchedules, s.Agent); err != nil {
			return fmt.Errorf("keep schedules: %w", err)
		}
		if err := g.Audit("role/"+string(s.Agent), map[string]any{"carried": true, "state": s.state,
			"reason": s.Reason}); err != nil {
			return err
		}
	}
	for _, d := range r.schedules {
		if _, err := g.Tx().Exec(insertSchedule, d.agent, d.n, d.next); err != nil {
			return fmt.Errorf("keep schedules: %w", err)
		}
	}
	for _, s := range r.ended {
		if err := new(Roles).closeWork(g, s.Agent); err != nil {
			return err
		}
	}
	return nil
}

// keepSpaces writes the workspaces that stay as they are now, with their webhooks.
func (r RestorePlan) keepSpaces(g access.Grant) error {
	for _, s := range r.spaces {
		if _, err := g.Tx().Exec(keepSpace, s.spec, s.owner, s.id); err != nil {
			return fmt.Errorf("keep workspace: %w", err)
		}
		if _, err := g.Tx().Exec(dropHooks, s.id); err != nil {
			return fmt.Errorf("keep webhooks: %w", err)
		}
		w, err := read(g.Tx(), s.id)
		if err == nil {
			err = w.streams(g)
		}
		if err == nil {
			err = g.Audit("workspace/"+s.id, map[string]any{"carried": true})
		}
		if err != nil {
			return err
		}
	}
	for _, source := range slices.Sorted(maps.Keys(r.hooks)) {
		if _, err := g.Tx().Exec(keepHook, source, r.hooks[source]); err != nil {
			return fmt.Errorf("keep webhooks: %w", err)
		}
	}
	return nil
}

// Inspection is what a database tells of roles to who examines it.
type Inspection struct {
	Sources  []string // webhooks of all workspaces
	Restored []string // roles that a restore suspended
}

// Inspect reads it; a database from before there were roles tells nothing.
func Inspect(tx *store.Tx) (i Inspection, err error) {
	if i.Sources, err = Sources(tx); err != nil {
		return i, err
	}
	list, err := allStored(tx)
	for _, s := range list {
		if s.state == schemas.RoleSuspended && s.Reason == restored {
			i.Restored = append(i.Restored, s.Role+" of "+s.Workspace)
		}
	}
	return i, err
}

// Sources lists the webhooks of all workspaces in a database.
func Sources(tx *store.Tx) ([]string, error) {
	hooks, err := hooksOf(tx)
	return slices.Sorted(maps.Keys(hooks)), err
}
