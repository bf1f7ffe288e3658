package memory

import (
	"database/sql"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// quarantineRow is one scope of a reader in which an agent is hidden.
type quarantineRow struct {
	quarantine int64
	agent      schemas.EntityID
	scope      int64
}

// quarantines lists which agents are hidden where among scopes.
func quarantines(tx querier, scopes []int64) ([]quarantineRow, error) {
	rows, err := tx.Query(selectHidings, store.List(scopes))
	found, err := store.Collect(rows, err, func(r *sql.Rows) (h quarantineRow, err error) {
		return h, r.Scan(&h.quarantine, &h.agent, &h.scope)
	})
	if err != nil {
		return nil, fmt.Errorf("read quarantines: %w", err)
	}
	return found, nil
}

// within is a read scope of one scope with its quarantines, for decisions that depend on a
// place and not on a reader.
func within(tx querier, scope int64) (r readScope, err error) {
	r.quarantines, err = quarantines(tx, []int64{scope})
	return r, err
}

// hiddenThere lists the agents that are hidden in the scopes of r.
func (r readScope) hiddenThere() (agents []schemas.EntityID) {
	for _, h := range r.quarantines {
		agents = append(agents, h.agent)
	}
	return agents
}

// hiddenOf is hiddenAmong for rows.
func (r readScope) hiddenOf(tx querier, rows []row) (map[int64]bool, error) {
	ns := make([]int64, len(rows))
	for i := range rows {
		ns[i] = rows[i].n
	}
	return r.hiddenAmong(tx, ns)
}

// hides reports whether what any of writers writes into scope is hidden.
func (r readScope) hides(scope int64, writers ...schemas.EntityID) bool {
	for _, h := range r.quarantines {
		if h.scope == scope && slices.Contains(writers, h.agent) {
			return true
		}
	}
	return false
}

// hiddenAmong tells which of the items are hidden with their author, or with that of something
// they are derived from (INV-HIDDEN). Without a quarantine it makes no query.
func (r readScope) hiddenAmong(tx querier, ns []int64) (map[int64]bool, error) {
	if len(r.quarantines) == 0 || len(ns) == 0 {
		return nil, nil
	}
	hidden, err := idSet(tx.Query(selectHidden, store.List(ns), r.hidingList()))
	if err != nil {
		return nil, fmt.Errorf("read quarantines: %w", err)
	}
	return hidden, nil
}

// idSet is the set of the items, by number, that a query gives.
func idSet(rows *sql.Rows, err error) (map[int64]bool, error) {
	found, err := store.Collect(rows, err, store.Column[int64])
	if err != nil {
		return nil, err
	}
	set := make(map[int64]bool, len(found))
	for _, n := range found {
		set[n] = true
	}
	return set, nil
}

// hidingList gives the quarantines of r to isHidden.
func (r readScope) hidingList() string {
	list := make([][3]any, len(r.quarantines))
	for i, h := range r.quarantines {
		list[i] = [3]any{h.agent, h.scope, h.quarantine}
	}
	return store.List(list)
}

// weighStanding finds of docs which are hidden from the reader, and which are
// superseded by what is not, at the time the search is about.
func (p *plan) weighStanding(tx querier, docs []*doc) error {
	if len(docs) == 0 {
		return nil
	}
	at := p.now
	if p.asOf != 0 {
		at = p.asOf
	}
	ns, rows := make([]int64, len(docs)), make([]*row, len(docs))
	for i, d := range docs {
		ns[i], rows[i] = d.n, &d.row
	}
	if err := p.see.resolve(tx, rows, at); err != nil {
		return err
	}
	hidden, err := p.see.hiddenAmong(tx, ns)
	for _, d := range docs {
		d.hidden = hidden[d.n]
	}
	return err
}

// hiddenAuthors is the full-text query for what the hidden among authors wrote, "" if none is:
// a search leaves it out within the index, so that a flood of it does not push out items of
// other authors. Nil stands for every author.
func (r readScope) hiddenAuthors(only func(schemas.EntityID) bool) string {
	query := ""
	for _, h := range r.quarantines {
		if only == nil || only(h.agent) {
			if query != "" {
				query += " OR "
			}
			query += audiencesOf([]int64{h.scope}, false).match(entry(metaEntry, authorToken(h.agent)))
		}
	}
	return query
}

// Quarantine is an agent being hidden.
type Quarantine struct {
	Agent schemas.EntityID
	Items int  // that are hidden now, or show again, in the places of the entity that decided
	Moved bool // false if it was so already
}

// Hide hides everything that an agent and the agents below it wrote and write, or that
// was derived from it, in the places of the actor and of all below it,
// until Unhide. It may be done by
// those above the agent, and by a person for their own places. No item changes.
//
// Errors: CodeNotFound for an agent the actor cannot name, CodeDenied for others.
func Hide(g access.Grant, ref, reason string) (Quarantine, error) {
	agent, err := quarantinable(g, ref, "quarantine")
	if err != nil {
		return Quarantine{}, err
	}
	out := Quarantine{Agent: agent}
	tx := g.Tx()
	var n int64
	err = tx.QueryRow(insertQuarantine, agent, g.Actor(), oneLine(reason, maxLine), tx.Micros()).Scan(&n)
	switch {
	case err == nil:
		out.Moved = true
		if _, err := tx.Exec(insertDerived, agent, n); err != nil {
			return out, fmt.Errorf("follow what was derived: %w", err)
		}
	case err == store.ErrNoRows:
		if err := tx.QueryRow(selectQuarantine, agent, g.Actor()).Scan(&n); err != nil {
			return out, fmt.Errorf("read quarantine: %w", err)
		}
	default:
		return out, fmt.Errorf("write quarantine: %w", err)
	}
	if err := tx.QueryRow(countHidden, n).Scan(&out.Items); err != nil || !out.Moved {
		return out, err
	}
	if err := g.Audit("entity/"+string(agent), map[string]any{"hidden": true, "reason": oneLine(reason, maxLine),
		"items": out.Items}); err != nil {
		return out, err
	}
	return out, g.RightsChanged()
}

// Unhide ends the quarantines of an agent by the actor or by a descendant of it: what they hid
// shows again, and nothing else.
func Unhide(g access.Grant, ref string) (Quarantine, error) {
	agent, err := quarantinable(g, ref, "lift")
	if err != nil {
		return Quarantine{}, err
	}
	out := Quarantine{Agent: agent}
	tx := g.Tx()
	type decided struct {
		n  int64
		by schemas.EntityID
	}
	rows, err := tx.Query(selectQuarantines, agent)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (d decided, err error) { return d, r.Scan(&d.n, &d.by) })
	if err != nil {
		return out, fmt.Errorf("read quarantines: %w", err)
	}
	for _, d := range list {
		may, err := g.Holds(d.by)
		if err != nil {
			return out, err
		}
		if !may {
			continue
		}
		var items int
		if err := tx.QueryRow(countHidden, d.n).Scan(&items); err != nil {
			return out, fmt.Errorf("count hidden items: %w", err)
		}
		if _, err := tx.Exec(dropDerived, d.n); err != nil {
			return out, fmt.Errorf("lift quarantine: %w", err)
		}
		if _, err := tx.Exec(liftQuarantine, tx.Micros(), g.Actor(), d.n); err != nil {
			return out, fmt.Errorf("lift quarantine: %w", err)
		}
		out.Items, out.Moved = out.Items+items, true
	}
	if !out.Moved {
		return out, nil
	}
	if err := g.Audit("entity/"+string(agent), map[string]any{"hidden": false, "items": out.Items}); err != nil {
		return out, err
	}
	return out, g.RightsChanged()
}

// quarantinable resolves an agent that the actor may hide in its places.
func quarantinable(g access.Grant, ref, command string) (schemas.EntityID, error) {
	if g.Tx() == nil {
		return "", access.ErrNoGrant
	}
	id, err := g.Resolve(ref)
	if err != nil {
		// Who left a person's groups left items behind, and can be named by them.
		var wrote bool
		if !g.IsHuman() || !schemas.IsAgentID(ref) {
			return "", err
		}
		if bad := g.Tx().QueryRow(selectWroteHere, ref, g.Actor()).Scan(&wrote); bad != nil || !wrote {
			return "", err
		}
		return schemas.EntityID(ref), nil
	}
	if !schemas.IsAgentID(string(id)) {
		return "", schemas.Invalidf("%s is a person; only what agents write is hidden",
			ref).Try("name an agent; %s shows those below you", schemas.Tool("agent_list"))
	}
	above, err := g.Holds(id)
	if err != nil {
		return "", err
	}
	if id == g.Actor() || !above && !g.IsHuman() {
		return "", schemas.Deniedf("%s is not below you", ref).
			Try("ask the user to run: cordelia trust %s %s", command, ref)
	}
	return id, nil
}
