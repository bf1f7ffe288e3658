package roles

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/schemas"
)

// does is the line that shows what an approval has done.
func (w *World) does(d Decision, e Event) string {
	return "approved, it does: " + oneLine(fill(w.recipe(d, e).Intent, d.Trigger, e))
}

// recipe is what a decision leads to, if it is approved.
func (w *World) recipe(d Decision, e Event) schemas.Recipe {
	if d.Operator == directive {
		if d.Trigger != spawnAction {
			return schemas.Recipe{Intent: "{action} for {type}"}
		}
		return schemas.Recipe{Intent: spawnIntent(e.Payload)}
	}
	return w.Workspace.Operators[d.Operator].Does
}

// changedSince says why what a role asked for may not be done any more, "" if it may.
func (w *World) changedSince(m *Member, a Ask, d Decision, e Event) string {
	level, why := authorityOn(m.Authority, d.Trigger, e.Type)
	_, declared := w.Workspace.Operators[d.Operator]
	switch {
	case level == forbidden:
		return why
	case d.Operator != directive && !declared:
		return "operator " + d.Operator + " is not declared any more"
	case d.Operator != directive && !slices.Contains(m.OperatorIDs, d.Operator):
		return "operator " + d.Operator + " is not its own any more"
	case !slices.Contains(a.Shows, w.does(d, e)):
		return "it would do something else than is shown here"
	}
	return ""
}

// approved has done what a role asked for. The role must still act.
func (r *Roles) approved(g access.Grant, w *World, a Ask) (string, error) {
	var event int64
	var agent schemas.EntityID
	var text, eventText string
	if err := g.Tx().QueryRow(selectDecision, a.decision).Scan(&event, &agent, &text); err != nil {
		return "", fmt.Errorf("read decision: %w", err)
	}
	if err := g.Tx().QueryRow(selectEvent, event).Scan(&eventText); err != nil {
		return "", fmt.Errorf("read event: %w", err)
	}
	var d Decision
	var e Event
	if err := errors.Join(json.Unmarshal([]byte(text), &d), json.Unmarshal([]byte(eventText), &e)); err != nil {
		return "", fmt.Errorf("read decision: %w", err)
	}
	m := w.byAgent[agent]
	if m == nil || m.State != schemas.RoleActive {
		return "", schemas.Conflictf("the role that asked is not active now").
			Try("resume it first: cordelia role resume %s; or reject this", d.Role)
	}
	if why := w.changedSince(m, a, d, e); why != "" {
		return "", schemas.Conflictf("the file changed since %s asked: %s", m.RoleID, why).
			Try("reject this; what the event calls for now is decided when it comes again")
	}
	known, failed := r.known(g, w, e)
	why := m.over(known.Used(m))
	if err := failed(); err != nil {
		return "", err
	}
	if why != "" {
		return "", schemas.Conflictf("%s", why).
			Try("approve it tomorrow (UTC), or raise budget in the file first: cordelia role apply FILE")
	}
	var out Decided
	err := g.AsNode(func(g access.Grant) error { return r.delegate(g, w, m, e, event, a.decision, d, &out) })
	if err != nil {
		return "", err
	}
	if out.TaskID != "" {
		return "task " + schemas.ShortID(out.TaskID) + " is begun", nil
	}
	return "work " + schemas.ShortID(out.WorkID) + " is ready for " + d.Role, nil
}
