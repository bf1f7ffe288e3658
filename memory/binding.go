package memory

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Binding binds a folder, and all below it, to a group: what a person or the
// agents below them write there goes to the group unless they say otherwise, and
// its items come first in their searches.
type Binding struct {
	Dir    string          `json:"dir"` // absolute, links resolved, / between names
	Group  schemas.GroupID `json:"group"`
	MadeAt string          `json:"made_at"`
}

// Bind binds dir, a canonical path, in the actor's tree. It replaces what dir was
// bound to. Errors: CodeNotFound for a group the actor does not see.
func Bind(g access.Grant, dir string, group schemas.GroupID) (Binding, error) {
	if g.Tx() == nil {
		return Binding{}, access.ErrNoGrant
	}
	if _, err := ReadGroup(g, group); err != nil {
		return Binding{}, err
	}
	now := g.Tx().Micros()
	if _, err := g.Tx().Exec(upsertBinding, g.Root(), dir, group, now); err != nil {
		return Binding{}, fmt.Errorf("bind folder: %w", err)
	}
	// No right changes, but where those below write: what they know of it is void.
	if err := g.RightsChanged(); err != nil {
		return Binding{}, err
	}
	return Binding{Dir: dir, Group: group, MadeAt: events.Timestamp(now)},
		g.Audit("group/"+string(group), map[string]any{"bound": dir})
}

// Unbind ends the binding of dir. Errors: CodeNotFound if dir itself has none.
func Unbind(g access.Grant, dir string) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	n, err := g.Tx().Exec(deleteBinding, g.Root(), dir)
	if err != nil {
		return fmt.Errorf("unbind folder: %w", err)
	}
	if n == 0 {
		return schemas.NotFoundf("%s is not bound", oneLine(dir,
			maxTitle)).Try("cordelia memory bindings lists the folders that are")
	}
	if err := g.RightsChanged(); err != nil {
		return err
	}
	return g.Audit("node", map[string]any{"unbound": dir})
}

// Bindings lists what is bound in the actor's tree.
func Bindings(g access.Grant) ([]Binding, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	rows, err := g.Tx().Query(selectBindings, g.Root())
	list, err := store.Collect(rows, err, func(r *sql.Rows) (b Binding, err error) {
		var made int64
		err = r.Scan(&b.Dir, &b.Group, &made)
		b.MadeAt = events.Timestamp(made)
		return b, err
	})
	if err != nil {
		return nil, fmt.Errorf("read bindings: %w", err)
	}
	return list, nil
}

// Facts of an actor: the group that its folder is bound to, and where it writes in the swarm
// it was made for.
var (
	boundTo     access.Fact[string, schemas.GroupID]
	swarmPlaces access.Fact[struct{}, schemas.GroupID]
)

// BoundGroup is the group whose work the actor is doing, "" if none: where it
// writes in the swarm it was made for, else what dir, a canonical path or "", is
// bound to; the longest binding above dir counts. If the actor may not read that
// group there is none, and not the next longest either: what is written in a
// closed part of a folder must not go to the readers of the rest.
func BoundGroup(g access.Grant, dir string) (schemas.GroupID, error) {
	if g.Tx() == nil {
		return "", nil
	}
	group, err := swarmPlace(g)
	if err == nil && group == "" && dir != "" {
		group, err = boundTo.Of(g, dir, func() (schemas.GroupID, error) {
			return groupOf(g.Tx().QueryRow(selectBound, g.Root(), store.List(above(dir))))
		})
	}
	if err != nil {
		return "", fmt.Errorf("read binding: %w", err)
	}
	if group == "" {
		return "", nil
	}
	scope, err := g.ReadScope()
	if err != nil || !slices.Contains(scope.Groups, group) {
		return "", err
	}
	return group, nil
}

// swarmPlace is the group in which the actor writes in the swarm it was made for, ""
// if it was made for none.
func swarmPlace(g access.Grant) (schemas.GroupID, error) {
	return swarmPlaces.Of(g, struct{}{}, func() (schemas.GroupID, error) {
		return groupOf(g.Tx().QueryRow(selectSwarmPlace, g.Actor()))
	})
}

func groupOf(r store.Row) (id schemas.GroupID, err error) {
	if err = r.Scan(&id); errors.Is(err, store.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// above lists dir and the folders it lies in: /a/b, /a, /.
func above(dir string) []string {
	out := []string{dir}
	for {
		at := strings.LastIndexByte(dir, '/')
		if at < 0 {
			return out
		}
		if rest := dir[at+1:]; rest == "" { // a root: / or c:/
			return out
		}
		if dir = dir[:at]; !strings.Contains(dir, "/") {
			return append(out, dir+"/")
		}
		out = append(out, dir)
	}
}

// Bound is a stored binding and whose it is.
type Bound struct {
	root schemas.EntityID
	Binding
	made int64
}

// AllBindings reads every binding of a database.
func AllBindings(tx *store.Tx) ([]Bound, error) {
	rows, err := tx.Query(selectAllBindings)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (b Bound, err error) {
		return b, r.Scan(&b.root, &b.Dir, &b.Group, &b.made)
	})
	if err != nil {
		return nil, fmt.Errorf("read bindings: %w", err)
	}
	return list, nil
}

// CarryBindings makes list all the bindings there are: what was unbound since a
// backup stays so.
func CarryBindings(g access.Grant, list []Bound) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	_, err := g.Tx().Exec(deleteAllBindings)
	for _, b := range list {
		if err == nil {
			_, err = g.Tx().Exec(carryBinding, b.root, b.Dir, b.Group, b.made)
		}
	}
	if err != nil {
		return fmt.Errorf("carry bindings over: %w", err)
	}
	return nil
}
