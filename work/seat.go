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

// Place puts an item of a task into the queue: for the agents that could do what on submitted to group, or for
// the agent whose id is given. It is for the node, which checks that on still may. The node also judges the
// item's result and acts on its end, once (MarkActedOn).
func Place(g access.Grant, on schemas.EntityID, task string, group schemas.GroupID,
	d Draft) (n int64, id string, err error) {
	return put(g, on, task, group, d, 1)
}

// put puts an item into the queue in the name of on; seat = 1 if who placed it judges its
// result.
func put(g access.Grant, on schemas.EntityID, task string, group schemas.GroupID, d Draft,
	seat int) (n int64, id string, err error) {
	if !g.IsNode() {
		return 0, "", access.ErrNoGrant
	}
	brief, err := json.Marshal(d.Brief)
	if err != nil {
		return 0, "", fmt.Errorf("encode brief: %w", err)
	}
	l := class{role: d.Role, assigned: schemas.EntityID(d.AssignedTo), needs: inOrder(d.Needs),
		excluded: inOrder(d.Excluded)}
	l.pool, group = poolOf(on, group, d.among)
	r := row{id: schemas.NewID(), task: task, group: group, submitter: on, state: schemas.WorkWaiting}
	if r.class, err = l.number(g); err != nil {
		return 0, "", err
	}
	if err := g.Tx().QueryRow(nextPlace).Scan(&r.place); err != nil {
		return 0, "", fmt.Errorf("read place: %w", err)
	}
	if err := r.move(schemas.WorkDue, schemas.ByNode); err != nil {
		return 0, "", err
	}
	now := g.Tx().Micros()
	if err := g.Tx().QueryRow(insertItem, r.id, task, group, on, r.class, d.Stage, d.Priority, r.place, r.state, 0, 0, 0,
		d.Deadline,
		cmp.Or(d.MaxExpiries, DefaultExpiries), now, now, d.Intent, string(brief), seat).Scan(&r.n); err != nil {
		return 0, "", fmt.Errorf("place work: %w", err)
	}
	if err := g.Audit("work/"+r.id, map[string]any{"placed": d.Role, "task": task}); err != nil {
		return 0, "", err
	}
	var news readyNews
	news.ready(r)
	return r.n, r.id, news.announce(g)
}

// poolOf is where an item of on waits, and the group it is in.
func poolOf(on schemas.EntityID, group, among schemas.GroupID) (pool string, in schemas.GroupID) {
	switch {
	case among != "":
		return readerPool(among), ""
	case group == "":
		return entityPool(on), ""
	}
	return groupPool(group), group
}

// Move offers a placed item without a holder to other agents: those that could do what its
// submitter could in group, or the agent with the id to. It is for the node.
func Move(g access.Grant, n int64, group schemas.GroupID, to schemas.EntityID, among schemas.GroupID) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	r, l, err := classOf(g, n)
	if err != nil || r.state != schemas.WorkReady {
		return err
	}
	l.pool, r.group = poolOf(r.submitter, group, among)
	l.assigned = to
	if err := r.change(g, l); err != nil {
		return err
	}
	var news readyNews
	news.ready(r)
	return news.announce(g)
}

// Bar keeps an agent, and those related to it, from a placed item from now on, and reports whether
// another agent could take it. A lease goes on. It is for the node.
func Bar(g access.Grant, n int64, who schemas.EntityID) (others bool, err error) {
	if !g.IsNode() {
		return false, access.ErrNoGrant
	}
	r, l, err := classOf(g, n)
	if err != nil {
		return false, err
	}
	excluded, err := list[schemas.EntityID](l.excluded)
	if err != nil {
		return false, err
	}
	l.excluded = inOrder(append(excluded, who))
	if err := r.change(g, l); err != nil {
		return false, err
	}
	return AnyTaker(g, n)
}

func classOf(g access.Grant, n int64) (r row, l class, err error) {
	if r, err = load(g, n); err != nil {
		return r, l, err
	}
	if err := g.Tx().QueryRow(selectClass, r.class).Scan(l.dest()...); err != nil {
		return r, l, fmt.Errorf("read eligibility class: %w", err)
	}
	return r, l, nil
}

// change puts an item into another class.
func (r *row) change(g access.Grant, l class) (err error) {
	if r.class, err = l.number(g); err != nil {
		return err
	}
	if _, err := g.Tx().Exec(moveItem, r.class, r.group, r.n); err != nil {
		return fmt.Errorf("move work: %w", err)
	}
	return g.Audit("work/"+r.id, map[string]any{"offered": l.pool, "to": l.assigned, "not": l.excluded})
}

// MarkActedOn notes that the end of a placed item was acted on; ok is false if it was
// before, or there is no end yet.
func MarkActedOn(g access.Grant, n int64) (ok bool, err error) {
	if !g.IsNode() {
		return false, access.ErrNoGrant
	}
	changed, err := g.Tx().Exec(markSeat, n)
	if err != nil {
		return false, fmt.Errorf("mark a seat as acted on: %w", err)
	}
	return changed == 1, nil
}

// Withdraw ends those of the placed items that are open. Nothing follows from their end; the
// node calls it when the task goes on without them.
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
		if _, err := MarkActedOn(g, r.n); err != nil {
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

// Evidence is JSON, "" for none.
func (p *Report) Evidence() string { return p.evidence }

// Note is what the holder says to the next one.
func (p *Report) Note() string { return p.note }

// Showed reports whether the holder gave a list of evidence, if only an empty one.
func (p *Report) Showed() bool { return p.showed }

// Hash is over all the holder says.
func (p *Report) Hash() string { return p.hash }

// AsFailed is the report of an unusable answer: the item failed, and why. A repeated report
// gets the same receipt.
func (p *Report) AsFailed(why string) *Report {
	f := *p
	f.outcome, f.note = Failed, strings.ToValidUTF8(why[:min(len(why), maxNote)], "")
	return &f
}

// AsReleased is the report of an unusable answer to an item that others may still do: it is
// given back, and why. A repeated report gets the same receipt.
func (p *Report) AsReleased(why string) *Report {
	f := p.AsFailed(why)
	f.outcome, f.result, f.evidence, f.proof = Released, "", "", ""
	return f
}

// maxPool bounds the agents that takers asks about.
const maxPool = 200

// AnyTaker reports whether an agent of its pool could take an item, with the rights it has now.
func AnyTaker(g access.Grant, n int64) (bool, error) {
	r, l, err := classOf(g, n)
	if err != nil {
		return false, err
	}
	excluded, err := list[schemas.EntityID](l.excluded)
	if err != nil {
		return false, err
	}
	found, err := l.takers(g, r.submitter, excluded, 1)
	return len(found) > 0, err
}

// Takers lists up to most agents that could take an item which the node places for on in a
// group, and that are unrelated to others.
func Takers(g access.Grant, on schemas.EntityID, group schemas.GroupID, others []schemas.EntityID,
	most int) ([]schemas.EntityID, error) {
	pool, _ := poolOf(on, group, "")
	return (&class{pool: pool, needs: "[]"}).takers(g, on, others, most)
}

// takers lists up to most agents who could take an item of the class, submitted by on,
// and are apart from others.
func (l *class) takers(g access.Grant, on schemas.EntityID, others []schemas.EntityID,
	most int) (found []schemas.EntityID, err error) {
	needs, err := list[string](l.needs)
	if err != nil {
		return nil, err
	}
	query, of, required := selectBelow, string(on), l.requires()
	if len(required) > 0 {
		query, of = selectMembers, string(required[0].Group)
	}
	rows, err := g.Tx().Query(query, of, maxPool)
	pool, err := store.Collect(rows, err, store.Column[schemas.EntityID])
	if err != nil {
		return nil, fmt.Errorf("read pool: %w", err)
	}
	for _, id := range pool {
		if len(found) == most {
			break
		}
		if l.assigned != "" && l.assigned != id {
			continue
		}
		apart, err := unrelated(g, id, others)
		if err != nil {
			return nil, err
		}
		if !apart {
			continue
		}
		may, err := couldTake(g, id, append(claimTools(), needs...), required)
		if err != nil {
			return nil, err
		}
		if may {
			found = append(found, id)
		}
	}
	return found, nil
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
