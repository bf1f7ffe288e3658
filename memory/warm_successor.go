package memory

import (
	"bytes"
	"database/sql"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// An item names the item that took its place; whether it is superseded is worked out
// whenever it is read. It is while its successor, or one that came after that, is
// effective: released, not hidden from the reader, not deleted, and valid at the time
// asked about. So nothing needs to be restored when a successor goes.

// mostSuccessors bounds how far a line of successors is followed.
const mostSuccessors = 64

// successor is an item that was let take the place of another one.
type successor struct {
	row
	next schemas.ItemID // what took its own place
}

// effective reports whether s takes the place of its predecessor at a time.
func (s *successor) effective(at int64) bool {
	return s.deleted == 0 && !s.hidden && !s.inQuarantine() && s.wasTrue(at)
}

// from is since when s says what it says.
func (s *successor) from() int64 {
	if s.validFrom != 0 {
		return s.validFrom
	}
	return s.created
}

// resolve sets of each row by what it is superseded at a time, and since when; "" for what is not.
// Until then supersededBy names the successor that was written down.
func (r readScope) resolve(tx querier, rows []*row, at int64) error {
	open := map[schemas.ItemID][]*row{} // by the successor to look at
	for _, old := range rows {
		if old.supersededBy != "" {
			open[old.supersededBy] = append(open[old.supersededBy], old)
		}
	}
	for range mostSuccessors {
		if len(open) == 0 {
			return nil
		}
		found, err := r.successors(tx, open)
		if err != nil {
			return err
		}
		next := map[schemas.ItemID][]*row{}
		for id, olds := range open {
			s := found[id]
			for _, old := range olds {
				switch {
				case s == nil || s.scope != old.scope:
					old.supersededBy = ""
				case s.effective(at):
					old.supersededBy, old.supersededAt = s.id, s.from()
				case s.next == "":
					old.supersededBy = ""
				default:
					next[s.next] = append(next[s.next], old)
				}
			}
		}
		open = next
	}
	return nil // a line as long as that has an effective one in it, or is a circle
}

// successors reads items by id, and which of them are hidden from the reader.
func (r readScope) successors(tx querier, of map[schemas.ItemID][]*row) (map[schemas.ItemID]*successor, error) {
	ids := make([]schemas.ItemID, 0, len(of))
	for id := range of {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	rows, err := tx.Query(selectSuccessors, store.List(ids))
	list, err := store.Collect(rows, err, func(r *sql.Rows) (*successor, error) {
		s := &successor{}
		err := r.Scan(&s.n, &s.id, &s.scope, &s.next, &s.validFrom, &s.validTo, &s.expires, &s.created, &s.confidence,
			&s.validated,
			&s.quarantined, &s.source, &s.deleted, &s.groupTTL)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("read successors: %w", err)
	}
	ns := make([]int64, len(list))
	for i, s := range list {
		ns[i] = s.n
	}
	hidden, err := r.hiddenAmong(tx, ns)
	out := make(map[schemas.ItemID]*successor, len(list))
	for _, s := range list {
		s.hidden = hidden[s.n]
		out[s.id] = s
	}
	return out, err
}

// maySupersede reports whether the actor may supersede old, and all that old superseded, with a
// new item (INV-SUCCESSION).
func maySupersede(g access.Grant, old *row) (bool, error) {
	for left := mostSuccessors; left > 0; left-- {
		if may, err := mayReplace(g, old); err != nil || !may || old.supersedes == "" {
			return may, err
		}
		before, err := rowsOf(g.Tx(), selectOwn, old.supersedes)
		if err != nil || len(before) == 0 || before[0].supersededBy != old.id || before[0].scope != old.scope {
			return err == nil, err
		}
		old = &before[0]
	}
	return false, nil
}

// mayReplace is maySupersede of old alone: a person may; else the author of old may and,
// in a group, its owner and admins, unless a person wrote or released old.
func mayReplace(g access.Grant, old *row) (bool, error) {
	if g.IsHuman() || g.IsNode() || old.deleted != 0 {
		return true, nil
	}
	persons, err := old.isPersons(g.Tx())
	if err != nil || persons {
		return false, err
	}
	if old.author == g.Actor() || old.visibility == schemas.Private {
		return true, nil
	}
	role, err := roleIn(g, old.group)
	return manages(role), err
}

// isPersons reports whether a person wrote r's words or let them take effect.
func (r *row) isPersons(tx querier) (bool, error) {
	if !schemas.IsAgentID(string(r.author)) {
		return true, nil
	}
	if _, ok := r.instruction(); ok && !schemas.IsAgentID(string(r.owner)) {
		return true, nil // a person put it there
	}
	released, given, err := personsWord(tx, r)
	return given && released, err
}

// retire makes r the successor of old. Copies of old in groups where the actor might
// have done the same are marked, if r is effective now.
func retire(g access.Grant, old, r *row) error {
	now := g.Tx().Micros()
	next := successor{row: *r}
	effective := next.effective(now)
	if _, err := g.Tx().Exec(supersede, r.id, !effective, old.n); err != nil {
		return fmt.Errorf("supersede item: %w", err)
	}
	if !effective {
		return nil
	}
	if err := dropBands(g.Tx(), old); err != nil {
		return err
	}
	return markCopiesOf(g, old)
}

// markCopiesOf marks copies of old as having an origin that changed, where the actor
// may write and might have superseded the copy itself.
func markCopiesOf(g access.Grant, old *row) error {
	copies, err := rowsOf(g.Tx(), selectCopies, old.id)
	if err != nil || len(copies) == 0 {
		return err
	}
	writable, err := g.WritableGroups()
	if err != nil {
		return err
	}
	for i := range copies {
		c := &copies[i]
		if c.stale == staleDeleted || !slices.Contains(writable, c.group) {
			continue
		}
		if may, err := maySupersede(g, c); err != nil {
			return err
		} else if !may {
			continue
		}
		if _, err := g.Tx().Exec(markCopy, staleCorrected, c.n); err != nil {
			return fmt.Errorf("mark copy: %w", err)
		}
	}
	return nil
}

// followSuccession writes down again which of the items that r came after are
// superseded, now that r went or came back: new items are compared with those alone
// that are not.
func followSuccession(g access.Grant, r *row) error {
	now := readScope{now: g.Tx().Micros()}
	for after, left := r, mostSuccessors; after.supersedes != "" && left > 0; left-- {
		found, err := rowsOf(g.Tx(), selectOwn, after.supersedes)
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].scope != after.scope || found[0].supersededBy == "" {
			return nil
		}
		old := &found[0]
		if err := now.resolve(g.Tx(), []*row{old}, now.now); err != nil {
			return err
		}
		current := old.supersededBy == "" && old.deleted == 0
		if err := setCurrent(g, old, current); err != nil {
			return err
		}
		if current {
			return nil
		}
		after = old
	}
	return nil
}

// setCurrent writes down whether new items are compared with r. An equal item that its
// owner wrote meanwhile goes before it.
func setCurrent(g access.Grant, r *row, current bool) error {
	if r.current == current {
		return nil
	}
	if current {
		equal, err := rowsOf(g.Tx(), selectOwnEqual, r.scope, r.owner, r.hash)
		if err != nil || slices.ContainsFunc(equal, func(o row) bool {
			return o.n != r.n &&
				bytes.Equal(o.hash, r.hash)
		}) {
			return err
		}
	}
	if _, err := g.Tx().Exec(setItemCurrent, current, r.n); err != nil {
		return fmt.Errorf("write what is current: %w", err)
	}
	r.current = current
	if !current {
		return dropBands(g.Tx(), r)
	}
	if set := bandsOf(setOf(r.terms)); len(set) > 0 {
		if _, err := g.Tx().Exec(insertBand, r.scope, r.n, store.List(set)); err != nil {
			return fmt.Errorf("index item: %w", err)
		}
	}
	return nil
}
