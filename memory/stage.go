package memory

import (
	"bytes"
	"cmp"
	"fmt"

	"cordelia/access"
	"cordelia/schemas"
)

// CreateStaging makes the group in which what agent brings back waits. The node makes it, and
// agent and parent are its viewers: only Stage writes there.
func CreateStaging(g access.Grant, id schemas.GroupID, agent, parent schemas.EntityID) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	if err := schemas.CheckGroupID(string(id)); err != nil {
		return err
	}
	// Nothing leaves with who leaves: what was brought is for review.
	culture := Culture{Broadcast: Taciturn, Notification: Silent, Departure: Permissive}
	if _, err := g.Tx().Exec(insertGroup, id, StagingGroup, parent, "", encodeCulture(culture),
		g.Tx().Micros()); err != nil {
		return fmt.Errorf("make staging group: %w", err)
	}
	for _, who := range []schemas.EntityID{parent, agent} {
		if err := join(g, id, who, access.RoleViewer); err != nil {
			return err
		}
	}
	return g.Audit("group/"+string(id), map[string]any{"kind": StagingGroup, "owner": parent, "agent": agent,
		"members": []Joined{{parent, access.RoleViewer}, {agent, access.RoleViewer}}})
}

// CloseStaging ends a staging group: it takes no more items, and the agent and
// its parent leave it. The human above still reads what it holds.
func CloseStaging(g access.Grant, id schemas.GroupID, members ...schemas.EntityID) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	if _, err := g.Tx().Exec(archiveGroup, g.Tx().Micros(), id, StagingGroup); err != nil {
		return fmt.Errorf("close staging group: %w", err)
	}
	for _, who := range members {
		if err := Leave(g, id, who); err != nil {
			return err
		}
	}
	return g.RightsChanged()
}

// Content is the data of a new item, in its one form.
func (d *Draft) Content() []byte { return d.content.data }

// Says reports whether a new item would say what i does, of the same time and with the same weight.
func (d *Draft) Says(i Item) bool {
	confidence := DefaultConfidence
	if d.Confidence != nil {
		confidence = thousandths(*d.Confidence)
	}
	return d.Type == i.Type && bytes.Equal(d.content.data, i.Data) && d.Subject == i.Subject && d.Key == i.Key &&
		micros(d.ValidFrom) == micros(i.ValidFrom) && micros(d.ValidTo) == micros(i.ValidTo) &&
		confidence == thousandths(i.Confidence) && cmp.Or(d.Source, FromAgent) == i.Provenance.Source
}

// Stage writes what d asks for into a staging group the actor is in, as the
// actor's. Nothing finds it, nothing is compared with it and nothing shares it: it
// shows by its id to the actor and those above (INV-STAGED).
func Stage(g access.Grant, staging schemas.GroupID, d *Draft) (schemas.ItemID, error) {
	if g.Tx() == nil {
		return "", access.ErrNoGrant
	}
	if err := g.Need(need(access.KindRead, schemas.Group, "", staging)); err != nil {
		return "", err
	}
	r := d.row(g)
	r.group, r.quarantined, r.current = staging, true, false
	err := r.taint(g, d, false)
	if err != nil {
		return "", err
	}
	if r.scope, err = scopeOf(g, schemas.Group, string(staging)); err != nil {
		return "", err
	}
	if err := insert(g.Tx(), &r, d.words); err != nil {
		return "", err
	}
	return r.id, announce(g, &r, nil)
}

// Approve puts a copy of a staged item into group, as Share does, and needs the
// same rights. What it says must be what was staged: CodeConflict if it is not.
func Approve(g access.Grant, id schemas.ItemID, group schemas.GroupID) (Written, error) {
	see, src, err := staged(g, id)
	if err != nil {
		return Written{}, err
	}
	if err := mayWrite(g, schemas.Group, "", group); err != nil {
		return Written{}, err
	}
	held, err := ContentHash(src.typ, []byte(src.data))
	if err != nil {
		return Written{}, fmt.Errorf("hash item: %w", err)
	}
	if !bytes.Equal(held[:], src.hash) {
		return Written{}, schemas.Conflictf("%s was changed outside the node",
			id).Try("reject it; its author can hand it in again")
	}
	c, err := copyOf(g, *src, group)
	if err != nil {
		return Written{}, err
	}
	c.quarantined = false
	return place(g, see, c)
}

// Comparison is what a staged item would be among the items of a group.
type Comparison struct {
	Status Status
	With   []schemas.ItemID
	Hidden bool // with its author: it cannot be approved until that is lifted
}

// StandingIn says what a staged item would be beside what its reader may see of the
// items in group, and writes nothing.
func StandingIn(g access.Grant, id schemas.ItemID, group schemas.GroupID) (Comparison, error) {
	out := Comparison{Status: StatusNew}
	see, src, err := staged(g, id)
	if err != nil {
		return out, err
	}
	out.Hidden = src.hidden
	scope := see.places[[2]string{string(schemas.Group), string(group)}]
	if scope == 0 { // nothing was ever written there, or it is hidden
		return out, nil
	}
	c := *src
	// without an owner, so that equal items of the reader are reported, too
	c.scope, c.group, c.owner, c.current = scope, group, "", true
	words := rewords(&c)
	rel, err := relate(g.Tx(), see, &c, words)
	if err != nil {
		return out, err
	}
	rel.drop(src.id)
	out.Status, out.With = rel.status, rel.with
	return out, nil
}

// staged reads an item of a staging group that is open to the actor.
func staged(g access.Grant, id schemas.ItemID) (readScope, *row, error) {
	see, err := reachOf(g)
	if err != nil {
		return see, nil, err
	}
	found, err := fetch(g.Tx(), see, []schemas.ItemID{id})
	if err != nil {
		return see, nil, err
	}
	r, ok := found[id]
	if !ok || r.deleted != 0 || r.group == "" {
		return see, nil, absent(id)
	}
	var kind GroupKind
	if err := g.Tx().QueryRow(selectKind, r.group).Scan(&kind); err != nil {
		return see, nil, fmt.Errorf("read group: %w", err)
	}
	if kind != StagingGroup {
		return see, nil, absent(id)
	}
	return see, &r, nil
}

// Discard removes the text of staged items that were not approved: for who may see
// them, or the node.
func Discard(g access.Grant, ids []schemas.ItemID) error {
	for _, id := range ids {
		r, err := discardable(g, id)
		if err != nil {
			return err
		}
		if err := erase(g, r); err != nil {
			return err
		}
	}
	return nil
}

func discardable(g access.Grant, id schemas.ItemID) (*row, error) {
	if !g.IsNode() {
		_, r, err := staged(g, id)
		return r, err
	}
	found, err := rowsOf(g.Tx(), selectOwn, id)
	if err != nil || len(found) == 0 {
		return nil, cmp.Or(err, absent(id))
	}
	return &found[0], nil
}

// Hides reports whether what d asks for would not be surfaced until it was
// validated.
func (d *Draft) Hides() bool {
	return d.Confidence != nil && thousandths(*d.Confidence) < quarantineBelow
}

// Instructs reports whether i tells its readers what to do.
func (i Item) Instructs() bool { return Instructs(i.Type, string(i.Data)) }
