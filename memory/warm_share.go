package memory

import (
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/schemas"
)

// Share puts an immutable copy of an item into a group. It needs to read the
// item and to write the group at once. The copy keeps author, signature and
// confidence of its source and names the first item of its line as its origin.
//
// What is in quarantine is refused. Sharing the same content of the same origin
// again is answered with the copy that is there.
func Share(g access.Grant, id schemas.ItemID, group schemas.GroupID) (Written, error) {
	if g.Tx() == nil {
		return Written{}, access.ErrNoGrant
	}
	see, err := reachOf(g)
	if err != nil {
		return Written{}, err
	}
	found, err := fetch(g.Tx(), see, []schemas.ItemID{id})
	if err != nil {
		return Written{}, err
	}
	src, ok := found[id]
	if !ok || src.deleted != 0 {
		return Written{}, absent(id)
	}
	err = g.Need(need(access.KindRead, src.visibility, src.owner, src.group),
		need(access.KindWrite, schemas.Group, "", group))
	if errors.Is(err, schemas.ErrNotFound) {
		return Written{}, NoGroup(g, group)
	}
	if err != nil {
		return Written{}, err
	}
	if src.inQuarantine() || src.unreleased() {
		return Written{}, src.unshared()
	}
	if src.confidence < quarantineBelow && src.author == g.Actor() && !byPerson(g) {
		return Written{}, schemas.Deniedf(
			"its author doubted %s (confidence %.3g), so its author does not share it alone", src.id,
			float64(src.confidence)/1000).Try(
			"ask the parent or the user to share it, or write it anew once you are sure")
	}
	if src.visibility == schemas.Group && src.group == group {
		return Written{}, schemas.Invalidf("%s lies in %s already", id,
			group).Expecting("a group that it does not lie in").
			Try("name another group; %s shows yours", schemas.Tool("memory_group", "action", "list"))
	}
	c, err := copyOf(g, src, group)
	if err != nil {
		return Written{}, err
	}
	return place(g, see, c)
}

// unshared words why r, which is held back, is not shared.
func (r *row) unshared() error {
	switch {
	case r.visibility == schemas.Group && access.Reserved(r.group, ""):
		return schemas.Deniedf("%s waits in %s for a decision", r.id,
			r.group).Expecting("an item that was approved into its group").
			Try("its reviewers see it with %s, and %s approves it into the group it is for",
				schemas.Tool("review_list"), schemas.Tool("review_decide"))
	case r.unreleased():
		return r.waits()
	case r.source == FromArchive:
		return schemas.Deniedf("%s is the archive of an agent, and archives are not shared",
			r.id).Try("write what you need of it as a new item")
	}
	return schemas.Deniedf("%s is in quarantine (confidence %.3g)", r.id, float64(r.confidence)/1000).
		Expecting("an item of confidence 0.3 or more, or one its owner validated").
		Try("its owner can say so: %s", schemas.Other("memory_write_warm", "id", r.id, "validated", true))
}

// copyOf is a copy of src for group.
func copyOf(g access.Grant, src row, group schemas.GroupID) (row, error) {
	if src.hidden {
		return src, schemas.Deniedf("%s is hidden with its author",
			src.id).Try("the person or agent that hid that author can show it again: cordelia trust lift AGENT")
	}
	now := g.Tx().Micros()
	c := src
	c.id, c.parent, c.origin = schemas.ItemID(schemas.NewID()), src.id, src.origin
	if c.origin == "" {
		c.origin = src.id
	}
	c.visibility, c.group, c.owner, c.groupTTL = schemas.Group, group, g.Actor(), 0
	c.version, c.created, c.updated, c.current = 1, now, now, true
	c.validTo = src.until() // a copy never changes, so it does not come back with its source
	c.supersedes, c.supersededBy, c.supersededAt = "", "", 0
	var p Provenance
	if err := json.Unmarshal([]byte(src.provenance), &p); err != nil {
		return c, fmt.Errorf("provenance of %s: %w", src.id, err)
	}
	p = p.signedAs(src.id)
	p.DerivedFrom, p.SharedBy = []schemas.ItemID{src.id}, g.Actor()
	c.provenance = encodeProvenance(p)
	var err error
	c.scope, err = scopeOf(g, schemas.Group, string(group))
	return c, err
}

// place stores a copy unless it is there. One that has outlived its time gives way, unless the
// new one would be over as well.
func place(g access.Grant, see readScope, c row) (Written, error) {
	answer := Written{ID: c.id, Version: 1, Status: StatusNew, Stored: true, Confidence: float64(c.confidence) / 1000}
	there, err := rowsOf(g.Tx(), selectCopy, c.origin, c.group, c.hash)
	if err != nil {
		return Written{}, err
	}
	for _, old := range there {
		if now := g.Tx().Micros(); !old.over(now) || c.over(now) {
			return answer.duplicate(old.id), nil
		}
		if err := outlive(g.Tx(), &old); err != nil {
			return Written{}, err
		}
	}
	c.holdBack(g)
	words := rewords(&c)
	rel, err := relate(g.Tx(), see, &c, words)
	if err != nil {
		return Written{}, err
	}
	if rel.equal {
		return answer.duplicate(rel.own), nil
	}
	rel.drop(c.parent) // being like its own source says nothing
	rel.drop(c.origin)
	if err := insert(g.Tx(), &c, words); err != nil {
		return Written{}, err
	}
	if err := link(g.Tx(), c.n, "derived_from", []schemas.ItemID{c.parent}); err != nil {
		return Written{}, err
	}
	if rel.status != StatusNew {
		if err := link(g.Tx(), c.n, string(rel.status), rel.with); err != nil {
			return Written{}, err
		}
	}
	answer.Status, answer.With = rel.status, rel.with
	answer.Quarantined, answer.Unreleased = c.inQuarantine(), c.unreleased()
	return answer, announce(g, &c, rel.conflicts)
}

// duplicate is the answer w for what is there already as id.
func (w Written) duplicate(id schemas.ItemID) Written {
	w.ID, w.Status, w.With, w.Stored = id, StatusDuplicate, []schemas.ItemID{id}, false
	return w
}
