package memory

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Status is what a written item turned out to be beside those its writer may read.
type Status string

const (
	StatusNew       Status = "new"
	StatusUpdated   Status = "updated"
	StatusDuplicate Status = "duplicate_of"
	StatusRefines   Status = "refines"
	StatusConflicts Status = "conflicts_with"
)

// Written is the answer to a write.
type Written struct {
	ID          schemas.ItemID
	Version     int
	Status      Status
	With        []schemas.ItemID // the items Status speaks of
	Stored      bool             // false when an own duplicate was there already
	Quarantined bool             // kept, but not surfaced until validated or released
	Unreleased  bool             // it instructs and waits for a person
	Over        bool             // it has expired, or is no longer valid
	Tainted     bool             // kept as external, for what its writer or a source of it had read
	Confidence  float64          // after the lineage was weighed
	BoundTo     schemas.GroupID  // the group it went to because of the writer's folder
	Group       schemas.GroupID  // it lies in
	Contested   schemas.ItemID   // what it was to replace, which another one must allow
	Low         schemas.GroupID  // the group it was for: nothing was written, its writer may propose it
}

// Put writes d. Near and equal items are never merged in silence: an equal one of the same
// owner in the same place is answered with its id and nothing is written, any other relation is
// recorded and reported. The answer names only items that the writer may read (INV-NO-ORACLE).
//
// Errors: CodeNotFound (the group, a source, or the item to change or supersede
// is absent or hidden), CodeDenied, CodeConflict (if_version).
func Put(g access.Grant, d *Draft) (Written, error) {
	if g.Tx() == nil {
		return Written{}, access.ErrNoGrant
	}
	if d.ID != "" {
		return change(g, d)
	}
	r := d.row(g)
	bound, see, err := d.place(g, &r)
	if errors.Is(err, schemas.ErrDenied) && r.visibility == schemas.Group {
		if may, bad := g.MayPropose(r.group); bad != nil || may {
			return Written{Low: r.group, BoundTo: bound}, bad
		}
	}
	if err != nil {
		return Written{}, err
	}
	w, err := d.create(g, see, &r)
	w.BoundTo = bound
	return w, err
}

// create writes a new item whose place is known, unless its author has written the same there.
func (d *Draft) create(g access.Grant, see readScope, r *row) (Written, error) {
	if err := d.weigh(g, see, r); err != nil {
		return Written{}, err
	}
	old, may, err := d.successorOf(g, see, r)
	if err != nil {
		return Written{}, err
	}
	var contested schemas.ItemID
	if old != nil && !may {
		contested, r.supersedes = old.id, ""
	}
	rel, err := relate(g.Tx(), see, r, d.words)
	if err != nil {
		return Written{}, err
	}
	if rel.own != "" && rel.own != d.Supersedes {
		return Written{ID: rel.own, Status: StatusDuplicate, With: []schemas.ItemID{rel.own}, Version: rel.ownVersion,
			Confidence: float64(r.confidence) / 1000, Group: r.group, Contested: contested}, nil
	}
	if contested != "" {
		rel.contest(old)
	} else if old != nil {
		rel.drop(old.id)
		if err := retire(g, old, r); err != nil {
			return Written{}, err
		}
	}
	if err := d.keep(g, r, &rel); err != nil {
		return Written{}, err
	}
	if contested != "" {
		if err := link(g.Tx(), old.n, string(StatusConflicts), []schemas.ItemID{r.id}); err != nil {
			return Written{}, err
		}
	}
	return Written{ID: r.id, Version: 1, Status: rel.status, With: rel.with, Stored: true,
		Quarantined: r.inQuarantine(), Unreleased: r.unreleased(), Over: r.over(g.Tx().Micros()), Tainted: r.tainted,
		Confidence: float64(r.confidence) / 1000, Group: r.group, Contested: contested}, nil
}

// place gives r its place, that of the writer's folder if the draft names none, and asks
// whether it may be written there. It returns the group of the folder, if that counted,
// and what the writer may read.
func (d *Draft) place(g access.Grant, r *row) (bound schemas.GroupID, see readScope, err error) {
	if d.anywhere {
		if bound, err = BoundGroup(g, d.Dir); err != nil {
			return "", readScope{}, err
		}
		if bound != "" {
			r.visibility, r.group = schemas.Group, bound
		}
	}
	if err := mayWrite(g, r.visibility, r.owner, r.group); err != nil {
		return bound, readScope{}, err
	}
	if see, err = reachOf(g); err != nil {
		return "", readScope{}, err
	}
	ref := string(r.owner)
	switch r.visibility {
	case schemas.Group:
		ref = string(r.group)
	case schemas.Public:
		ref = ""
	}
	if r.scope = see.places[[2]string{string(r.visibility), ref}]; r.scope == 0 {
		r.scope, err = scopeOf(g, r.visibility, ref)
	}
	return bound, see, err
}

// weigh decides how far r is believed and whether it is shown, by its sources, by what
// its writer had read and by who that is.
func (d *Draft) weigh(g access.Grant, see readScope, r *row) error {
	secondHand, err := weighLineage(g.Tx(), see, d.DerivedFrom, &r.confidence)
	if err != nil {
		return err
	}
	if err := r.taint(g, d, secondHand); err != nil {
		return err
	}
	r.holdBack(g)
	r.hidden = see.hides(r.scope, append(g.Via(), r.author)...)
	return nil
}

// successorOf is the item r is to take the place of, nil if none, and whether the actor
// may decide that. What would not be shown takes no place; what a person has to allow
// may still wait for its release, which that person gives with it.
func (d *Draft) successorOf(g access.Grant, see readScope, r *row) (old *row, may bool, err error) {
	if old, err = superseded(g.Tx(), see, d, r.scope); err != nil || old == nil {
		return nil, false, err
	}
	if may, err = maySupersede(g, old); err != nil {
		return nil, false, err
	}
	if r.hidden || may && r.unreleased() || !may && r.inQuarantine() && !r.unreleased() {
		return nil, false, schemas.Invalidf("this item would not be shown, so it supersedes nothing").
			Expecting("an item without supersedes").Try(
			"write it without; once it is shown, delete %s with %s", old.id, schemas.Tool("memory_delete_warm"))
	}
	return old, may, nil
}

// keep writes r with its links, and tells of it.
func (d *Draft) keep(g access.Grant, r *row, rel *relation) error {
	if err := insert(g.Tx(), r, d.words); err != nil {
		return err
	}
	if err := link(g.Tx(), r.n, "derived_from", d.DerivedFrom); err != nil {
		return err
	}
	if rel.status != StatusNew {
		if err := link(g.Tx(), r.n, string(rel.status), rel.with); err != nil {
			return err
		}
	}
	if err := reconsider(g, r, d.Known); err != nil {
		return err
	}
	return announce(g, r, rel.conflicts)
}

// mayWrite asks the grant; a hidden group is worded as an absent one.
func mayWrite(g access.Grant, v schemas.Visibility, owner schemas.EntityID, group schemas.GroupID) error {
	err := g.Need(need(access.KindWrite, v, owner, group))
	if errors.Is(err, schemas.ErrNotFound) && v == schemas.Group {
		return NoGroup(g, group)
	}
	return err
}

// row is the new item d describes.
func (d *Draft) row(g access.Grant) row {
	now := g.Tx().Micros()
	r := row{
		id: d.id, typ: d.Type, owner: g.Actor(), author: g.Actor(), visibility: d.Visibility, group: d.Group,
		version: 1, subject: d.Subject, key: d.Key, supersedes: d.Supersedes,
		validFrom: micros(d.ValidFrom), validTo: micros(d.ValidTo), confidence: DefaultConfidence,
		current: true, created: now, updated: now,
	}
	if d.Confidence != nil {
		r.confidence = thousandths(*d.Confidence)
	}
	r.validated = d.Validated != nil && *d.Validated
	if d.TTLSeconds != nil && *d.TTLSeconds > 0 {
		r.expires = now + *d.TTLSeconds*1_000_000
	}
	d.fill(g, &r)
	return r
}

// fill puts the draft's content and its provenance into r.
func (d *Draft) fill(g access.Grant, r *row) {
	session := g.Principal().Session
	r.data, r.name = string(d.content.data), d.content.name()
	r.tags = store.List(d.content.tags())
	r.thread = d.content.thread(session)
	r.hash = d.hash[:]
	r.terms, r.tokens = d.words.terms, d.words.tokens
	r.source = d.Source
	if r.source == "" {
		r.source = FromAgent
		if g.IsHuman() {
			r.source = FromUser
		}
	}
	r.author = g.Actor()
	r.provenance = encodeProvenance(Provenance{
		Author: g.Actor(), Via: g.Via(), Source: r.source, DerivedFrom: d.DerivedFrom, Session: session,
		ContentHash: hex.EncodeToString(d.hash[:]), Signature: base64.StdEncoding.EncodeToString(d.signature),
		SignedBy: d.signedBy,
		At:       events.Timestamp(g.Tx().Micros()),
	})
}

func encodeProvenance(p Provenance) string {
	b, err := json.Marshal(p)
	if err != nil { // strings and bytes only
		panic(fmt.Sprintf("memory: encode provenance: %v", err))
	}
	return string(b)
}

// weighLineage checks that every source may be read and lowers confidence to
// the least of theirs (INV-LINEAGE). It reports whether one is second-hand.
func weighLineage(tx querier, see readScope, ids []schemas.ItemID, confidence *int) (secondHand bool, err error) {
	if len(ids) == 0 {
		return false, nil
	}
	sources, err := fetch(tx, see, ids)
	if err != nil {
		return false, err
	}
	var missing []schemas.Violation
	for i, id := range ids {
		src, ok := sources[id]
		if !ok {
			missing = append(missing, schemas.Violation{Path: fmt.Sprintf("/derived_from/%d", i),
				Msg: "there is no item with this id here"})
			continue
		}
		*confidence = min(*confidence, src.confidence)
		secondHand = secondHand || src.secondHand()
	}
	if len(missing) > 0 {
		return false, schemas.NotFoundf("the item was not written: not all of its sources are here").
			Expecting("ids of items you may read").
			Try("%s finds the ids you may name", schemas.Tool("memory_search")).With(missing...)
	}
	return secondHand, nil
}

// fetch reads visible items by id; what is deleted, over or hidden shows to its
// owner and those above alone, and what is withheld not even to them.
func fetch(tx querier, see readScope, ids []schemas.ItemID) (map[schemas.ItemID]row, error) {
	rows, err := tx.Query(selectItems, see.byID(), store.List(see.below), store.List(ids))
	found, err := store.Collect(rows, err, scanRow)
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	ns := make([]int64, len(found))
	for i := range found {
		ns[i] = found[i].n
	}
	hidden, err := see.hiddenAmong(tx, ns)
	if err != nil {
		return nil, err
	}
	superseded := make([]*row, len(found))
	for i := range found {
		superseded[i] = &found[i]
	}
	if err := see.resolve(tx, superseded, see.now); err != nil {
		return nil, err
	}
	out := make(map[schemas.ItemID]row, len(found))
	for _, r := range found {
		r.hidden = hidden[r.n]
		if see.withholds(r.provenance) {
			continue
		}
		if r.deleted == 0 && !r.ended(see.now) && !r.hidden || see.includes(r.owner) {
			out[r.id] = r
		}
	}
	return out, nil
}

// superseded is the item d replaces, nil if none.
func superseded(tx querier, see readScope, d *Draft, scope int64) (*row, error) {
	if d.Supersedes == "" {
		return nil, nil
	}
	found, err := fetch(tx, see, []schemas.ItemID{d.Supersedes})
	if err != nil {
		return nil, err
	}
	old, ok := found[d.Supersedes]
	switch {
	case !ok || old.deleted != 0:
		return nil, absent(d.Supersedes)
	case old.scope != scope:
		return nil, schemas.Invalidf("an item supersedes only an item of the same place").
			Expecting("visibility and group of %s", d.Supersedes).With(schemas.Violation{Path: "/supersedes",
			Msg: "lies in another place"})
	case old.isLesson() && !see.human:
		return nil, schemas.Deniedf("%s is a lesson the node drew from a task", d.Supersedes).
			Try("write what you know as an item of its own; a newer lesson about the same tools counts instead of " +
				"this one")
	case old.supersededBy != "":
		return nil, schemas.Conflictf("%s was superseded by %s already", d.Supersedes, old.supersededBy).
			Try("read %s with %s, then supersede that one", old.supersededBy, schemas.Tool("memory_read_warm"))
	}
	return &old, nil
}

// staleCopies marks the copies of an origin.
func staleCopies(tx *store.Tx, origin schemas.ItemID, why string) error {
	if _, err := tx.Exec(markCopies, why, origin); err != nil {
		return fmt.Errorf("mark copies: %w", err)
	}
	return nil
}

// recorded is what the audit record holds of r as it is, besides more; a deep
// verification compares the two.
func (r *row) recorded(more map[string]any) map[string]any {
	detail := map[string]any{"version": r.version, "group": r.group, "visibility": r.visibility,
		"content_hash": hex.EncodeToString(r.hash)}
	if Instructs(r.typ, r.data) {
		detail["in_force"] = !r.quarantined
	}
	maps.Copy(detail, more)
	return detail
}

// announce records r, which was written or took effect, and tells its group, as loudly as the
// group's culture wants.
func announce(g access.Grant, r *row, conflicts []schemas.ItemID) error {
	if err := g.Audit("item/"+string(r.id), r.recorded(map[string]any{"type": r.typ})); err != nil {
		return err
	}
	if !r.eventful() {
		return nil
	}
	culture, err := knownCulture(g, r.group)
	if err != nil {
		return err
	}
	stream := events.GroupStream(r.group)
	if culture.Broadcast != Taciturn {
		if err := g.Emit(stream, schemas.EventMemoryWritten,
			schemas.MemoryWritten{ItemID: r.id, Type: string(r.typ), GroupID: r.group}); err != nil {
			return err
		}
	}
	for _, id := range conflicts {
		if err := g.Emit(stream, schemas.EventMemoryConflict,
			schemas.MemoryConflict{ItemID: r.id, WithID: id, GroupID: r.group}); err != nil {
			return err
		}
	}
	return nil
}
