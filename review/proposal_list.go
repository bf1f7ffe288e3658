package review

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/trust"
)

// proposalPage lists what agents propose to the actor, an entry for each agent, in the
// order of their ids.
func proposalPage(g access.Grant, after string, limit int,
	tainted bool) (entries []Entry, last string, more bool, err error) {
	if len(g.Via()) > 0 {
		return nil, "", false, nil // a review is decided in person
	}
	rows, err := g.Tx().Query(selectProposers, g.Actor(), after, limit+1)
	found, err := store.Collect(rows, err, scanProposal)
	if err != nil {
		return nil, "", false, fmt.Errorf("list proposals: %w", err)
	}
	for len(found) > 0 {
		if len(entries) == limit {
			return entries, last, true, nil
		}
		n := 1
		for n < len(found) && found[n].author == found[0].author {
			n++
		}
		e, err := proposalEntry(g, found[:n], tainted, false)
		if err != nil {
			return nil, "", false, err
		}
		entries, last, found = append(entries, e), string(found[0].author), found[n:]
	}
	return entries, last, false, nil
}

// showProposals gives what an id names, whole.
func showProposals(g access.Grant, id string, tainted bool) (Entry, error) {
	list, err := findProposals(g, id)
	if err == nil {
		err = mayReview(g, list[0].author)
	}
	if err != nil {
		return Entry{}, err
	}
	e, err := proposalEntry(g, list, tainted, true)
	e.ID = id
	return e, err
}

// proposalEntry shows what one agent proposes: one proposal as itself, several as one.
func proposalEntry(g access.Grant, list []proposal, tainted, detail bool) (Entry, error) {
	first := list[0]
	e := Entry{ID: first.id, Kind: Proposed, State: first.state, Author: nameOf(g, first.author),
		AuthorID: first.author,
		Group:    first.Target, Replaces: first.Supersedes, At: events.Timestamp(first.at)}
	s, err := trust.Read(g, string(first.author))
	if err != nil {
		return e, err
	}
	e.Tier = s.Tier
	hash, whole := sha256.New(), true
	for _, p := range list {
		h, all, err := p.addTo(g, &e, len(list) == 1, tainted, detail)
		if err != nil {
			return e, err
		}
		hash.Write(h) //nolint:errcheck // never fails
		whole = whole && all
	}
	if len(list) > 1 {
		e.ID, e.Name, e.Replaces, e.Group = batchPrefix+e.Author, schemas.Count(len(list), "proposal",
			"proposals"), "", ""
		e.Hash = hex.EncodeToString(hash.Sum(nil))
	}
	if !whole {
		e.Hash = ""
	}
	return e, nil
}

// addTo adds what p proposes to an entry, alone in it or with others, and gives its hash. all is
// false if the entry does not show the whole of it, so that the entry cannot be approved.
func (p proposal) addTo(g access.Grant, e *Entry, alone, tainted, detail bool) (hash []byte, all bool, err error) {
	if p.state != schemas.ReviewPending {
		return nil, false, nil
	}
	item, hash, err := p.shown(g)
	if errors.Is(err, schemas.ErrNotFound) {
		e.Diff = append(e.Diff, Line{Op: " ", Text: p.id + ": its author took it back"})
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	e.Name = item.Name
	if e.Source == "" || item.Provenance.Source.SecondHand() {
		e.Source = item.Provenance.Source
	}
	reason, err := p.personNeeded(g, item, tainted)
	if err != nil {
		return nil, false, err
	}
	if reason != "" {
		e.Person = reason
	}
	if !alone {
		e.Diff = append(e.Diff, Line{Op: " ", Text: p.line(item.Name)})
	}
	if all, err = p.diff(g, e, item, detail); err != nil {
		return nil, false, err
	}
	if alone {
		e.Hash = hex.EncodeToString(hash)
		if detail {
			e.Item = &item
		}
	}
	return hash, all, nil
}

// line says in a line what p does.
func (p proposal) line(name string) string {
	s := p.id + ": " + name
	if p.Target != "" {
		s += ", for " + string(p.Target)
	}
	if p.Supersedes != "" {
		s += ", to supersede " + string(p.Supersedes)
	}
	return s
}

// diff adds what p changes to e, and reports whether all of it is shown.
func (p proposal) diff(g access.Grant, e *Entry, item memory.Item, detail bool) (all bool, err error) {
	var before []string
	present := p.Supersedes
	if present == "" && p.Staging != "" {
		at, err := memory.StandingIn(g, p.Item, p.Target)
		if err != nil {
			return false, err
		}
		if len(at.With) > 0 {
			e.Status, e.With, present = at.Status, at.With, at.With[0]
		}
	}
	if present != "" {
		if other, err := memory.Get(g, []schemas.ItemID{present}); err == nil {
			before, e.against = shownLines(other[0]), other[0].Provenance.Source
		}
	}
	full := difference(before, shownLines(item))
	lines := full
	if !detail {
		lines = changed(full, 2)
	}
	e.Diff = append(e.Diff, lines...)
	return detail || showsAll(lines, full), nil
}
