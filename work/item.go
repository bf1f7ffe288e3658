package work

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/schemas"
)

// Limits of items. Sizes are in bytes.
const (
	MaxItems    = 200 // of one submission
	maxIntent   = 8 << 10
	maxBrief    = 64 << 10
	maxNote     = 2 << 10
	MaxResult   = 64 << 10
	maxEvidence = 32 // pieces
	maxPiece    = 4 << 10
	maxProof    = 128 << 10 // of all evidence, as JSON: what judges it reads it again and again
	maxNeeds    = 32
	maxExcluded = 16

	MinLease     = 15 * time.Second
	DefaultLease = 2 * time.Minute
	MaxLease     = time.Hour

	DefaultExpiries = 3  // ended leases until a person is asked
	maxReleases     = 10 // times an item is given back until a person is asked
)

// row is the part of an item that decisions need. Times are UTC µs.
type row struct {
	n                             int64
	id, task                      string
	group                         schemas.GroupID
	submitter                     schemas.EntityID
	class                         int64
	stage, priority               int
	place                         int64
	state                         schemas.WorkState
	depends, blockers             int
	notBefore, deadline           int64
	holder                        schemas.EntityID
	fence                         int64
	attempt                       int
	lease, claimedAt, leaseUntil  int64
	expiries, releases, mostEnded int
	outcome                       string
	created, updated, finished    int64
	resultHash                    string

	reported *Report // what save writes beside the move
}

func (r *row) dest(more ...any) []any {
	return append([]any{&r.n, &r.id, &r.task, &r.group, &r.submitter, &r.class, &r.stage, &r.priority, &r.place,
		&r.state, &r.depends,
		&r.blockers, &r.notBefore, &r.deadline, &r.holder, &r.fence, &r.attempt, &r.lease, &r.claimedAt, &r.leaseUntil,
		&r.expiries,
		&r.releases, &r.mostEnded, &r.outcome, &r.created, &r.updated, &r.finished, &r.resultHash}, more...)
}

type scanner interface{ Scan(...any) error }

func scanRow[S scanner](s S) (r row, err error) { return r, s.Scan(r.dest()...) }

// move changes the state along the table (INV-WORK-EDGE), which says in which role an actor may do that.
func (r *row) move(on schemas.Trigger, as schemas.By) error {
	to, ok := schemas.NextWork(r.state, on, as)
	if !ok {
		return schemas.Conflictf("this work is %s; %s does not apply to it", r.state,
			on).Try("%s shows it", schemas.Tool("task_status"))
	}
	r.state = to
	return nil
}

// save writes what moves change.
func (r *row) save(g access.Grant) error {
	now := g.Tx().Micros()
	if r.updated = now; r.state.Final() {
		r.finished = now
	}
	query := updateItem
	args := []any{r.state, r.place, r.blockers, r.holder, r.leaseUntil, r.expiries, r.releases, r.outcome, r.updated,
		r.finished}
	if p := r.reported; p != nil {
		query, args = updateReported, append(args, p.note, p.result, p.evidence, p.proof, now)
	}
	if err := g.Tx().Send(query, append(args, r.n)...); err != nil {
		return fmt.Errorf("change work: %w", err)
	}
	return nil
}

// load reads the row of an item by its number.
func load(g access.Grant, n int64) (row, error) {
	r, err := scanRow(g.Tx().QueryRow(selectItem, n))
	if err != nil {
		return r, fmt.Errorf("read work: %w", err)
	}
	return r, nil
}

// NotKnown is the answer for what is absent and what is hidden.
func NotKnown() error {
	return schemas.NotFoundf("there is no such work here").Expecting("a task_id for a task, a work_id for one item").
		Try("%s lists the work you may see", schemas.Alone("task_status"))
}

// readyNews collects the items that became ready in a transaction: one event for each pool, for
// any number of items.
type readyNews struct {
	order []told1
	seen  map[int64]int
}

type told1 struct {
	class int64
	ready schemas.WorkOffered
}

func (t *readyNews) ready(r row) {
	if t.seen == nil {
		t.seen = map[int64]int{}
	}
	at, ok := t.seen[r.class]
	if !ok {
		at = len(t.order)
		t.seen[r.class] = at
		t.order = append(t.order, told1{r.class, schemas.WorkOffered{TaskID: r.task, GroupID: r.group}})
	}
	t.order[at].ready.Items++
}

// announce writes the events of items that became ready: to the assigned agent, else to the
// group. Claims that wait are woken in any case.
func (t *readyNews) announce(g access.Grant) error {
	streams := map[events.Stream]*schemas.WorkOffered{}
	var order []events.Stream
	for _, one := range t.order {
		var l class
		if err := g.Tx().QueryRow(selectClass, one.class).Scan(l.dest()...); err != nil {
			return fmt.Errorf("read eligibility class: %w", err)
		}
		var to events.Stream
		switch {
		case l.assigned != "":
			to = events.EntityStream(l.assigned)
		case one.ready.GroupID != "":
			c, err := cultureOf(g, one.ready.GroupID)
			if err != nil {
				return err
			}
			if c.quiet() {
				continue
			}
			to = events.GroupStream(one.ready.GroupID)
		default:
			continue
		}
		if streams[to] == nil {
			streams[to] = &schemas.WorkOffered{TaskID: one.ready.TaskID, GroupID: one.ready.GroupID}
			order = append(order, to)
		}
		streams[to].Items += one.ready.Items
	}
	for _, to := range order {
		if to == events.EntityStream(g.Actor()) { // the actor needs no event of its own change
			continue
		}
		if err := g.Emit(to, schemas.EventWorkReady, *streams[to]); err != nil {
			return err
		}
	}
	if len(t.order) > 0 {
		g.Tx().Notify()
	}
	return nil
}

// groupCulture is what of a group events depend on.
type groupCulture struct {
	kind         string
	swarm        schemas.GroupID // that a group of kind swarm belongs to
	Broadcast    string          `json:"broadcast_eagerness"`
	Notification string          `json:"notification_policy"`
}

// quiet groups get no events: their members ask for work themselves.
func (c groupCulture) quiet() bool { return c.Broadcast == "taciturn" }

var cultures access.Fact[schemas.GroupID, groupCulture]

func cultureOf(g access.Grant, id schemas.GroupID) (groupCulture, error) {
	return cultures.Of(g, id, func() (c groupCulture, err error) {
		var text string
		if err = g.Tx().QueryRow(selectGroup, id).Scan(&c.kind, &c.swarm, &text); err == nil {
			err = json.Unmarshal([]byte(text), &c)
		}
		if err != nil {
			return c, fmt.Errorf("read culture: %w", err)
		}
		return c, nil
	})
}

// changed writes the events of an item's new state, to its submitter and its group. The end of
// an item in a swarm has an event type for swarms.
func changed(g access.Grant, r row, by schemas.By) error {
	t, source := event(r.state), g.Actor()
	if by == schemas.ByNode { // in whichever transaction it was found due
		source = access.NodeEntity
	}
	what := schemas.WorkChanged{WorkID: r.id, TaskID: r.task, GroupID: r.group, AgentID: r.holder, State: r.state}
	n := News{Type: t, Source: source, Payload: what, Group: r.group, To: []schemas.EntityID{r.submitter}}
	if r.group == "" || r.holder == "" || r.state != schemas.WorkDone && r.state != schemas.WorkFailed {
		return n.Announce(g)
	}
	c, err := cultureOf(g, r.group)
	if err != nil || c.kind != access.GroupSwarm {
		return errors.Join(err, n.Announce(g))
	}
	// The submitter gets the event that names the item.
	n.Group = ""
	if err := n.Announce(g); err != nil || c.quiet() {
		return err
	}
	return events.Append(g.Tx(), events.GroupStream(r.group),
		events.Event{Type: schemas.EventSwarmTaskComplete, Source: source,
			Payload: schemas.SwarmTaskComplete{SwarmID: c.swarm, AgentID: r.holder, Result: string(r.state)}})
}

// News is an event for a group and for some entities.
type News struct {
	Type    schemas.EventType
	Source  schemas.EntityID
	Payload any
	Group   schemas.GroupID // "" = none
	To      []schemas.EntityID
}

// Announce writes the event once for each reader: for members in the group's stream, for others
// in their own. The source of the event does not get it.
func (n News) Announce(g access.Grant) error {
	e := events.Event{Type: n.Type, Source: n.Source, Payload: n.Payload}
	heard := false
	if n.Group != "" {
		c, err := cultureOf(g, n.Group)
		if err != nil {
			return err
		}
		if !c.quiet() {
			if err := events.Append(g.Tx(), events.GroupStream(n.Group), e); err != nil {
				return err
			}
			heard = c.Notification != "silent"
		}
	}
	for i, to := range n.To {
		if to == "" || to == n.Source || slices.Contains(n.To[:i], to) {
			continue
		}
		if heard {
			var member bool
			if err := g.Tx().QueryRow(countMember, n.Group, to).Scan(&member); err != nil {
				return fmt.Errorf("read members: %w", err)
			}
			if member {
				continue
			}
		}
		if err := events.Append(g.Tx(), events.EntityStream(to), e); err != nil {
			return err
		}
	}
	return nil
}

// event is the type that tells of a state.
func event(s schemas.WorkState) schemas.EventType {
	return map[schemas.WorkState]schemas.EventType{schemas.WorkDone: schemas.EventWorkDone,
		schemas.WorkFailed: schemas.EventWorkFailed,
		schemas.WorkHeld:   schemas.EventWorkHeld, schemas.WorkBlocked: schemas.EventWorkBlocked,
		schemas.WorkCancelled: schemas.EventWorkCancelled}[s]
}
