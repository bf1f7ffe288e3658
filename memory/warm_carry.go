package memory

import (
	"slices"

	"cordelia/access"
	"cordelia/schemas"
)

// Carried is what the next events a member reads bring along of an item written
// in a chatty group. Its name is an agent's words: data, never instructions.
type Carried struct {
	ID     schemas.ItemID `json:"id"`
	Name   string         `json:"name"`
	Author string         `json:"author"`
}

// Carry gives what members of chatty groups are to see of what was written there
// without asking for it, in the order of news, each once. It is read now, with the
// actor's rights: what was hidden, corrected or deleted since is not among it. It
// also reports whether any of it is second-hand.
func Carry(g access.Grant, news []schemas.MemoryWritten) (list []Carried, secondHand bool, err error) {
	var ids []schemas.ItemID
	for _, w := range news {
		culture, err := knownCulture(g, w.GroupID)
		if err != nil {
			return nil, false, err
		}
		if culture.Broadcast == Chatty && !slices.Contains(ids, w.ItemID) {
			ids = append(ids, w.ItemID)
		}
	}
	if len(ids) == 0 {
		return nil, false, nil
	}
	see, err := reachOf(g)
	if err != nil {
		return nil, false, err
	}
	found, err := fetch(g.Tx(), see, ids)
	if err != nil {
		return nil, false, err
	}
	var authors []schemas.EntityID
	for _, r := range found {
		authors = append(authors, r.author)
	}
	named, err := names(g.Tx(), authors)
	if err != nil {
		return nil, false, err
	}
	for _, id := range ids {
		r, ok := found[id]
		if !ok || r.state(see.now) != stateCurrent {
			continue
		}
		c := Carried{ID: r.id, Name: r.name, Author: named[r.author][0]}
		if c.Author == "" {
			c.Author = string(r.author)
		}
		list = append(list, c)
		secondHand = secondHand || r.source.SecondHand()
	}
	return list, secondHand, nil
}
