package memory

import (
	"database/sql"
	"errors"
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

// readScope is what the actor may read, in the form queries take it.
type readScope struct {
	scopes      []int64 // what a search looks through
	items       int64   // how many searchable items these hold
	actor       schemas.EntityID
	below       []schemas.EntityID  // the actor and its descendants
	hidden      []int64             // private scopes below the actor: counted, or read by a person
	places      map[[2]string]int64 // visibility and ref of what is readable, to its scope
	quarantines []quarantineRow     // agents hidden in these scopes
	lessons     bool                // show, too
	// lineage lists an author and the agents above it, as far as none is the actor or above it.
	lineage func(schemas.EntityID) []schemas.EntityID
	human   bool
	now     int64 // UTC microseconds
}

// readable is reachOf with how many items a search looks through.
func readable(g access.Grant) (readScope, error) {
	r, err := reachOf(g)
	if err != nil {
		return r, err
	}
	if err := g.Tx().QueryRow(countItems, store.List(r.scopes)).Scan(&r.items); err != nil {
		return r, fmt.Errorf("read scopes: %w", err)
	}
	return r, nil
}

var reaches access.Fact[string, readScope]

// reachOf resolves the grant's scope. The number of queries depends on what the
// actor may read, never on what is asked for.
func reachOf(g access.Grant) (readScope, error) {
	if g.Tx() == nil {
		return readScope{}, access.ErrNoGrant
	}
	scope, err := g.ReadScope()
	if err != nil {
		return readScope{}, err
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
	list := store.List(refs)
	r, err := reaches.Of(g, list, func() (readScope, error) { return locate(g, list) })
	if err != nil {
		return r, err
	}
	r.actor, r.human, r.now = g.Actor(), g.IsHuman(), g.Tx().Micros()
	r.lineage = lineageFor(g)
	alone, err := g.BlindRole()
	r.lessons = !alone
	return r, err
}

// lineOf is lineage, the author alone where that is not known.
func (r readScope) lineOf(author schemas.EntityID) []schemas.EntityID {
	switch {
	case author == r.actor:
		return nil
	case r.lineage == nil:
		return []schemas.EntityID{author}
	}
	return r.lineage(author)
}

// lineageFor is readScope.lineage for the actor.
func lineageFor(g access.Grant) func(schemas.EntityID) []schemas.EntityID {
	above := map[schemas.EntityID]bool{}
	for _, link := range g.Chain() {
		above[link.ID] = true
	}
	known := map[schemas.EntityID][]schemas.EntityID{}
	return func(author schemas.EntityID) []schemas.EntityID {
		if author == g.Actor() {
			return nil
		}
		line, ok := known[author]
		if ok {
			return line
		}
		line = []schemas.EntityID{author}
		chain, err := g.ChainOf(author)
		if err != nil { // then the author stands for itself
			chain = nil
		}
		for i := len(chain) - 2; i >= 0 && !above[author] && !above[chain[i].ID]; i-- {
			line = append(line, chain[i].ID)
		}
		known[author] = line
		return line
	}
}

// locate finds the scopes of a list of [visibility, ref] and who is below the actor.
func locate(g access.Grant, list string) (r readScope, err error) {
	r.places = map[[2]string]int64{}
	rows, err := g.Tx().Query(selectReach, g.Actor(), list)
	if err != nil {
		return r, fmt.Errorf("read reach: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var readable bool
		var n int64
		var visibility, ref string
		if err := rows.Scan(&readable, &n, &visibility, &ref); err != nil {
			return r, fmt.Errorf("read reach: %w", err)
		}
		if readable {
			r.scopes = append(r.scopes, n)
			r.places[[2]string{visibility, ref}] = n
			continue
		}
		if r.below = append(r.below, schemas.EntityID(ref)); n != 0 {
			r.hidden = append(r.hidden, n)
		}
	}
	if err := rows.Err(); err != nil {
		return r, fmt.Errorf("read reach: %w", err)
	}
	r.quarantines, err = quarantines(g.Tx(), slices.Concat(r.scopes, r.hidden))
	return r, err
}

func scopeNumbers(tx querier, refs [][2]string) (numbers []int64, items int64, err error) {
	rows, err := tx.Query(selectScopes, store.List(refs))
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
func (r readScope) byID() string {
	if r.human {
		return store.List(append(slices.Clone(r.scopes), r.hidden...))
	}
	return store.List(r.scopes)
}

func (r readScope) includes(id schemas.EntityID) bool { return slices.Contains(r.below, id) }

// scopeOf gives the number of an audience, making it on first use.
func scopeOf(g access.Grant, v schemas.Visibility, ref string) (n int64, err error) {
	err = g.Tx().QueryRow(selectScope, v, ref).Scan(&n)
	if errors.Is(err, store.ErrNoRows) {
		if err = g.Tx().QueryRow(insertScope, v, ref).Scan(&n); err == nil {
			err = g.RightsChanged() // its readers search there from now on
		}
	}
	if err != nil {
		return 0, fmt.Errorf("find scope: %w", err)
	}
	return n, nil
}

// need is what an operation on an item of this audience asks of the grant.
func need(kind access.Kind, v schemas.Visibility, owner schemas.EntityID, group schemas.GroupID) access.Need {
	return access.Need{Kind: kind, Layer: schemas.L2, Visibility: v, Owner: owner, Group: group}
}

// absent words an item that is not there and one that is hidden alike.
func absent(id schemas.ItemID) error { return notHere(id) }

func notHere(id schemas.ItemID) *schemas.Error {
	return schemas.NotFoundf("there is no item %s here", strconv.Quote(oneLine(string(id), 80))).
		Expecting("the id of an item you may read, or 8 characters or more of its beginning or its end").
		Try("%s finds items by their words", schemas.Tool("memory_search"))
}

// NoGroup words a group that is not there and one that is hidden alike: what it says next is true of both.
func NoGroup(g access.Grant, id schemas.GroupID) error {
	scope, err := g.ReadScope()
	if err != nil {
		return err
	}
	refusal := schemas.NotFoundf("there is no group %s here", strconv.Quote(oneLine(string(id), 80))).
		Expecting("the id of a group you are a member of").
		Try("%s shows your groups", schemas.Tool("memory_group", "action", "list"))
	could, err := couldMake(g, id)
	if err != nil {
		return err
	}
	if could {
		refusal.Hint = append(refusal.Hint, schemas.Hintf("; %s makes it if no group has the name, else ask a member "+
			"to add you", schemas.Tool("memory_group", "action", "create", "group", id))...)
	}
	return nearGroups(scope.Groups, id, refusal)
}

// couldMake reports whether the actor could make a group of that name if no group has it.
func couldMake(g access.Grant, id schemas.GroupID) (bool, error) {
	if !g.Has("memory_group") || schemas.CheckGroupID(string(id)) != nil {
		return false, nil
	}
	if _, err := (NewGroup{ID: id, Kind: NormalGroup}).check(); err != nil {
		return false, nil //nolint:nilerr // the name is the node's
	}
	return g.CouldOwn(id, string(NormalGroup))
}

// scanRow reads itemColumns.
func scanRow(rows *sql.Rows) (row, error) {
	var r row
	err := rows.Scan(&r.n, &r.id, &r.typ, &r.owner, &r.author, &r.visibility, &r.group, &r.scope, &r.origin, &r.parent,
		&r.stale,
		&r.version, &r.data, &r.name, &r.tags, &r.subject, &r.key, &r.supersedes, &r.supersededBy, &r.validFrom,
		&r.validTo,
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
