package review

import (
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
	"cordelia/work"
)

// kind is one kind of things that wait. A function that is given an id answers
// CodeNotFound if the id is no thing of this kind that the actor reviews.
type kind struct {
	name Kind
	// page lists at most limit behind the id after; last is where the next page begins.
	page func(g access.Grant, after string, limit int, tainted bool) (entries []Entry, last string, more bool,
		err error)
	show   func(g access.Grant, id string, tainted bool) (Entry, error)
	decide func(g access.Grant, d Decision, tainted bool) (Decided, row, error) // the row of staged memory alone
	// nil: the kind keeps its states elsewhere
	state func(g access.Grant, id string) (schemas.ReviewState, error)
}

// kinds are all that wait, in the order a list shows them.
func kinds() []kind {
	return []kind{
		{StagedMemory, stagedPage, showStaged, decideStaged, stagedState},
		{Proposed, proposalPage, showProposals, decideProposals, proposalState},
		{ToGroup, invitationPage, showInvitation, decideInvitation, invitationState},
		{HeldResult, heldPage, showHeld, decideHeld, nil},
	}
}

// firstKind asks one kind after the other about an id, until one knows it.
func firstKind[T any](id string, ask func(kind) (T, error)) (out T, err error) {
	for _, k := range kinds() {
		if out, err = ask(k); !errors.Is(err, schemas.ErrNotFound) {
			return out, err
		}
	}
	return out, nothingWaits(id)
}

// stagedPage lists memories that agents brought back, in order of arrival.
func stagedPage(g access.Grant, after string, limit int,
	tainted bool) (entries []Entry, last string, more bool, err error) {
	groups, err := readable(g)
	if err != nil {
		return nil, "", false, err
	}
	rows, err := g.Tx().Query(selectWaiting, groups, after, limit+1)
	found, err := store.Collect(rows, err, scanRow)
	if err != nil {
		return nil, "", false, fmt.Errorf("list reviews: %w", err)
	}
	if more = len(found) > limit; more {
		found = found[:limit]
	}
	for _, r := range found {
		last = r.id
		if err := mayReview(g, r.author); errors.Is(err, schemas.ErrDenied) {
			continue // its own
		} else if err != nil {
			return nil, "", false, err
		}
		e, err := r.entry(g, tainted, false)
		if err != nil {
			return nil, "", false, err
		}
		entries = append(entries, e)
	}
	return entries, last, more, nil
}

func showStaged(g access.Grant, id string, tainted bool) (Entry, error) {
	r, err := find(g, id)
	if err == nil {
		err = mayReview(g, r.author)
	}
	if err != nil {
		return Entry{}, err
	}
	return r.entry(g, tainted, true)
}

// stagedState answers also after the staging group was closed.
func stagedState(g access.Grant, id string) (schemas.ReviewState, error) {
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

func decideStaged(g access.Grant, d Decision, tainted bool) (Decided, row, error) {
	r, err := find(g, d.ID)
	if err == nil {
		err = mayReview(g, r.author)
	}
	if err != nil {
		return Decided{}, r, err
	}
	out := Decided{ID: r.id}
	on := schemas.ReviewReject
	if d.Approve {
		on = schemas.ReviewApprove
		w, err := approve(g, r, d.Hash, tainted)
		if err != nil {
			return Decided{}, r, err
		}
		out.Item, out.Status, out.With = w.ID, w.Status, w.With
	}
	to, err := r.move(g, on, g.Actor(), d.Reason, out.Item)
	out.State = string(to)
	return out, r, err
}

// heldPage lists held results for a person, the newest first.
func heldPage(g access.Grant, after string, limit int, _ bool) (entries []Entry, last string, more bool, err error) {
	if !g.IsHuman() {
		return nil, "", false, nil
	}
	held, err := work.List(g, work.Filter{State: schemas.WorkHeld, Before: after, Limit: limit + 1})
	if err != nil {
		return nil, "", false, err
	}
	if more = len(held) > limit; more {
		held = held[:limit]
	}
	for _, s := range held {
		last = s.WorkID
		entries = append(entries, heldEntry(s))
	}
	return entries, last, more, nil
}

func showHeld(g access.Grant, id string, _ bool) (Entry, error) {
	if !g.IsHuman() {
		return Entry{}, nothingWaits(id)
	}
	s, err := work.Show(g, id, true)
	if err == nil && s.State != schemas.WorkHeld {
		err = nothingWaits(id)
	}
	if err != nil {
		return Entry{}, err
	}
	e := heldEntry(s)
	e.Work = &s
	return e, nil
}
