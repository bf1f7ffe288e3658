package memory

import (
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// ItemsNamed gives the items that the actor may read by id and that ref, the beginning
// or the end of an id, may stand for.
func ItemsNamed(g access.Grant, ref string) ([]string, error) {
	see, err := reachOf(g)
	if err != nil {
		return nil, err
	}
	rows, err := g.Tx().Query(selectItemsNamed, see.byID(), store.List(see.below), ref, schemas.MaxShortMatches)
	ids, err := store.Collect(rows, err, store.Column[schemas.ItemID])
	if err != nil {
		return nil, fmt.Errorf("find item: %w", err)
	}
	found, err := fetch(g.Tx(), see, ids)
	var named []string
	for _, id := range ids {
		if _, ok := found[id]; ok {
			named = append(named, string(id))
		}
	}
	return named, err
}

// Unseen gives those of ids that stand for no item which the actor may read.
func Unseen(g access.Grant, ids []schemas.ItemID) (unseen []schemas.ItemID, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	see, err := reachOf(g)
	if err != nil {
		return nil, err
	}
	found, err := fetch(g.Tx(), see, ids)
	for _, id := range ids {
		if _, ok := found[id]; !ok {
			unseen = append(unseen, id)
		}
	}
	return unseen, err
}

// InvitationsNamed gives the invitations that the actor decides and that ref, the beginning
// or the end of an id, may stand for.
func InvitationsNamed(g access.Grant, ref string) ([]string, error) {
	rows, err := g.Tx().Query(selectInvitationsNamed, g.Actor(), g.IsHuman(), ref, schemas.MaxShortMatches)
	ids, err := store.Collect(rows, err, store.Column[string])
	if err != nil {
		return nil, fmt.Errorf("find invitation: %w", err)
	}
	return ids, nil
}
