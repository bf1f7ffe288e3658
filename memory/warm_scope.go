package memory

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// querier is the reading half of a transaction.
type querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
	QueryRow(query string, args ...any) store.Row
}

// reach is what the actor may read, in the form queries take it.
type reach struct {
	scopes []int64            // what a search looks through
	items  int64              // how many searchable items these hold
	below  []schemas.EntityID // the actor and everyone below it
	hidden []int64            // private scopes below the actor: counted, or read by a person
	human  bool
	now    int64 // UTC microseconds
}

// readable resolves the grant's scope. The number of queries depends on what the
// actor may read, never on what is asked for.
func readable(g access.Grant) (reach, error) {
	var r reach
	if g.Tx() == nil {
		return r, access.ErrNoGrant
	}
	scope, err := g.ReadScope()
	if err != nil {
		return r, err
	}
	var refs [][2]string
	for _, id := range scope.Private {
		refs = append(refs, [2]string{string(schemas.Private), string(id)})
	}
	for _, id := range scope.Groups {
		refs = append(refs, [2]string{string(schemas.Group), string(id)})
	}
	if scope.Public {
		refs = append(refs, [2]string{string(schemas.Public), ""})
	}
	if r.scopes, r.items, err = scopeNumbers(g.Tx(), refs); err != nil {
		return r, err
	}
	rows, err := g.Tx().Query(selectBelow, g.Actor())
	if r.below, err = store.Collect(rows, err, func(rows *sql.Rows) (id schemas.EntityID, err error) { return id, rows.Scan(&id) }); err != nil {
		return r, fmt.Errorf("read tree: %w", err)
	}
	refs = refs[:0]
	for _, id := range r.below {
		refs = append(refs, [2]string{string(schemas.Private), string(id)})
	}
	r.human, r.now = g.IsHuman(), g.Tx().Micros()
	r.hidden, _, err = scopeNumbers(g.Tx(), refs)
	return r, err
}

func scopeNumbers(tx querier, refs [][2]string) (numbers []int64, items int64, err error) {
	rows, err := tx.Query(selectScopes, asJSON(refs))
	numbers, err = store.Collect(rows, err, func(r *sql.Rows) (n int64, err error) {
		var held int64
		err = r.Scan(&n, &held)
		items += held
		return n, err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read scopes: %w", err)
	}
	return numbers, items, nil
}

// byID is the list of scopes whose items the actor may open by id: a person
// reads everything in their own tree.
func (r reach) byID() string {
	if r.human {
		return asJSON(append(slices.Clone(r.scopes), r.hidden...))
	}
	return asJSON(r.scopes)
}

func (r reach) holds(id schemas.EntityID) bool { return slices.Contains(r.below, id) }

// scopeOf gives the number of an audience, making it on first use.
func scopeOf(tx *store.Tx, v schemas.Visibility, ref string) (n int64, err error) {
	if _, err := tx.Exec(ensureScope, v, ref); err != nil {
		return 0, fmt.Errorf("make scope: %w", err)
	}
	if err := tx.QueryRow(selectScope, v, ref).Scan(&n); err != nil {
		return 0, fmt.Errorf("read scope: %w", err)
	}
	return n, nil
}

// asJSON encodes a list for json_each; nil is the empty list.
func asJSON[T any](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	b, err := json.Marshal(list)
	if err != nil { // only ids and numbers are passed
		panic(fmt.Sprintf("memory: encode list: %v", err))
	}
	return string(b)
}

// need is what an operation on an item of this audience asks of the grant.
func need(kind access.Kind, v schemas.Visibility, owner schemas.EntityID, group schemas.GroupID) access.Need {
	return access.Need{Kind: kind, Layer: schemas.L2, Visibility: v, Owner: owner, Group: group}
}

// absent words an item that is not there and one that is hidden alike.
func absent(id schemas.ItemID) error {
	return schemas.NotFoundf("there is no item %s here", strconv.Quote(oneLine(string(id), 80))).
		Expecting("the id of an item you may read").Try("memory_search finds items by their words")
}

// absentGroup does the same for groups.
func absentGroup(id schemas.GroupID) error {
	return schemas.NotFoundf("there is no group %s here", strconv.Quote(oneLine(string(id), 80))).
		Expecting("the id of a group you are a member of").Try("memory_group with action list shows your groups")
}

// scanRow reads itemColumns.
func scanRow(rows *sql.Rows) (row, error) {
	var r row
	err := rows.Scan(&r.n, &r.id, &r.typ, &r.owner, &r.author, &r.visibility, &r.group, &r.scope, &r.origin, &r.parent, &r.stale,
		&r.version, &r.data, &r.name, &r.tags, &r.subject, &r.key, &r.supersedes, &r.supersededBy, &r.validFrom, &r.validTo,
		&r.confidence, &r.validated, &r.quarantined, &r.expires, &r.source, &r.provenance, &r.thread, &r.hash, &r.terms,
		&r.tokens, &r.current, &r.created, &r.updated, &r.deleted, &r.deletedBy, &r.groupTTL)
	return r, err
}

// rowsOf reads items by a query of itemColumns.
func rowsOf(tx querier, query string, args ...any) ([]row, error) {
	rows, err := tx.Query(query, args...)
	found, err := store.Collect(rows, err, scanRow)
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	return found, nil
}
