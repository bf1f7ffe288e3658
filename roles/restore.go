package roles

import (
	"database/sql"
	"fmt"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Resting is what a restore takes from roles, so that none acts by an authority that it has not now.
type Resting struct {
	Roles []Rested
	Asks  []string // questions that are withdrawn
}

// Rested is a role that comes back suspended, and why.
type Rested struct {
	Agent     schemas.EntityID `json:"agent_id"`
	Role      string           `json:"role"`
	Workspace string           `json:"workspace"`
	Reason    string           `json:"reason"`
}

// ended is why a role rests that had ended when a backup from before was restored.
const ended = "it had ended before a backup of earlier was restored"

// stored is a role as a database has it, with the file of its workspace.
type stored struct {
	Rested
	charter, spec string
	state         schemas.RoleStatus
}

// RestingAfter compares a backup with the database that it replaces. A role goes on only where its
// state, its charter and its workspace are now what they were then: what differs may have been
// taken back since. A question goes on if it is open here, too, and its role goes on.
func RestingAfter(present, backup *store.Tx) (r Resting, err error) {
	was, err := allStored(backup)
	if err != nil {
		return r, err
	}
	now, err := allStored(present)
	if err != nil {
		return r, err
	}
	known, rests := map[schemas.EntityID]stored{}, map[schemas.EntityID]bool{}
	for _, s := range now {
		known[s.Agent] = s
	}
	for _, s := range was {
		n, ok := known[s.Agent]
		switch {
		case !s.state.Acts():
			continue
		case !ok:
			s.Reason = restored
		case n.state == schemas.RoleTerminated:
			s.Reason = ended
		case n.state == schemas.RoleSuspended:
			s.Reason = n.Reason
		case n.state != s.state && s.state != schemas.RoleTesting, n.charter != s.charter, n.spec != s.spec:
			s.Reason = restored
		default:
			continue
		}
		rests[s.Agent] = true
		r.Roles = append(r.Roles, s.Rested)
	}
	r.Asks, err = closedAsks(present, backup, rests)
	return r, err
}

// allStored lists all roles of a database, none of one from before there were roles.
func allStored(tx *store.Tx) ([]stored, error) {
	if has, err := tx.HasTable("roles"); err != nil || !has {
		return nil, err
	}
	rows, err := tx.Query(selectStored)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (s stored, err error) {
		return s, r.Scan(&s.Agent, &s.Role, &s.Workspace, &s.Reason, &s.charter, &s.spec, &s.state)
	})
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	return list, nil
}

// closedAsks lists the open questions of a backup that are open no more, or whose role rests.
func closedAsks(present, backup *store.Tx, rests map[schemas.EntityID]bool) (closed []string, err error) {
	open := map[string]bool{}
	for _, tx := range []*store.Tx{present, backup} {
		if has, err := tx.HasTable("role_asks"); err != nil {
			return nil, err
		} else if !has {
			continue
		}
		rows, err := tx.Query(selectOpenAsks)
		if _, err = store.Collect(rows, err, func(r *sql.Rows) (id string, err error) {
			var agent schemas.EntityID
			if err = r.Scan(&id, &agent); err == nil && tx == present {
				open[id] = true
			} else if err == nil && (!open[id] || rests[agent]) {
				closed = append(closed, id)
			}
			return id, err
		}); err != nil {
			return nil, fmt.Errorf("read what is asked: %w", err)
		}
	}
	return closed, nil
}

// Restore puts what rests to rest in a restored database.
func (r Resting) Restore(tx *store.Tx) error {
	for _, one := range r.Roles {
		if _, err := tx.Exec(suspendRestored, one.Reason, one.Agent); err != nil {
			return fmt.Errorf("suspend roles: %w", err)
		}
	}
	for _, id := range r.Asks {
		if _, err := tx.Exec(withdrawRestored, restored, id); err != nil {
			return fmt.Errorf("withdraw what was asked: %w", err)
		}
	}
	if _, err := tx.Exec(touchRestored); err != nil {
		return fmt.Errorf("change workspaces: %w", err)
	}
	return nil
}

// Inspection is what a database tells of roles to who examines it.
type Inspection struct {
	Sources  []string // webhooks of all workspaces
	Restored []string // roles that rest since a restore
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
	if has, err := tx.HasTable("role_hooks"); err != nil || !has {
		return nil, err
	}
	rows, err := tx.Query(selectSources)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (s string, err error) { return s, r.Scan(&s) })
	if err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	return list, nil
}
