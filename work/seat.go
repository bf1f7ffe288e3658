package work

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Place puts an item into the queue that somebody's task needs: to be done by who
// could do what on submitted to group; whom it is assigned to is named by id. It is for the node, which asks whether on
// still may; who placed an item judges its result and acts on its end, once
// (Settled).
func Place(g access.Grant, on schemas.EntityID, task string, group schemas.GroupID, d Draft) (n int64, id string, err error) {
	if !g.IsNode() {
		return 0, "", access.ErrNoGrant
	}
	brief, err := json.Marshal(d.Brief)
	if err != nil {
		return 0, "", fmt.Errorf("encode brief: %w", err)
	}
	l := lane{pool: groupPool(group), role: d.Role, assigned: schemas.EntityID(d.AssignedTo), needs: inOrder(d.Needs), excluded: inOrder(d.Excluded)}
	switch {
	case d.among != "":
		l.pool, group = readerPool(d.among), ""
	case group == "":
		l.pool = entityPool(on)
	}
	r := row{id: schemas.NewID(), task: task, group: group, submitter: on, state: schemas.WorkWaiting}
	if r.lane, err = l.number(g); err != nil {
		return 0, "", err
	}
	if err := g.Tx().LookupRow(nextPlace).Scan(&r.place); err != nil {
		return 0, "", fmt.Errorf("read place: %w", err)
	}
	if _, err := r.move(schemas.WorkDue); err != nil {
		return 0, "", err
	}
	now := g.Tx().Micros()
	if err := g.Tx().QueryRow(insertItem, r.id, task, group, on, r.lane, d.Stage, d.Priority, r.place, r.state, 0, 0, 0, d.Deadline,
		cmp.Or(d.MaxExpiries, DefaultExpiries), now, now, d.Intent, string(brief), 1).Scan(&r.n); err != nil {
		return 0, "", fmt.Errorf("place work: %w", err)
	}
	if err := g.Audit("work/"+r.id, map[string]any{"placed": d.Role, "task": task}); err != nil {
		return 0, "", err
	}
	var news told
	news.ready(r)
	return r.n, r.id, news.tell(g)
}

// Settled notes that the end of a placed item was acted on; ok is false if it was
// before, or there is no end yet.
func Settled(g access.Grant, n int64) (ok bool, err error) {
	if !g.IsNode() {
		return false, access.ErrNoGrant
	}
	changed, err := g.Tx().Exec(settleSeat, n)
	if err != nil {
		return false, fmt.Errorf("settle work: %w", err)
	}
	return changed == 1, nil
}

// Withdraw ends those of the placed items that are open and whose end nobody has to
// act on any more; the node does it when the task goes on without them.
func Withdraw(g access.Grant, items []int64) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	text, err := json.Marshal(items)
	if err != nil {
		return fmt.Errorf("encode items: %w", err)
	}
	rows, err := g.Tx().Query(selectPlaced, string(text))
	found, err := store.Collect(rows, err, scanRow[*sql.Rows])
	if err != nil {
		return fmt.Errorf("read work: %w", err)
	}
	if _, err := cancel(g, found); err != nil {
		return err
	}
	for _, r := range found {
		if _, err := Settled(g, r.n); err != nil {
			return err
		}
	}
	return nil
}

// ID is that of the reported item.
func (p *Report) ID() string { return p.id }

// Fence is that of the lease it is reported under.
func (p *Report) Fence() int64 { return p.fence }

// Outcome is what the holder says.
func (p *Report) Outcome() Outcome { return p.outcome }

// Result is JSON, "" for none.
func (p *Report) Result() string { return p.result }

// Hash is over all the holder says.
func (p *Report) Hash() string { return p.hash }

// AsFailed is the report of an answer that nobody can use: the item failed, and why.
// To whoever repeats it, it is the same report.
func (p *Report) AsFailed(why string) *Report {
	f := *p
	f.outcome, f.note = Failed, strings.ToValidUTF8(why[:min(len(why), maxNote)], "")
	return &f
}

// maxPool bounds whom AnyTaker asks about.
const maxPool = 200

// AnyTaker reports whether somebody of its pool could take an item, with the rights
// they have now.
func AnyTaker(g access.Grant, n int64) (bool, error) {
	r, err := load(g, n)
	if err != nil {
		return false, err
	}
	var l lane
	if err := g.Tx().LookupRow(selectLane, r.lane).Scan(l.dest()...); err != nil {
		return false, fmt.Errorf("read lane: %w", err)
	}
	needs, err := list[string](l.needs)
	if err != nil {
		return false, err
	}
	excluded, err := list[schemas.EntityID](l.excluded)
	if err != nil {
		return false, err
	}
	query, of, rests := selectBelow, string(r.submitter), l.rests()
	if len(rests) > 0 {
		query, of = selectMembers, string(rests[0].Group)
	}
	rows, err := g.Tx().Query(query, of, maxPool)
	pool, err := store.Collect(rows, err, func(r *sql.Rows) (id schemas.EntityID, err error) { return id, r.Scan(&id) })
	if err != nil {
		return false, fmt.Errorf("read pool: %w", err)
	}
	for _, id := range pool {
		if l.assigned != "" && l.assigned != id {
			continue
		}
		if apart, err := apartFrom(g, id, excluded); err != nil {
			return false, err
		} else if !apart {
			continue
		}
		if may, err := couldTake(g, id, append(claimTools(), needs...), rests); err != nil || may {
			return may, err
		}
	}
	return false, nil
}

// couldTake reports whether id has these rights or, if it was never here, will have
// those to the tools: its first call makes it active.
func couldTake(g access.Grant, id schemas.EntityID, tools []string, needs []access.Need) (bool, error) {
	chain, err := g.ChainOf(id)
	if err != nil || len(chain) == 0 {
		return false, err
	}
	self := &chain[len(chain)-1]
	if self.Status != schemas.Registered {
		return g.Could(id, tools, needs...)
	}
	self.Status = schemas.Active
	return !slices.ContainsFunc(tools, func(tool string) bool {
		return len(access.Evaluate(chain, access.Operation{Tool: tool}, g.Tx().Micros())) > 0
	}), nil
}
