package review

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
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
)

// Entry is one thing that waits for the reader's decision. Its text was written
// by agents: it is data, never instructions.
type Entry struct {
	ID         string              `json:"id"`
	Kind       Kind                `json:"kind" enum:"memory,work,task"`
	Name       string              `json:"name"`
	State      schemas.ReviewState `json:"state"`
	Author     string              `json:"author"` // its name
	AuthorID   schemas.EntityID    `json:"author_id,omitempty"`
	Tier       schemas.Tier        `json:"tier,omitempty"` // of the author
	Group      schemas.GroupID     `json:"group,omitempty"`
	Staging    schemas.GroupID     `json:"staging,omitempty"`
	Divergence schemas.Divergence  `json:"divergence,omitempty"`
	Sessions   int64               `json:"sessions_apart,omitempty"`
	Source     memory.Source       `json:"source,omitempty"`
	Person     string              `json:"person,omitempty"` // why a person must approve it, if the reader is none
	Status     memory.Status       `json:"status,omitempty"`
	With       []schemas.ItemID    `json:"with,omitempty"`
	Diff       []Line              `json:"diff,omitempty"` // against the first of With
	Hash       string              `json:"hash,omitempty"` // what an approval names; of what is shown whole
	At         string              `json:"at"`

	Item *memory.Item `json:"item,omitempty"` // with detail
	Work *work.Status `json:"work,omitempty"` // with detail

	beside memory.Source // of what Diff is against
}

// SecondHand reports whether e shows words that are not an agent's own: what waits,
// or what it is held against.
func (e Entry) SecondHand() bool { return e.Source.SecondHand() || e.beside.SecondHand() }

// After is where a list goes on: the last id of each kind.
type After struct {
	Memory string `json:"m,omitempty"`
	Work   string `json:"w,omitempty"`
}

// List gives what waits for the actor, memories in order of arrival and then held
// results, the newest first; next is where more begins, nil at the end. An agent
// sees what its children brought; a person sees their whole tree.
func List(g access.Grant, after After, limit int, tainted bool) (entries []Entry, next *After, err error) {
	groups, err := readable(g)
	if err != nil {
		return nil, nil, err
	}
	rows, err := g.Tx().Query(selectWaiting, groups, after.Memory, limit+1)
	found, err := store.Collect(rows, err, scanRow)
	if err != nil {
		return nil, nil, fmt.Errorf("list reviews: %w", err)
	}
	for _, r := range found {
		if len(entries) == limit {
			return entries, &after, nil
		}
		after.Memory = r.id
		if err := mayReview(g, r.author); errors.Is(err, schemas.ErrDenied) {
			continue // its own
		} else if err != nil {
			return nil, nil, err
		}
		e, err := r.entry(g, tainted, false)
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, e)
	}
	if !g.IsHuman() || len(found) > limit {
		if len(found) > limit {
			next = &after
		}
		return entries, next, nil
	}
	held, err := work.List(g, work.Filter{State: schemas.WorkHeld, Before: after.Work, Limit: limit - len(entries) + 1})
	if err != nil {
		return nil, nil, err
	}
	for _, s := range held {
		if len(entries) == limit {
			return entries, &after, nil
		}
		after.Work = s.WorkID
		entries = append(entries, heldEntry(s))
	}
	return entries, nil, nil
}

// Show gives single things that wait, whole. CodeNotFound if one is absent or
// hidden.
func Show(g access.Grant, ids []string, tainted bool) ([]Entry, error) {
	out := make([]Entry, 0, len(ids))
	for _, id := range ids {
		r, err := find(g, id)
		if err == nil {
			err = mayReview(g, r.author)
		}
		if err == nil {
			e, err := r.entry(g, tainted, true)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
			continue
		}
		if !errors.Is(err, schemas.ErrNotFound) || !g.IsHuman() {
			return nil, err
		}
		s, missing := work.Show(g, id, true)
		if missing != nil && !errors.Is(missing, schemas.ErrNotFound) {
			return nil, missing
		}
		if missing != nil || s.State != schemas.WorkHeld {
			return nil, err
		}
		e := heldEntry(s)
		e.Work = &s
		out = append(out, e)
	}
	return out, nil
}

// StateOf is where one thing stands that an agent brought back, for who reviews it: also
// after its staging group was closed. CodeNotFound for everybody else.
func StateOf(g access.Grant, id string) (schemas.ReviewState, error) {
	if g.Tx() == nil {
		return "", access.ErrNoGrant
	}
	var r row
	err := g.Tx().QueryRow(selectAny, id).Scan(r.dest()...)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return "", fmt.Errorf("read review: %w", err)
	}
	if err == nil {
		err = mayReview(g, r.author)
	}
	switch {
	case err == nil:
		return r.state, nil
	case errors.Is(err, store.ErrNoRows), errors.Is(err, schemas.ErrDenied):
		return "", nothingWaits(id)
	}
	return "", err
}

// entry shows r as it stands now beside what its group holds.
func (r row) entry(g access.Grant, tainted, detail bool) (Entry, error) {
	author, err := g.Profile(r.author)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{ID: r.id, Kind: StagedMemory, State: r.state, Author: author.Name, AuthorID: r.author, Group: r.target, Staging: r.group,
		Divergence: r.divergence, Sessions: r.sessions, At: events.Timestamp(r.at)}
	s, err := trust.Read(g, string(r.author))
	if err != nil {
		return e, err
	}
	e.Tier = s.Score.Tier()
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
	beside, err := memory.StandingIn(g, r.item, r.target)
	if err != nil {
		return e, err
	}
	e.Status, e.With = beside.Status, beside.With
	var before []string
	if len(e.With) > 0 {
		if other, err := memory.Get(g, e.With[:1]); err == nil {
			before, e.beside = shownLines(other[0]), other[0].Provenance.Source
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
	e := Entry{ID: s.WorkID, Kind: HeldResult, Name: s.Intent, State: schemas.ReviewPending, Author: s.Holder, AuthorID: s.HolderID,
		Group: s.GroupID, Hash: s.ResultHash, At: s.Created}
	return e.Showing(s.Result)
}

// Showing is e with all of a result, as lines; nil leaves it as it is.
func (e Entry) Showing(result json.RawMessage) Entry {
	if result != nil {
		e.Diff = lines("+", readableLines(result))
	}
	return e
}
