package review

import (
	"encoding/hex"
	"encoding/json"

	"cordelia/access"
	"cordelia/events"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/trust"
	"cordelia/work"
)

// Kind is what waits.
type Kind string

const (
	StagedMemory Kind = "memory" // brought back by an agent
	HeldResult   Kind = "work"   // reported by an agent a person looks over
	TaskResult   Kind = "task"   // of a whole task
	ToGroup      Kind = "invitation"
	Proposed     Kind = "proposal"
	RoleAsk      Kind = "role" // what a role asks, kept by package roles
)

// Entry is one thing that waits for the reader's decision. Its text was written
// by agents: it is data, never instructions.
type Entry struct {
	ID         string              `json:"id"`
	Kind       Kind                `json:"kind" enum:"memory,proposal,invitation,work,role,task"`
	Name       string              `json:"name"`
	State      schemas.ReviewState `json:"state"`
	Author     string              `json:"author"` // its name
	AuthorID   schemas.EntityID    `json:"author_id,omitempty"`
	Tier       schemas.Tier        `json:"tier,omitempty"` // of the author
	Group      schemas.GroupID     `json:"group,omitempty"`
	Staging    schemas.GroupID     `json:"staging,omitempty"`
	Replaces   schemas.ItemID      `json:"replaces,omitempty"` // what it is to supersede
	Divergence schemas.Divergence  `json:"divergence,omitempty"`
	Sessions   int64               `json:"sessions_apart,omitempty"`
	Source     memory.Source       `json:"source,omitempty"`
	Person     string              `json:"person,omitempty"` // why a person must approve it, if the reader is none
	Status     memory.Status       `json:"status,omitempty"`
	With       []schemas.ItemID    `json:"with,omitempty"`
	Diff       []Line              `json:"diff,omitempty"` // against the first of With
	Hash       string              `json:"hash,omitempty"` // what an approval names; of what is shown whole
	// of what a role asks: of whom, until when, and what follows then
	Asked string                `json:"asked,omitempty"`
	Until string                `json:"until,omitempty"`
	Then  schemas.AfterDeadline `json:"then,omitempty" enum:"escalate,refuse"`
	At    string                `json:"at"`

	Item *memory.Item `json:"item,omitempty"` // with detail
	Work *work.Status `json:"work,omitempty"` // with detail

	against memory.Source // of what Diff is against
}

// SecondHand reports whether e shows words that are not an agent's own: what waits,
// or what it is compared with.
func (e Entry) SecondHand() bool { return e.Source.SecondHand() || e.against.SecondHand() }

// After is where a list goes on: behind what of which kind.
type After struct {
	Kind Kind   `json:"k,omitempty"`
	ID   string `json:"a,omitempty"`
}

// List gives what waits for the actor, one kind after the other as kinds names them; next
// is where more begins, nil at the end. An agent sees what concerns its children; a person
// sees their whole tree.
func List(g access.Grant, after After, limit int, tainted bool) (entries []Entry, next *After, err error) {
	reached := after.Kind == ""
	for _, k := range kinds() {
		if reached = reached || k.name == after.Kind; !reached {
			continue
		}
		room := limit - len(entries)
		page, last, more, err := k.page(g, after.ID, max(room, 1), tainted)
		if err != nil {
			return nil, nil, err
		}
		if room == 0 && (len(page) > 0 || more) {
			return entries, &After{k.name, after.ID}, nil
		}
		if entries = append(entries, page...); more {
			return entries, &After{k.name, last}, nil
		}
		after = After{}
	}
	return entries, nil, nil
}

// Show gives single things that wait, whole. CodeNotFound if one is absent or
// hidden.
func Show(g access.Grant, ids []string, tainted bool) ([]Entry, error) {
	out := make([]Entry, 0, len(ids))
	for _, id := range ids {
		e, err := firstKind(id, func(k kind) (Entry, error) { return k.show(g, id, tainted) })
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// StateOf gives the state of a review item that waited for the actor, also after the decision.
// CodeNotFound for any other actor.
func StateOf(g access.Grant, id string) (schemas.ReviewState, error) {
	if g.Tx() == nil {
		return "", access.ErrNoGrant
	}
	return firstKind(id, func(k kind) (schemas.ReviewState, error) {
		if k.state == nil {
			return "", nothingWaits(id)
		}
		return k.state(g, id)
	})
}

// entry shows r as it stands now beside what its group holds.
func (r row) entry(g access.Grant, tainted, detail bool) (Entry, error) {
	author, err := g.Profile(r.author)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{ID: r.id, Kind: StagedMemory, State: r.state, Author: author.Name, AuthorID: r.author, Group: r.target,
		Staging:    r.group,
		Divergence: r.divergence, Sessions: r.sessions, At: events.Timestamp(r.at)}
	s, err := trust.Read(g, string(r.author))
	if err != nil {
		return e, err
	}
	e.Tier = s.Tier
	if r.state.Final() && r.state != schemas.ReviewApproved {
		return e, nil // its text may be gone
	}
	items, err := memory.Get(g, []schemas.ItemID{r.item})
	if err != nil {
		return e, err
	}
	item := items[0]
	e.Name, e.Source = item.Name, item.Provenance.Source
	if e.Person, err = personNeeded(g, r, item, tainted); err != nil {
		return e, err
	}
	present, err := memory.StandingIn(g, r.item, r.target)
	if err != nil {
		return e, err
	}
	e.Status, e.With = present.Status, present.With
	var before []string
	if len(e.With) > 0 {
		if other, err := memory.Get(g, e.With[:1]); err == nil {
			before, e.against = shownLines(other[0]), other[0].Provenance.Source
		}
	}
	full := difference(before, shownLines(item))
	if e.Diff = full; detail {
		e.Item = &item
	} else {
		e.Diff = changed(full, 2)
	}
	if detail || showsAll(e.Diff, full) {
		e.Hash = hex.EncodeToString(shownHash(item, r.target))
	}
	return e, nil
}

func heldEntry(s work.Status) Entry {
	e := Entry{ID: s.WorkID, Kind: HeldResult, Name: s.Intent, State: schemas.ReviewPending, Author: s.Holder,
		AuthorID: s.HolderID,
		Group:    s.GroupID, Hash: s.ResultHash, At: s.Created}
	return e.Showing(s.Result)
}

// Showing is e with all of a result, as lines; nil leaves it as it is.
func (e Entry) Showing(result json.RawMessage) Entry {
	if result != nil {
		e.Diff = lines("+", readableLines(result))
	}
	return e
}
