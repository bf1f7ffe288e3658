package memory

import (
	"slices"

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
	ids, err := access.IDsNamed(g, selectItemsNamed, ref, see.byID(), store.List(see.below))
	if err != nil {
		return nil, err
	}
	items := make([]schemas.ItemID, len(ids))
	for i, id := range ids {
		items[i] = schemas.ItemID(id)
	}
	found, err := fetch(g.Tx(), see, items)
	return slices.DeleteFunc(ids, func(id string) bool {
		_, ok := found[schemas.ItemID(id)]
		return !ok
	}), err
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
	return access.IDsNamed(g, selectInvitationsNamed, ref, g.Actor(), g.IsHuman())
}
