package node

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sort"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/roles"
	"cordelia/schemas"
	"cordelia/trust"
	"cordelia/work"
)

type oldKey struct {
	seq                  int64
	public, enc, binding []byte
	from, to             int64
	reason               string
	record               []byte
}

type membership struct {
	group  schemas.GroupID
	entity schemas.EntityID
	role   access.MemberRole
}

type closedGroup struct {
	id              schemas.GroupID
	emcon, archived int64
}

// carriedChanges are what the report tells of each entity, in words.
type carriedChanges map[schemas.EntityID][]string

// carry plans what stays of the present: who may do what, by which key, where.
func (p *restorePlan) carry(present, backup *store.Tx) error {
	var err error
	if p.epoch, err = access.Epoch(present); err != nil {
		return err
	}
	was, err := standings(backup)
	if err != nil {
		return err
	}
	changes := carriedChanges{}
	if err := p.carryStandings(present, backup, was, changes); err != nil {
		return err
	}
	if err := p.carryGroups(present, backup, changes); err != nil {
		return err
	}
	if p.trust, err = trust.LaterThan(present, backup); err != nil {
		return err
	}
	if p.bindings, err = memory.AllBindings(present); err != nil {
		return err
	}
	if p.decisions, err = memory.DecisionsOf(present); err != nil {
		return err
	}
	if p.charters, err = roles.PlanRestore(present, backup); err != nil {
		return err
	}
	if p.cancelled, err = work.Cancelled(present); err != nil {
		return err
	}
	for id, what := range p.charters.Kept() {
		changes[id] = append(changes[id], what)
	}
	p.report.fill(was, changes, p.trust)
	for _, workspace := range p.charters.Places {
		p.report.Notes = append(p.report.Notes, "the workspace "+workspace+" stays as it is now")
	}
	p.report.SuspendedRoles, p.report.Withdrawn = p.charters.Roles, len(p.charters.Asks)
	return nil
}

// carryStandings plans the status, the rights and the keys of each entity in the backup, and
// lists the lost ones: those that only the present database has.
func (p *restorePlan) carryStandings(present, backup *store.Tx, was []standing, changes carriedChanges) error {
	now, err := standings(present)
	if err != nil {
		return err
	}
	known := map[schemas.EntityID]standing{}
	people := map[schemas.EntityID]bool{}
	for _, s := range now {
		known[s.ID] = s
		people[s.ID] = s.human
	}
	for _, w := range was {
		n, ok := known[w.ID]
		delete(known, w.ID)
		if ok && w.lineage != n.lineage || w.human && !ok || !people[w.root] {
			return altered(w)
		}
		if !ok {
			p.suspend(w)
			continue
		}
		if err := p.takeLaterKey(backup, n, w); err != nil {
			return err
		}
		if p.laterKeys[w.parent] {
			p.sealToLaterKey(w, &n)
		}
		c, err := p.carryStanding(present, n, w)
		if err != nil {
			return err
		}
		if what := c.what(); len(what) > 0 {
			changes[w.ID] = what
			p.standings = append(p.standings, c)
		}
	}
	for id, s := range known {
		if !s.human {
			p.report.Lost = append(p.report.Lost, fmt.Sprintf("%s (%s)", s.Name, id[:12]))
		}
	}
	slices.Sort(p.report.Lost)
	return nil
}

// sealToLaterKey takes the sealed key that the backup has of an agent whose person has a later key there. If the
// agent has a later one itself, the backup has no seal of it.
func (p *restorePlan) sealToLaterKey(was standing, now *standing) {
	switch {
	case bytes.Equal(was.public, now.public):
		now.sealed = was.sealed
	case now.seq > was.seq:
		p.report.Notes = append(p.report.Notes, fmt.Sprintf("the sealed key of %s opens with the earlier key of its "+
			"parent alone; as long as its key file is on this machine, seal it anew: cordelia key rotate %s", was.Name,
			was.Name))
	}
}

// carryStanding plans one entity that both databases know: as it is now, but for a removal
// and a later key, which only the backup knows of.
func (p *restorePlan) carryStanding(present *store.Tx, now, was standing) (c carriedStanding, err error) {
	c = carriedStanding{now: now, was: was}
	if now.Status != schemas.Removed && was.Status == schemas.Removed {
		c.now.Status, c.now.by, c.now.reason = was.Status, was.by, was.reason
		c.now.at, c.now.graceEnd = was.at, was.graceEnd
	}
	if was.seq > now.seq {
		c.now.public, c.now.enc, c.now.binding = was.public, was.enc, was.binding
		c.now.seq, c.now.sealed = was.seq, was.sealed
		p.distrust(&c)
	} else if !bytes.Equal(was.public, now.public) || !bytes.Equal(was.sealed, now.sealed) {
		c.keys, err = keysOf(present, now.ID)
	}
	return c, err
}

// fill puts into the report what is carried over, by the names of the backup.
func (r *RestoreReport) fill(was []standing, changes carriedChanges, later trust.Addition) {
	names := map[schemas.EntityID]string{}
	for _, w := range was {
		names[w.ID] = w.Name
	}
	for id := range later.Agents() {
		if names[id] != "" {
			changes[id] = append(changes[id], "trust")
		}
	}
	for id, what := range changes {
		r.Carried = append(r.Carried, Carried{Name: names[id], What: what})
	}
	sort.Slice(r.Carried, func(i, j int) bool { return r.Carried[i].Name < r.Carried[j].Name })
}

// altered refuses a backup in which an entity has another kind, type, node, parent or root than
// here, or that has a person unknown here: no cordelia wrote that.
func altered(w standing) error {
	return schemas.Deniedf("the backup was altered: %s is of another kind or place there than in the present database",
		w.Name).
		Try("restore another backup")
}

// distrust suspends an agent with a later key in the backup than here. Its old
// key may be known to others, and no key here can vouch for the new one. A person's
// later key is proven by takeLaterKey.
func (p *restorePlan) distrust(c *carriedStanding) {
	if c.now.human || c.now.Status == schemas.Deactivated || c.now.Status == schemas.Removed {
		return
	}
	c.now.Status, c.now.by, c.now.reason = schemas.Suspended, c.now.root, "restored: the backup has a later key "+
		"than the database that was replaced"
	p.report.Suspended = append(p.report.Suspended, fmt.Sprintf("%s (%s)", c.now.Name, c.now.ID[:12]))
}

// suspend plans for an agent that only the backup knows: it comes back without
// a right until its person resumes it. The node's own cool-down must not.
func (p *restorePlan) suspend(w standing) {
	if w.human || w.Status == schemas.Deactivated || w.Status == schemas.Removed {
		return
	}
	c := carriedStanding{now: w, was: w}
	c.now.Status, c.now.by, c.now.reason = schemas.Suspended, w.root, "restored: the database that was replaced did "+
		"not know it"
	p.standings = append(p.standings, c)
	p.report.Suspended = append(p.report.Suspended, fmt.Sprintf("%s (%s)", w.Name, w.ID[:12]))
}

// what lists in words how the present differs from the backup.
func (c carriedStanding) what() []string {
	var what []string
	if c.now.Status != c.was.Status || c.now.graceEnd != c.was.graceEnd || c.now.Status != schemas.Active &&
		(c.now.by != c.was.by || c.now.reason != c.was.reason || c.now.at != c.was.at) { // it says who may lift it
		what = append(what, "status "+string(c.now.Status))
	}
	if c.now.capabilities != c.was.capabilities {
		what = append(what, "capabilities")
	}
	if c.now.grants != c.was.grants {
		what = append(what, "grants")
	}
	if c.now.expires != c.was.expires {
		what = append(what, "expiry")
	}
	if c.keys != nil && c.now.seq != c.was.seq {
		what = append(what, fmt.Sprintf("key %d", c.now.seq))
	} else if c.keys != nil {
		what = append(what, "sealed key")
	}
	return what
}

// carryGroups plans the memberships and what is closed: who left or was removed
// stays out, whose role was changed keeps the present one. In a group that the
// present does not have owners stay, or it would have no owner.
func (p *restorePlan) carryGroups(present, backup *store.Tx, changes carriedChanges) error {
	now, err := members(present)
	if err != nil {
		return err
	}
	was, err := members(backup)
	if err != nil {
		return err
	}
	type place struct {
		group  schemas.GroupID
		entity schemas.EntityID
	}
	roles := map[place]access.MemberRole{}
	for _, m := range now {
		roles[place{m.group, m.entity}] = m.role
	}
	if p.closed, err = closedGroups(present); err != nil {
		return err
	}
	for _, m := range was {
		role, ok := roles[place{m.group, m.entity}]
		known := slices.ContainsFunc(p.closed, func(c closedGroup) bool { return c.id == m.group })
		if role == m.role || !known && m.role == access.RoleOwner {
			continue
		}
		p.roles = append(p.roles, membership{m.group, m.entity, role})
		word := "no member of " + string(m.group)
		if ok {
			word = fmt.Sprintf("%s of %s", role, m.group)
		}
		changes[m.entity] = append(changes[m.entity], word)
	}
	return nil
}

func members(tx *store.Tx) ([]membership, error) {
	rows, err := tx.Query(selectMembers)
	return store.Collect(rows, err, func(r *sql.Rows) (m membership, err error) {
		return m, r.Scan(&m.group, &m.entity, &m.role)
	})
}

func closedGroups(tx *store.Tx) ([]closedGroup, error) {
	rows, err := tx.Query(selectClosed)
	return store.Collect(rows, err, func(r *sql.Rows) (c closedGroup, err error) {
		return c, r.Scan(&c.id, &c.emcon, &c.archived)
	})
}

func keysOf(tx *store.Tx, id schemas.EntityID) ([]oldKey, error) {
	rows, err := tx.Query(selectKeys, id)
	return store.Collect(rows, err, func(r *sql.Rows) (k oldKey, err error) {
		return k, r.Scan(&k.seq, &k.public, &k.enc, &k.binding, &k.from, &k.to, &k.reason, &k.record)
	})
}

func auditLength(tx *store.Tx) (n int64, err error) {
	if err := tx.QueryRow(countAudit).Scan(&n); err != nil {
		return 0, fmt.Errorf("read audit: %w", err)
	}
	return n, nil
}

// leafAt is the hash of an audit entry, nil if there is none. It covers all
// entries before it.
func leafAt(tx *store.Tx, seq int64) (leaf []byte, err error) {
	if err = tx.QueryRow(selectLeaf, seq).Scan(&leaf); errors.Is(err, store.ErrNoRows) {
		return nil, nil
	}
	return leaf, err
}

// forkAt is the number of the last audit entry both databases have, 0 if they
// have no history in common.
func forkAt(a, b *store.Tx) (int64, error) {
	length, err := auditLength(a)
	if err != nil {
		return 0, err
	}
	other, err := auditLength(b)
	if err != nil {
		return 0, err
	}
	var failed error
	// Each hash covers the one before: once they differ they differ for good.
	n := sort.Search(int(min(length, other)), func(i int) bool {
		x, errX := leafAt(a, int64(i)+1)
		y, errY := leafAt(b, int64(i)+1)
		failed = errors.Join(failed, errX, errY)
		return !bytes.Equal(x, y)
	})
	if failed != nil {
		return 0, fmt.Errorf("compare audit: %w", failed)
	}
	return int64(n), nil
}

// readHead notes how far the audit record that is being left behind went.
func (p *restorePlan) readHead(present *store.Tx) (err error) {
	if p.entries, err = auditLength(present); err != nil {
		return err
	}
	p.head, err = leafAt(present, p.entries)
	return err
}
