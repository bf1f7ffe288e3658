package work

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Claimed is an item with the caller's lease of it.
type Claimed struct {
	WorkID    string          `json:"work_id"`
	TaskID    string          `json:"task_id"`
	GroupID   schemas.GroupID `json:"group_id,omitempty"`
	Fence     int64           `json:"fence"`
	Lease     int             `json:"lease_seconds"`
	ExpiresAt string          `json:"expires_at"`
	Deadline  string          `json:"deadline,omitempty"` // of the item
	Attempt   int             `json:"attempt"`
	Resumed   bool            `json:"resumed,omitempty"`
	Today     string          `json:"today"` // models do not know
	Intent    string          `json:"intent"`
	Brief     Brief           `json:"brief"`
	Inputs    []Input         `json:"results_before,omitempty"`
	Note      string          `json:"note,omitempty"` // the note of the last holder
	Placed    bool            `json:"-"`              // it is a seat of a task
	Notes     []string        `json:"notes,omitempty"`
}

// Input is the result of an item that a claimed one builds on.
type Input struct {
	WorkID string            `json:"work_id"`
	Stage  int               `json:"stage"`
	State  schemas.WorkState `json:"state,omitempty"` // if it was not done
	Note   string            `json:"note,omitempty"`  // why, by its last holder
	Result json.RawMessage   `json:"result,omitempty" any:"true"`
	Left   bool              `json:"left_out,omitempty"` // too long for the answer of a claim
}

// CheckLease says whether a lease may be that long; 0 means DefaultLease.
func CheckLease(d time.Duration) (time.Duration, error) {
	if d == 0 {
		return DefaultLease, nil
	}
	if d < MinLease || d > MaxLease {
		return 0, schemas.Invalidf("a lease of %s", d).Expecting("%d–%d seconds", int(MinLease.Seconds()),
			int(MaxLease.Seconds())).
			Try("%s again with lease_seconds in that range; any call extends a lease", schemas.Do("task_claim"))
	}
	return d, nil
}

// Claim gives the actor the lease it has, or one of the first item it may take of those
// wanted: by priority, then in the order of submission. ok is false if there is none.
// CodeConflict if the actor holds an item that is not what it wants; CodeBusy if the
// actor or one above it runs as much as it may.
func Claim(g access.Grant, want Wanted, lease time.Duration) (c Claimed, ok bool, err error) {
	if g.Tx() == nil {
		return c, false, access.ErrNoGrant
	}
	if err := g.Tx().Ahead(selectHeld, g.Actor()); err != nil {
		return c, false, err
	}
	if _, err := ReapExpired(g); err != nil {
		return c, false, err
	}
	now := g.Tx().Micros()
	r, c, brief, err := scanClaimed(g.Tx().QueryRow(selectHeld, g.Actor()))
	if err == nil {
		if err := want.accepts(g, r); err != nil {
			return c, false, err
		}
		c.Resumed = true
		if err := extendOwn(g, &r, now); err != nil {
			return c, false, err
		}
		return c.fill(g, r, brief)
	}
	if !errors.Is(err, store.ErrNoRows) {
		return c, false, fmt.Errorf("read lease: %w", err)
	}
	r, c, brief, err = want.take(g, lease)
	if errors.Is(err, store.ErrNoRows) {
		return c, false, want.waitForOthers(g)
	}
	if err != nil {
		return c, false, err
	}
	if err := g.Hold(r.id, lease); err != nil {
		return c, false, err
	}
	if err := g.Tx().Send(insertLease, r.n, r.fence, g.Actor(), now); err != nil {
		return c, false, fmt.Errorf("note lease: %w", err)
	}
	if err := g.Audit("work/"+r.id, map[string]any{"fence": r.fence, "until": r.leaseUntil}); err != nil {
		return c, false, err
	}
	return c.fill(g, r, brief)
}

// take leases the first item wanted that the actor may have now; ErrNoRows if there is none.
func (w Wanted) take(g access.Grant, lease time.Duration) (r row, c Claimed, brief string, err error) {
	tries := []Wanted{w}
	if w.Near != "" {
		tries = []Wanted{{Role: w.Role, Group: w.Near, Apart: w.Apart}, w}
	}
	leased, _ := schemas.NextWork(schemas.WorkReady, schemas.WorkClaim, schemas.ByHolder)
	for _, try := range tries {
		classes, err := classesOf(g, try, true)
		if err != nil {
			return r, c, "", err
		}
		if classes == "[]" {
			continue
		}
		r, c, brief, err = scanClaimed(g.Tx().QueryRow(try.query(claims), classes, try.Work, try.Task, leased,
			g.Actor(), lease.Microseconds(), g.Tx().Micros()))
		if err == nil {
			return r, c, brief, nil
		}
		if !errors.Is(err, store.ErrNoRows) {
			return r, c, "", fmt.Errorf("claim: %w", err)
		}
	}
	return r, c, "", store.ErrNoRows
}

// waitForOthers ends a claim beside others that found nothing because they have locked what there is,
// and may yet give it back: it is made again alone.
func (w Wanted) waitForOthers(g access.Grant) error {
	if !g.Tx().Concurrent() {
		return nil
	}
	classes, err := classesOf(g, w, true)
	if err != nil || classes == "[]" {
		return err
	}
	if there, err := w.ready(g.Tx(), classes); err != nil || !there {
		return err
	}
	return g.Tx().Alone()
}

// queries do the same with one item, with the first one of a task, and with the first one of all.
type queries struct{ item, ofTask, first string }

var (
	finds  = queries{readyItem, readyOfTask, firstReady}
	claims = queries{claimItem, claimOfTask, claimFirst}
)

// query is the one for what is wanted.
func (w Wanted) query(of queries) string {
	switch {
	case w.Work != "":
		return of.item
	case w.Task != "":
		return of.ofTask
	}
	return of.first
}

// accepts refuses an item that the actor holds already and that is not what it wants.
// One of the role it does not name stays its own: it was given as such.
func (w Wanted) accepts(g access.Grant, held row) error {
	wanted := (w.Work == "" || w.Work == held.id) && (w.Task == "" || w.Task == held.task) &&
		!w.Apart.leavesOut(held.group)
	if only, all, err := w.groups(g); err != nil {
		return err
	} else if !all {
		l := class{}
		if err := g.Tx().QueryRow(selectClass, held.class).Scan(l.dest()...); err != nil {
			return fmt.Errorf("read eligibility class: %w", err)
		}
		wanted = wanted && slices.ContainsFunc(only, func(id schemas.GroupID) bool {
			return l.pool == groupPool(id) ||
				l.pool == readerPool(id)
		})
	}
	if wanted {
		return nil
	}
	return schemas.Conflictf("you hold other work, %s, and an agent holds one item at a time", held.id).
		Expecting("a report of the work you hold, or a claim without work_id, task_id, group and swarm to see it again").
		Try("hand it back: %s", schemas.Tool("task_report", "work_id", held.id, "fence", held.fence, "outcome",
			"released"))
}

// Offers reports whether anything the actor could take is or was of this role.
func Offers(g access.Grant, role string) (bool, error) {
	if g.Tx() == nil {
		return false, access.ErrNoGrant
	}
	classes, err := classesOf(g, Wanted{Role: role}, false)
	return classes != "[]", err
}

func scanClaimed(from store.Row) (r row, c Claimed, brief string, err error) {
	err = from.Scan(r.dest(&c.Note, &c.Intent, &brief, &c.Placed)...)
	return r, c, brief, err
}

// fill words a lease for its holder.
func (c Claimed) fill(g access.Grant, r row, brief string) (Claimed, bool, error) {
	if err := json.Unmarshal([]byte(brief), &c.Brief); err != nil {
		return c, false, fmt.Errorf("brief of %s: %w", r.id, err)
	}
	c.WorkID, c.TaskID, c.GroupID, c.Fence, c.Attempt = r.id, r.task, r.group, r.fence, r.attempt
	c.Lease, c.ExpiresAt, c.Today = int(r.lease/1e6), events.Timestamp(r.leaseUntil), g.Tx().Now().UTC().Format(
		"Monday, 2006-01-02")
	if r.deadline > 0 && !c.Placed { // a seat says what is left of its budget
		c.Deadline = events.Timestamp(r.deadline)
	}
	if r.depends == 0 {
		return c, true, nil
	}
	rows, err := g.Tx().Query(selectInputs, r.n)
	if err != nil {
		return c, false, fmt.Errorf("read inputs: %w", err)
	}
	defer rows.Close()
	for room := MaxResult; rows.Next(); {
		var in Input
		var result string
		if err := rows.Scan(&in.WorkID, &in.Stage, &result, &in.State, &in.Note); err != nil {
			return c, false, fmt.Errorf("read inputs: %w", err)
		}
		room -= len(result)
		if in.Left = room < 0 && result != ""; result != "" {
			in.Result = json.RawMessage(result)
		}
		c.Inputs = append(c.Inputs, in)
	}
	return c, true, rows.Err()
}

// Watch looks out for work for one agent without claiming it. Every commit of any
// process may ask, so what it knows of the agent's classes is kept until rights or
// classes move.
type Watch struct {
	epoch, newest int64
	classes       string
	want          Wanted
}

// Stirred reports whether it is worth to Look, by what the last Look found out.
// It needs no right of the agent's and gives nothing away.
func (w *Watch) Stirred(tx *store.Tx) (bool, error) {
	epoch, newest, err := w.version(tx)
	if err != nil || epoch != w.epoch || newest != w.newest {
		return true, err
	}
	return w.want.ready(tx, w.classes)
}

// Look reports whether Claim would find something for the actor.
func (w *Watch) Look(g access.Grant, want Wanted) (bool, error) {
	if g.Tx() == nil {
		return false, access.ErrNoGrant
	}
	var err error
	if w.epoch, w.newest, err = w.version(g.Tx()); err != nil {
		return false, err
	}
	if w.classes, err = classesOf(g, want, false); err != nil {
		return false, err
	}
	w.want = want
	return want.ready(g.Tx(), w.classes)
}

func (w *Watch) version(tx *store.Tx) (epoch, newest int64, err error) {
	if epoch, err = access.Epoch(tx); err == nil {
		err = tx.QueryRow(newestClass).Scan(&newest)
	}
	return epoch, newest, err
}

// ready reports whether one of the classes has a ready item that is wanted.
func (w Wanted) ready(tx *store.Tx, classes string) (bool, error) {
	var n int64
	err := tx.QueryRow(w.query(finds), classes, w.Work, w.Task).Scan(&n)
	if errors.Is(err, store.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find work: %w", err)
	}
	return true, nil
}
