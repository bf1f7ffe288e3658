package work

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Status is what the submitter of an item, those above, the members of its group
// and its holder see of it.
type Status struct {
	WorkID     string            `json:"work_id"`
	TaskID     string            `json:"task_id"`
	GroupID    schemas.GroupID   `json:"group_id,omitempty"`
	State      schemas.WorkState `json:"state"`
	Intent     string            `json:"intent"`
	Role       string            `json:"role,omitempty"`
	AssignedTo string            `json:"assigned_to,omitempty"` // a name; "(ended)" behind it: submit the item anew
	Stage      int               `json:"stage,omitempty"`
	Priority   int               `json:"priority,omitempty"`
	WaitsFor   int               `json:"waits_for,omitempty"` // items not done
	// WaitsForIDs are the first three of them that the actor may see, of one item alone.
	WaitsForIDs []string         `json:"waits_for_ids,omitempty"`
	Holder      string           `json:"holder,omitempty"` // its name
	HolderID    schemas.EntityID `json:"-"`
	Since       string           `json:"-"` // its holder has it
	Submitter   schemas.EntityID `json:"-"`
	LeaseLeft   int              `json:"lease_seconds_left,omitempty"`
	Attempts    int              `json:"attempts"`
	Expiries    int              `json:"expiries,omitempty"`
	Outcome     string           `json:"outcome,omitempty"`
	Note        string           `json:"note,omitempty"`
	Created     string           `json:"created_at"`
	Deadline    string           `json:"deadline,omitempty"`
	Overdue     bool             `json:"overdue,omitempty"` // open after its deadline, until a process ends it
	Finished    string           `json:"finished_at,omitempty"`
	ResultHash  string           `json:"result_hash,omitempty"` // beside the whole result
	Brief       *Brief           `json:"brief,omitempty"`
	Result      json.RawMessage  `json:"result,omitempty" any:"true"`
	Evidence    []Evidence       `json:"evidence,omitempty"`
	Late        []LateReport     `json:"late_reports,omitempty"` // for a person alone
}

// seen is an item as read for its status.
type seen struct {
	row
	note, intent            string
	role                    string
	assigned                string
	name                    string
	brief, result, evidence string
}

func (s *seen) dest(more ...any) []any {
	return s.row.dest(append([]any{&s.note, &s.intent, &s.role, &s.name, &s.assigned}, more...)...)
}

// shownIntent is how much of an intent a list shows, in bytes.
const shownIntent = 160

func (s *seen) status(now int64, whole bool) Status {
	out := Status{WorkID: s.id, TaskID: s.task, GroupID: s.group, State: s.state, Intent: s.intent, Role: s.role,
		AssignedTo: s.assigned, Submitter: s.submitter, Stage: s.stage,
		Priority: s.priority, WaitsFor: s.blockers, Holder: s.name, HolderID: s.holder, Attempts: s.attempt,
		Expiries: s.expiries, Outcome: s.outcome,
		Note: s.note, Created: events.Timestamp(s.created)}
	if s.state == schemas.WorkLeased {
		out.LeaseLeft, out.Since = max(0, int((s.leaseUntil-now)/1e6)), events.Timestamp(s.claimedAt)
	}
	if s.deadline > 0 {
		out.Deadline = events.Timestamp(s.deadline)
		_, open := schemas.NextWork(s.state, schemas.WorkOverdue, schemas.ByNode)
		out.Overdue = open && s.deadline <= now
	}
	if s.finished > 0 {
		out.Finished = events.Timestamp(s.finished)
	}
	if !whole {
		out.Intent, out.Note = schemas.Shorten(s.intent, shownIntent), schemas.Shorten(s.note, shownIntent)
	}
	return out
}

// Show gives one item, with detail its brief, result and evidence too.
// CodeNotFound if it is absent or hidden.
func Show(g access.Grant, id string, detail bool) (Status, error) {
	if g.Tx() == nil {
		return Status{}, access.ErrNoGrant
	}
	s, err := view(g, id)
	if err != nil {
		return Status{}, err
	}
	out := s.status(g.Tx().Micros(), true)
	if out.WaitsForIDs, err = s.openBlockers(g); err != nil {
		return out, err
	}
	if s.result != "" && (detail || len(s.result) <= 2<<10) {
		out.Result = json.RawMessage(s.result)
	}
	if s.result == "" || out.Result != nil {
		out.ResultHash = s.resultHash
	}
	if !detail {
		return out, nil
	}
	out.Brief = &Brief{}
	if err := json.Unmarshal([]byte(s.brief), out.Brief); err != nil {
		return out, fmt.Errorf("brief of %s: %w", id, err)
	}
	if s.role == string(schemas.Planner) || s.role == string(schemas.MetaValidator) { // their constraints quote lessons
		if alone, err := g.BlindRole(); err != nil {
			return out, err
		} else if alone {
			out.Brief.Constraints = nil
		}
	}
	if s.evidence != "" {
		if err := json.Unmarshal([]byte(s.evidence), &out.Evidence); err != nil {
			return out, fmt.Errorf("evidence of %s: %w", id, err)
		}
	}
	out.Late, err = lateReports(g, s.n)
	return out, err
}

const (
	namedBlockers = 3  // of an item
	readBlockers  = 20 // of which as many are looked for that the actor may see
)

// openBlockers gives the first items that s waits for, of those that the actor may see.
func (s *seen) openBlockers(g access.Grant) (ids []string, err error) {
	if s.blockers == 0 {
		return nil, nil
	}
	rows, err := g.Tx().Query(selectOpenBlockers, s.id, readBlockers)
	all, err := store.Collect(rows, err, store.Column[string])
	if err != nil {
		return nil, fmt.Errorf("read blockers: %w", err)
	}
	for _, id := range all {
		if _, err := view(g, id); errors.Is(err, schemas.ErrNotFound) {
			continue
		} else if err != nil {
			return nil, err
		}
		if ids = append(ids, id); len(ids) == namedBlockers {
			break
		}
	}
	return ids, nil
}

// Filter picks items of List; empty fields do not restrict.
type Filter struct {
	Task   string
	Group  schemas.GroupID
	State  schemas.WorkState
	Before string // the id where the last page ended
	Limit  int
}

// afterAll is above every id.
const afterAll = "~"

// List gives the items the actor may see, newest first. CodeNotFound if a task
// was named of which it may see nothing.
func List(g access.Grant, f Filter) ([]Status, error) {
	args, err := f.args(g)
	if err != nil {
		return nil, err
	}
	query := listViews
	switch {
	case f.Task != "":
		query, args = listTask, append(args, f.Task)
	case f.Group != "" && f.State != "":
		query = listGroupState
	case f.Group != "":
		query = listGroup
	case f.State != "":
		query = listState
	}
	rows, err := g.Tx().Query(query, args...)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (s seen, err error) { return s, r.Scan(s.dest()...) })
	if err != nil {
		return nil, fmt.Errorf("list work: %w", err)
	}
	if len(found) == 0 && f.Task != "" && f.State == "" && f.Before == "" {
		return nil, NotKnown()
	}
	out := make([]Status, len(found))
	for i := range found {
		out[i] = found[i].status(g.Tx().Micros(), false)
	}
	return out, nil
}

// args are what a listing is asked with.
func (f Filter) args(g access.Grant) ([]any, error) {
	scope, err := g.ReadScope()
	return []any{g.Actor(), store.List(scope.Groups), f.Group, f.State, cmp.Or(f.Before, afterAll), f.Limit}, err
}

// Count gives how many items in a state the actor may see, at most as many as most.
func Count(g access.Grant, state schemas.WorkState, most int) (n int, err error) {
	args, err := Filter{State: state, Limit: most}.args(g)
	if err != nil {
		return 0, err
	}
	if err := g.Tx().QueryRow(countState, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count work: %w", err)
	}
	return n, nil
}
