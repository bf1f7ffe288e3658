package work

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// class is an eligibility class: it decides which agents may take an item.
type class struct {
	pool     string // g/ who writes to a group, r/ who reads one, e/ an entity with all below it
	role     string
	assigned schemas.EntityID // "" = any agent of the pool
	needs    string           // JSON list of tools, in order
	excluded string           // JSON list of entities, in order
}

func (l *class) dest() []any { return []any{&l.pool, &l.role, &l.assigned, &l.needs, &l.excluded} }

// number finds the class's number, making it if it is new.
func (l *class) number(g access.Grant) (n int64, err error) {
	err = g.Tx().QueryRow(findClass, l.pool, l.role, l.assigned, l.needs, l.excluded).Scan(&n)
	if errors.Is(err, store.ErrNoRows) {
		err = g.Tx().QueryRow(insertClass, l.pool, l.role, l.assigned, l.needs, l.excluded).Scan(&n)
	}
	if err != nil {
		return 0, fmt.Errorf("find eligibility class: %w", err)
	}
	return n, nil
}

func groupPool(id schemas.GroupID) string   { return "g/" + string(id) }
func readerPool(id schemas.GroupID) string  { return "r/" + string(id) }
func entityPool(id schemas.EntityID) string { return "e/" + string(id) }

// requires gives the rights to memory that a lease of the class requires.
func (l class) requires() []access.Need {
	kind, group := l.pool[:1], schemas.GroupID(l.pool[2:])
	switch kind {
	case "g":
		return []access.Need{{Kind: access.KindWrite, Layer: schemas.L2, Visibility: schemas.Group, Group: group}}
	case "r":
		return []access.Need{{Kind: access.KindRead, Layer: schemas.L2, Visibility: schemas.Group, Group: group}}
	}
	return nil
}

// inOrder is a set as classes hold it.
func inOrder[S ~string](set []S) string {
	sorted := slices.Clone(set)
	slices.Sort(sorted)
	return store.List(slices.Compact(sorted))
}

// Wanted is what a claim asks for; empty fields do not restrict.
type Wanted struct {
	Role  string
	Work  string          // one item, by its id
	Task  string          // items of one task
	Group schemas.GroupID // items offered in one group
	Swarm schemas.GroupID // items offered in one swarm, in any of its groups
	Near  schemas.GroupID // items offered in this group come first; no restriction
	Own   bool            // only what was posted for the actor itself
	Apart Apart
}

// Apart leaves groups out of a claim: those whose name begins with Prefix, but for one. The
// zero value leaves out none.
type Apart struct {
	Prefix string
	But    schemas.GroupID
}

func (a Apart) leavesOut(id schemas.GroupID) bool {
	return a.Prefix != "" && strings.HasPrefix(string(id), a.Prefix) && id != a.But
}

// Any reports whether the caller named no item, task, group or swarm.
func (w Wanted) Any() bool { return w == Wanted{Role: w.Role, Near: w.Near, Apart: w.Apart} }

// groups are those the claim is limited to; all = true if to none.
func (w Wanted) groups(g access.Grant) (only []schemas.GroupID, all bool, err error) {
	if w.Swarm == "" {
		return []schemas.GroupID{w.Group}, w.Group == "", nil
	}
	rows, err := g.Tx().Query(selectSwarmGroups, w.Swarm)
	only, err = store.Collect(rows, err, store.Column[schemas.GroupID])
	if err != nil {
		return nil, false, fmt.Errorf("read groups of a swarm: %w", err)
	}
	if w.Group != "" {
		only = slices.DeleteFunc(only, func(id schemas.GroupID) bool { return id != w.Group })
	}
	return only, false, nil
}

// poolsOf lists the pools the actor may take such work from.
func poolsOf(g access.Grant, w Wanted) ([]string, error) {
	if w.Own {
		return []string{entityPool(g.Actor())}, nil
	}
	writable, err := g.WritableGroups()
	if err != nil {
		return nil, err
	}
	scope, err := g.ReadScope()
	if err != nil {
		return nil, err
	}
	only, all, err := w.groups(g)
	if err != nil {
		return nil, err
	}
	var pools []string
	for _, id := range writable {
		if (all || slices.Contains(only, id)) && !w.Apart.leavesOut(id) {
			pools = append(pools, groupPool(id))
		}
	}
	for _, id := range scope.Groups {
		if (all || slices.Contains(only, id)) && !w.Apart.leavesOut(id) {
			pools = append(pools, readerPool(id))
		}
	}
	for _, link := range g.Chain() {
		if all {
			pools = append(pools, entityPool(link.ID))
		}
	}
	return pools, nil
}

// classesOf lists the classes the actor may take such work from, as a JSON list: all, or
// those of which an item is ready.
func classesOf(g access.Grant, w Wanted, ready bool) (string, error) {
	pools, err := poolsOf(g, w)
	if err != nil {
		return "", err
	}
	chain := g.Chain()
	type candidate struct {
		n               int64
		needs, excluded string
	}
	rows, err := g.Tx().Query(selectClasses, store.List(pools), g.Actor(), w.Role, ready)
	all, err := store.Collect(rows, err, func(r *sql.Rows) (c candidate, err error) {
		return c, r.Scan(&c.n, &c.needs, &c.excluded)
	})
	if err != nil {
		return "", fmt.Errorf("read eligibility classes: %w", err)
	}
	open := []int64{}
	for _, c := range all {
		ok, err := eligible(g, chain, c.needs, c.excluded)
		if err != nil {
			return "", err
		}
		if ok {
			open = append(open, c.n)
		}
	}
	text, err := json.Marshal(open)
	return string(text), err
}

// eligible reports whether the actor has the tools and is unrelated to the agents excluded.
func eligible(g access.Grant, chain []access.ChainLink, needs, excluded string) (bool, error) {
	if needs == "[]" && excluded == "[]" {
		return true, nil
	}
	tools, err := list[string](needs)
	if err != nil {
		return false, err
	}
	for _, tool := range tools {
		if len(access.Evaluate(chain, access.Operation{Tool: tool}, g.Tx().Micros())) > 0 {
			return false, nil
		}
	}
	related, err := list[schemas.EntityID](excluded)
	if err != nil {
		return false, err
	}
	return unrelated(g, g.Actor(), related)
}

// unrelated reports whether the entity is none of others, and neither above nor below one of them.
func unrelated(g access.Grant, who schemas.EntityID, others []schemas.EntityID) (bool, error) {
	for _, other := range others {
		if near, err := g.OneLine(who, other); err != nil || near {
			return false, err
		}
	}
	return true, nil
}

func list[S ~string](text string) (l []S, err error) {
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return nil, fmt.Errorf("read eligibility class: %w", err)
	}
	return l, nil
}
