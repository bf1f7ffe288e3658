package ops

import (
	"context"
	"errors"

	"cordelia/access"
	"cordelia/pipeline/controller"
	"cordelia/review"
	"cordelia/roles"
	"cordelia/schemas"
	"cordelia/work"
)

// NeedsPerson is the refusal of a decision that a person may make: a face that reaches
// the user may ask them to, and call again with Caller.Consulted when they say they have.
type NeedsPerson struct {
	Matters []ReviewItem
	Err     error // the refusal itself
}

// ReviewItem is one thing that waits for a person.
type ReviewItem struct {
	ID     string
	Name   string // what its author calls it: data
	Author string // its name
}

func (n NeedsPerson) Error() string { return n.Err.Error() }

// Unwrap gives the refusal, which is all that other faces see.
func (n NeedsPerson) Unwrap() error { return n.Err }

// forPerson is a refusal with what of the call waits for a person; err itself if that
// is not why.
func (c *Call) forPerson(ctx context.Context, in reviewDecideIn, err error) error {
	if !errors.Is(err, schemas.ErrPerson) {
		return err
	}
	out := NeedsPerson{Err: err}
	if lost := c.do(ctx, c.lookOp(), func(g access.Grant) error {
		for _, d := range in.Decisions {
			m, waits, err := matter(g, d, c.tainted())
			if err != nil {
				return err
			}
			if waits {
				out.Matters = append(out.Matters, m)
			}
		}
		return nil
	}); lost != nil || len(out.Matters) == 0 {
		return err
	}
	return out
}

// matter is what a decision is about, if it waits for a person. Staged memory any of its
// reviewers may reject.
func matter(g access.Grant, d decisionIn, tainted bool) (m ReviewItem, waits bool, err error) {
	if w, err := controller.Reviewed(g, d.ID); !errors.Is(err, schemas.ErrNotFound) {
		return ReviewItem{ID: d.ID, Name: w.Intent, Author: g.NameOf(w.Submitter)}, err == nil, err
	}
	if s, err := work.Show(g, d.ID, false); !errors.Is(err, schemas.ErrNotFound) {
		return ReviewItem{ID: d.ID, Name: s.Intent, Author: s.Holder}, err == nil && s.State == schemas.WorkHeld, err
	}
	if a, err := roles.Find(g, d.ID); !errors.Is(err, schemas.ErrNotFound) {
		var why string
		if err == nil {
			why, err = a.PersonNeeded(g, tainted)
		}
		return ReviewItem{ID: a.ID, Name: a.Title, Author: g.NameOf(a.Agent)},
			err == nil && d.Decision == "approve" && a.State == schemas.ReviewPending && why != "", err
	}
	entries, err := review.Show(g, []string{d.ID}, tainted)
	if err != nil || d.Decision != "approve" {
		return m, false, err
	}
	e := entries[0]
	return ReviewItem{ID: e.ID, Name: e.Name, Author: e.Author}, e.State == schemas.ReviewPending && e.Person != "", nil
}

// decidedAlready says how a thing stands that waits no more; "" if it waits, goes on
// without having been decided, or is not there for the caller. It reads what a person
// did with their own key.
func decidedAlready(g access.Grant, id string) (string, error) {
	if state, err := review.StateOf(g, id); !errors.Is(err, schemas.ErrNotFound) {
		if state == schemas.ReviewPending {
			state = ""
		}
		return string(state), err
	}
	if a, err := roles.Find(g, id); !errors.Is(err, schemas.ErrNotFound) {
		if a.State == schemas.ReviewPending {
			return "", err
		}
		return string(a.State), err
	}
	if state, err := controller.StateOf(g, id); !errors.Is(err, schemas.ErrNotFound) {
		if !state.Final() {
			state = ""
		}
		return string(state), err
	}
	s, err := work.Show(g, id, false)
	if errors.Is(err, schemas.ErrNotFound) || err == nil && !s.State.Final() {
		return "", nil
	}
	return string(s.State), err
}
