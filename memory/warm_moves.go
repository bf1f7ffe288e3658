package memory

import (
	"cordelia/access"
	"cordelia/schemas"
)

// Moves are the changes of an item that its reader may make now.
type Moves struct{ Change, Supersede, Delete, Undo bool }

// MovesOf gives what the actor may do to an item as it is, without doing it. A refusal of what
// it answers no to is none that counts. CodeNotFound for an item that the actor does not see.
func MovesOf(g access.Grant, id schemas.ItemID) (m Moves, err error) {
	see, err := reachOf(g)
	if err != nil {
		return m, err
	}
	found, err := fetch(g.Tx(), see, []schemas.ItemID{id})
	if err != nil {
		return m, err
	}
	r, ok := found[id]
	if !ok {
		return m, absent(id)
	}
	place := need(access.KindWrite, r.visibility, r.owner, r.group)
	writes, err := g.Could(g.Actor(), []string{"memory_write_warm"}, place)
	if err != nil {
		return m, err
	}
	removes, err := g.Could(g.Actor(), []string{"memory_delete_warm"}, place)
	if err != nil {
		return m, err
	}
	if writes {
		change := Draft{Write: Write{ID: id, IfVersion: r.version, Type: r.typ}, content: &content{}}
		if _, err = change.mayChange(g, see); refused(err, &m.Change) != nil {
			return m, err
		}
		if r.visibility != schemas.Private || r.owner == g.Actor() { // a successor lies in the same place
			old, err := superseded(g.Tx(), see, &Draft{Write: Write{Supersedes: id}}, r.scope)
			if refused(err, &m.Supersede) != nil {
				return m, err
			}
			if m.Supersede {
				if m.Supersede, err = maySupersede(g, old); err != nil {
					return m, err
				}
			}
		}
	}
	if removes && r.deleted == 0 {
		err = refused(mayRemove(g, &r, Bury), &m.Delete)
	} else if removes && r.data != "" {
		err = refused(mayRemove(g, &r, Undo), &m.Undo)
	}
	return m, err
}

// refused notes whether err refuses nothing, and gives back an error that is no refusal.
func refused(err error, may *bool) error {
	*may = err == nil
	switch schemas.CodeOf(err) {
	case schemas.CodeDenied, schemas.CodeNotFound, schemas.CodeConflict, schemas.CodeInvalid:
		return nil
	}
	return err
}
