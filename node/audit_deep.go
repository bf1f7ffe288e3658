package node

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
)

const (
	factsAPage = 2000 // audit entries or items that one query reads
	// maxDeepDamage bounds how many rows of one kind a verification names.
	maxDeepDamage = 20
)

// verifyDeep compares what is in force with what the audit record says (INV-DEEP): the
// words of every item, the group it lies in and whether it instructs its readers, every
// membership, every agent's capabilities, grants and parent, and every release. Where older entries say nothing of
// one of these, it is not compared. The record itself is verified already. What the record allowed and
// is no longer there is no damage: things are deleted and expire.
func verifyDeep(tx *store.Tx, v *events.Verified) error {
	d := &deep{v: v, items: map[schemas.ItemID]itemFact{}, members: map[joined]fact{},
		agents:   map[schemas.EntityID]rights{},
		releases: map[schemas.ItemID]fact{}, made: map[schemas.GroupID]int64{}, named: map[string]int{}}
	for _, check := range []func(*store.Tx) error{d.read, d.checkItems, d.checkMembers, d.checkAgents,
		d.checkReleases} {
		if err := check(tx); err != nil {
			return err
		}
	}
	d.v.Deep = &d.found
	return nil
}

// deep is such a verification under way: what the record says last of each thing.
type deep struct {
	v     *events.Verified
	found events.Deep
	named map[string]int // damage by kind of row

	items    map[schemas.ItemID]itemFact
	members  map[joined]fact
	agents   map[schemas.EntityID]rights
	releases map[schemas.ItemID]fact
	made     map[schemas.GroupID]int64 // swarms' groups of whose members the record has only the number, by time
	imported int                       // items that came in before imports were recorded one by one
	restored int64                     // the newest restore that did not record what it carried over
}

// fact is the last word of the record on one thing.
type fact struct {
	seq    int64
	value  string // "" where the detail was erased, or says nothing of it
	erased bool
}

// itemFact is the last word of the record on one item.
type itemFact struct {
	fact          // of its words
	place  string // where it lies, "" where no entry says so
	known  bool   // whether it takes effect is said
	effect bool
}

// joined is a member of a group.
type joined struct {
	group  schemas.GroupID
	entity schemas.EntityID
}

// rights is the last word of the record on what one agent may do.
type rights struct {
	fact
	grants string
	parent schemas.EntityID // "" where no entry says so
}

// factDetail is what the details of the entries have in common.
type factDetail struct {
	ContentHash  string               `json:"content_hash"`
	Visibility   schemas.Visibility   `json:"visibility"`
	Group        schemas.GroupID      `json:"group"`
	InForce      *bool                `json:"in_force"` // of an instruction
	Released     *bool                `json:"released"`
	Parent       schemas.EntityID     `json:"parent"`
	Member       schemas.EntityID     `json:"member"`
	Role         string               `json:"role"`
	Left         schemas.EntityID     `json:"left"`
	Owner        schemas.EntityID     `json:"owner"`
	Members      json.RawMessage      `json:"members"` // of a new swarm's group: who, or in older records how many
	Capabilities json.RawMessage      `json:"capabilities"`
	After        json.RawMessage      `json:"after"`
	Grants       json.RawMessage      `json:"grants"`
	Imported     *struct{ Items int } `json:"imported"` // of an import that did not record each item
	CarriedEach  bool                 `json:"carried_each"`
}

// read takes in the whole record, oldest entry first.
func (d *deep) read(tx *store.Tx) error {
	type entry struct {
		seq, at int64
		target  string
		detail  sql.NullString
		hash    []byte
	}
	for after := int64(0); ; {
		rows, err := tx.Query(selectFacts, after, factsAPage)
		page, err := store.Collect(rows, err, func(r *sql.Rows) (e entry, err error) {
			return e, r.Scan(&e.seq, &e.at, &e.target, &e.detail, &e.hash)
		})
		if err != nil {
			return fmt.Errorf("read the audit record: %w", err)
		}
		for _, e := range page {
			after = e.seq
			var detail factDetail
			if e.detail.Valid && json.Unmarshal([]byte(e.detail.String), &detail) != nil {
				continue // another kind of entry
			}
			d.note(e.seq, e.at, e.target, detail, !e.detail.Valid && !bytes.Equal(e.hash, events.NoDetail()))
		}
		if len(page) < factsAPage {
			return nil
		}
	}
}

// note takes in one entry: what it says is the last word on its target so far.
func (d *deep) note(seq, at int64, target string, detail factDetail, erased bool) {
	kind, id, _ := strings.Cut(target, "/")
	switch {
	case target == events.RestoreTarget:
		if !detail.CarriedEach {
			d.restored = seq
		}
	case kind == "item":
		item := schemas.ItemID(id)
		d.noteItem(seq, item, detail, erased)
		if detail.Released != nil || erased {
			d.releases[item] = fact{seq: seq, erased: erased}
			if detail.Released != nil {
				d.releases[item] = fact{seq: seq, value: fmt.Sprint(*detail.Released)}
			}
		}
	case kind == "group":
		d.noteGroup(seq, at, schemas.GroupID(id), detail)
	case detail.Imported != nil:
		d.imported += detail.Imported.Items
	case detail.After != nil:
		d.agents[schemas.EntityID(target)] = rights{fact{seq: seq, value: string(detail.After)}, string(detail.Grants),
			d.agents[schemas.EntityID(target)].parent}
	case detail.Capabilities != nil:
		d.agents[schemas.EntityID(target)] = rights{fact{seq: seq, value: string(detail.Capabilities)},
			string(detail.Grants), detail.Parent}
	}
}

func (d *deep) noteItem(seq int64, id schemas.ItemID, detail factDetail, erased bool) {
	item := d.items[id]
	if detail.ContentHash != "" && detail.ContentHash != item.value || erased {
		item.known = false // what was said of its effect was about other words
	}
	if detail.ContentHash != "" || erased || item.seq == 0 {
		item.fact = fact{seq, detail.ContentHash, erased}
	}
	if detail.Visibility != "" {
		item.place = placeOf(detail.Visibility, detail.Group)
	}
	for _, said := range []*bool{detail.Released, detail.InForce} {
		if said != nil {
			item.known, item.effect = true, *said
		}
	}
	d.items[id] = item
}

func placeOf(v schemas.Visibility, group schemas.GroupID) string {
	if v == schemas.Group {
		return "group " + string(group)
	}
	return string(v)
}

func (d *deep) noteGroup(seq, at int64, group schemas.GroupID, detail factDetail) {
	if detail.Owner != "" {
		d.members[joined{group, detail.Owner}] = fact{seq: seq, value: "owner"}
	}
	var listed []memory.Joined
	if len(detail.Members) > 0 {
		if json.Unmarshal(detail.Members, &listed) != nil {
			d.made[group] = at
		}
		for _, m := range listed {
			d.members[joined{group, m.ID}] = fact{seq: seq, value: string(m.Role)}
		}
	}
	if detail.Member != "" {
		d.members[joined{group, detail.Member}] = fact{seq: seq, value: detail.Role}
	}
	if detail.Left != "" {
		delete(d.members, joined{group, detail.Left})
	}
}

// damage names a row that is not what the record says, up to a bound of each kind.
func (d *deep) damage(kind string, how events.Tampering, seq int64, format string, args ...any) {
	d.named[kind]++
	switch n := d.named[kind]; {
	case n <= maxDeepDamage:
		d.v.Damage = append(d.v.Damage, events.Damage{Kind: how, From: seq, Until: seq,
			What: fmt.Sprintf(format, args...)})
	case n == maxDeepDamage+1:
		d.v.Notes = append(d.v.Notes, fmt.Sprintf("more than %d %s are not what the record says; the first are named",
			maxDeepDamage, kind))
	}
}

// body is an item as it is stored.
type body struct {
	n          int64
	id         schemas.ItemID
	typ        memory.ItemType
	data       string
	storedHash []byte
	visibility schemas.Visibility
	group      schemas.GroupID
	held       bool // it is quarantined, so that it instructs no agent
}

// checkItems recomputes the hash of every item's words.
func (d *deep) checkItems(tx *store.Tx) error {
	unknown := 0
	for after := int64(0); ; {
		rows, err := tx.Query(selectBodies, after, factsAPage)
		page, err := store.Collect(rows, err, func(r *sql.Rows) (b body, err error) {
			return b, r.Scan(&b.n, &b.id, &b.typ, &b.data, &b.storedHash, &b.visibility, &b.group, &b.held)
		})
		if err != nil {
			return fmt.Errorf("read items: %w", err)
		}
		for _, b := range page {
			after = b.n
			known, recorded := d.items[b.id]
			if b.data == "" { // purged: only that it was there is left
				continue
			}
			hash, err := memory.ContentHash(b.typ, []byte(b.data))
			switch {
			case err != nil || !bytes.Equal(hash[:], b.storedHash):
				d.damage("items", events.Changed, known.seq,
					"the words of item %s were changed: they are not those its hash was made of", b.id)
			case !recorded:
				if unknown++; unknown > d.imported {
					d.damage("items", events.Inserted, 0, "item %s was never written through the node: it was inserted",
						b.id)
				}
			case known.erased || known.value == "":
				d.found.Unproven++
			case known.value != hex.EncodeToString(b.storedHash):
				d.damage("items", events.Changed, known.seq,
					"item %s was changed: entry %d has another hash of its words", b.id, known.seq)
			case d.misplaced(known, b):
			case memory.Instructs(b.typ, b.data) && !b.held && !known.known:
				d.found.Unproven++ // older entries do not say that it takes effect
			default:
				d.found.Items++
			}
		}
		if len(page) < factsAPage {
			break
		}
	}
	d.found.Unproven += int64(min(unknown, d.imported))
	return nil
}

// misplaced names an item that lies where, or instructs although, no entry says so. An item
// goes home to its owner by itself when its author leaves the group.
func (d *deep) misplaced(known itemFact, b body) bool {
	switch place := placeOf(b.visibility, b.group); {
	case known.place != "" && known.place != place && b.visibility != schemas.Private:
		d.damage("items", events.Changed, known.seq, "item %s lies in %s, and entry %d put it in %s", b.id, place,
			known.seq, known.place)
	case memory.Instructs(b.typ, b.data) && !b.held && known.known && !known.effect:
		d.damage("items", events.Changed, known.seq, "item %s instructs, and the record has no release of it", b.id)
	default:
		return false
	}
	return true
}

func (d *deep) checkMembers(tx *store.Tx) error {
	type row struct {
		joined
		role  string
		since int64
	}
	rows, err := tx.Query(selectJoined)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (m row, err error) {
		return m, r.Scan(&m.group, &m.entity, &m.role, &m.since)
	})
	if err != nil {
		return fmt.Errorf("read members: %w", err)
	}
	for _, m := range list {
		known, recorded := d.members[m.joined]
		made, counted := d.made[m.group]
		switch {
		case recorded && known.value == m.role:
			d.found.Members++
		case d.restored > known.seq, !recorded && counted && made == m.since:
			d.found.Unproven++ // an older record has only how many there were
		case recorded:
			d.damage("memberships", events.Changed, known.seq, "%s is %s of group %s, and entry %d made it %s",
				m.entity, m.role, m.group, known.seq, known.value)
		default:
			d.damage("memberships", events.Inserted, 0,
				"%s was never made a member of group %s: the membership was inserted", m.entity, m.group)
		}
	}
	return nil
}

func (d *deep) checkAgents(tx *store.Tx) error {
	type row struct {
		id, parent         schemas.EntityID
		name, caps, grants string
	}
	rows, err := tx.Query(selectRights)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (a row, err error) {
		return a, r.Scan(&a.id, &a.name, &a.caps, &a.grants, &a.parent)
	})
	if err != nil {
		return fmt.Errorf("read agents: %w", err)
	}
	for _, a := range list {
		known, recorded := d.agents[a.id]
		switch {
		case recorded && known.value == a.caps && known.grants == a.grants &&
			(known.parent == "" || known.parent == a.parent): // older entries do not say who stands above it
			d.found.Agents++
		case recorded && known.parent != "" && known.parent != a.parent:
			d.damage("agents", events.Changed, known.seq, "agent %s (%s) stands below %s, and was registered below %s",
				a.name, a.id, a.parent, known.parent)
		case d.restored > known.seq:
			d.found.Unproven++
		case recorded:
			d.damage("agents", events.Changed, known.seq, "the capabilities of agent %s (%s) are not those of entry %d",
				a.name, a.id, known.seq)
		default:
			d.damage("agents", events.Inserted, 0, "agent %s (%s) was never registered: it was inserted", a.name, a.id)
		}
	}
	return nil
}

func (d *deep) checkReleases(tx *store.Tx) error {
	type row struct {
		item     schemas.ItemID
		released bool
	}
	rows, err := tx.Query(selectInEffect)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (x row, err error) {
		return x, r.Scan(&x.item, &x.released)
	})
	if err != nil {
		return fmt.Errorf("read releases: %w", err)
	}
	for _, r := range list {
		known, recorded := d.releases[r.item]
		switch {
		case recorded && known.value == fmt.Sprint(r.released):
			d.found.Releases++
		case known.erased, d.restored > known.seq:
			d.found.Unproven++
		case !r.released: // it only withholds
		default:
			d.damage("releases", events.Inserted, known.seq,
				"item %s counts as released, and the record has no such release", r.item)
		}
	}
	return nil
}
