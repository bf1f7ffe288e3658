package roles

import (
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Move carries a role along an edge for the owner or another ancestor, and gives the state it has
// then. CodeConflict where the table has no such edge, or where it is to act and its agent has
// ended.
func (r *Roles) Move(g access.Grant, workspace, ref string, on schemas.Trigger, reason string) (schemas.RoleStatus,
	error) {
	w, err := r.worldOf(g, workspace, ref)
	if err != nil {
		return "", err
	}
	m, err := w.role(ref)
	if err != nil {
		return "", err
	}
	above, err := g.Holds(m.Agent)
	if err != nil {
		return "", err
	}
	if !above || m.Agent == g.Actor() {
		return "", schemas.Deniedf("only the owner, or who stands above %s, does this", m.RoleID).
			Try("ask the owner: cordelia role %s %s", on, m.RoleID)
	}
	e, _ := schemas.NextRole(m.Own, on)
	switch {
	case !e.To.Acts():
	case m.AgentIs == schemas.Deactivated:
		return "", schemas.Conflictf("%s would not act: its agent is deactivated", m.RoleID).
			Try("first: cordelia agent reactivate %s", m.RoleID)
	case m.AgentIs == schemas.Removed:
		return "", schemas.Conflictf("%s would not act: %s", m.RoleID, agentRemoved).
			Try("end it: cordelia role terminate %s; then make it again", m.RoleID)
	}
	if err := r.move(g, m.Agent, on, reason); err != nil {
		return "", err
	}
	after, err := read(g.Tx(), w.Workspace.Workspace)
	if err != nil {
		return "", err
	}
	if m := after.byAgent[m.Agent]; m != nil {
		return m.State, nil
	}
	return schemas.RoleTerminated, nil
}

// move carries a role, and the agent behind it, along an edge (INV-ROLE-EDGE), and does what
// belongs to its end.
func (r *Roles) move(g access.Grant, agent schemas.EntityID, on schemas.Trigger, reason string) error {
	var workspace, charter string
	var state schemas.RoleStatus
	var activated int64
	var parent schemas.EntityID
	if err := g.Tx().QueryRow(selectState, agent).Scan(&workspace, &state, &activated, &charter, &parent); err != nil {
		return fmt.Errorf("read role: %w", err)
	}
	var role schemas.Role
	if err := json.Unmarshal([]byte(charter), &role); err != nil {
		return fmt.Errorf("role %s: %w", agent, err)
	}
	e, ok := schemas.NextRole(state, on)
	if !ok {
		return schemas.Conflictf("%s is %s; %s does not apply to it", role.RoleID, state, on).
			Try("%s shows it", schemas.Tool("role_list", "role", role.RoleID))
	}
	now, ended := g.Tx().Micros(), int64(0)
	if e.To == schemas.RoleActive && activated == 0 {
		activated = now
	}
	if e.To == schemas.RoleTerminated {
		ended = now
		if err := r.end(g, workspace, role, agent, parent); err != nil {
			return err
		}
	}
	if _, err := g.Tx().Exec(updateRole, e.To, activated, ended, reason, agent); err != nil {
		return fmt.Errorf("change role: %w", err)
	}
	if e.Agent != "" {
		if err := r.agents.Move(g, agent, e.Agent, reason); err != nil {
			return err
		}
	}
	if err := changed(g, workspace); err != nil {
		return err
	}
	return g.Audit("role/"+string(agent), map[string]any{"on": on, "from": state, "to": e.To, "reason": reason})
}

// parentEnded is why roles end whose parent did.
const parentEnded = "parent_terminated"

// end does what belongs to the end of a role: those below it end, what it asked waits no
// more, what is open of its work ends, and its memory goes where its policy says.
func (r *Roles) end(g access.Grant, workspace string, role schemas.Role, agent, parent schemas.EntityID) error {
	w, err := r.load(g, workspace)
	if err != nil {
		return err
	}
	for _, child := range w.Members {
		if child.Parent == agent && child.State != schemas.RoleTerminated {
			if err := r.move(g, child.Agent, schemas.RoleTerminate, parentEnded); err != nil {
				return err
			}
		}
	}
	asks, err := idsOf(g, selectAsksOf, agent)
	if err != nil {
		return err
	}
	for _, id := range asks {
		if _, err := g.Tx().Exec(decideAsk, schemas.ReviewWithdrawn, access.NodeEntity, g.Tx().Micros(),
			"the role ended", id); err != nil {
			return fmt.Errorf("withdraw what was asked: %w", err)
		}
	}
	if err := r.closeWork(g, agent); err != nil {
		return err
	}
	if _, err := g.Tx().Exec(dropSchedules, agent); err != nil {
		return fmt.Errorf("end schedules: %w", err)
	}
	return r.leaveMemory(g, w, role, agent, parent)
}

func idsOf(g access.Grant, query string, args ...any) ([]string, error) {
	rows, err := g.Tx().Query(query, args...)
	ids, err := store.Collect(rows, err, store.Column[string])
	if err != nil {
		return nil, fmt.Errorf("read ids: %w", err)
	}
	return ids, nil
}
