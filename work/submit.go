package work

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/internal/jsonschema"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Brief is what whoever does an item is told besides its intent.
type Brief struct {
	Inputs       json.RawMessage  `json:"inputs,omitempty"`
	Criteria     []string         `json:"criteria,omitempty"`
	Constraints  []string         `json:"constraints,omitempty"`
	Context      []schemas.ItemID `json:"context,omitempty"`       // memory items to read
	AnswerSchema json.RawMessage  `json:"answer_schema,omitempty"` // of the result
	ReportSchema json.RawMessage  `json:"report_schema,omitempty"` // of the report with it: of R3, whose result is free
}

// Draft is an item to submit.
type Draft struct {
	Intent      string
	Brief       Brief
	Role        string // of whom it is for, "" = any
	Needs       []string
	AssignedTo  string // name or id, "" = anyone of the pool
	Excluded    []schemas.EntityID
	Priority    int   // higher first
	Stage       int   // for the reader
	DependsOn   []int // earlier items of the same submission
	NotBefore   int64 // UTC µs, 0 = now
	Deadline    int64 // UTC µs, 0 = none
	MaxExpiries int   // 0 = DefaultExpiries

	group schemas.GroupID // where it goes, if not to the submission's
	among schemas.GroupID // who looks on there may take it, if that is set
	after schemas.GroupID // what was submitted there before it builds on
}

// In gives the draft of an item that goes to another group than the submission's.
func (d Draft) In(group schemas.GroupID) Draft {
	d.group = group
	return d
}

// Among gives the draft of an item of no group that anyone who reads this group may
// take: only who takes it sees it.
func (d Draft) Among(group schemas.GroupID) Draft {
	d.among = group
	return d
}

// After gives the draft of an item that builds on what is done and what is open in a
// group, though it was submitted before: on the newest MaxItems of those.
func (d Draft) After(group schemas.GroupID) Draft {
	d.after = group
	return d
}

// Arrange says where the items for a group go and what they build on, for groups
// that have a rule about that. It must leave as many as there were, in order.
type Arrange func(g access.Grant, group schemas.GroupID, drafts []Draft) ([]Draft, error)

// Submission is a task: its items, and the group whose members do them, "" for the
// submitter and all below it.
type Submission struct {
	group  schemas.GroupID
	drafts []Draft
	briefs []string
}

// NewSubmission checks a task before a transaction is taken for it; tools are the
// names of all there are. CodeInvalid lists every violation.
func NewSubmission(group schemas.GroupID, drafts []Draft, tools []string) (*Submission, error) {
	s := &Submission{group: group, drafts: drafts}
	var bad []schemas.Violation
	say := func(i int, field, format string, args ...any) {
		bad = append(bad, schemas.Violation{Path: schemas.Pointer("items", fmt.Sprint(i), field),
			Msg: fmt.Sprintf(format, args...)})
	}
	if len(drafts) == 0 || len(drafts) > MaxItems {
		return nil, schemas.Invalidf("a task of %d items", len(drafts)).Expecting("1–%d", MaxItems).
			Try("submit it in several tasks, or with an intent alone")
	}
	known := map[string]bool{}
	for _, t := range tools {
		known[t] = true
	}
	for i := range drafts {
		d := &drafts[i]
		if d.Intent = strings.TrimSpace(d.Intent); d.Intent == "" || len(d.Intent) > maxIntent {
			say(i, "intent", "must have 1 to %d bytes", maxIntent)
		}
		text, err := json.Marshal(d.Brief)
		switch {
		case err != nil:
			say(i, "brief", "is not JSON")
		case len(text) > maxBrief:
			say(i, "brief", "has %d bytes; put what is longer than %d into memory and name it in context", len(text),
				maxBrief)
		}
		s.briefs = append(s.briefs, string(text))
		if len(d.Brief.AnswerSchema) > 0 {
			if _, err := jsonschema.Foreign(d.Brief.AnswerSchema); err != nil {
				say(i, "answer_schema", "%v", err)
			}
		}
		if len(d.Role) > 64 {
			say(i, "role", "is longer than 64 bytes")
		}
		if len(d.Needs) > maxNeeds || len(d.Excluded) > maxExcluded {
			say(i, "needs", "at most %d tools and %d excluded", maxNeeds, maxExcluded)
		}
		for _, t := range d.Needs {
			if !known[t] {
				say(i, "needs", "there is no tool %q%s", t, maybe(schemas.Nearest(t, tools)))
			}
		}
		seen := map[int]bool{}
		for _, on := range d.DependsOn {
			if on < 0 || on >= i || seen[on] {
				say(i, "depends_on", "%d is not an earlier item, named once", on)
			}
			seen[on] = true
		}
		if d.Priority < -100 || d.Priority > 100 {
			say(i, "priority", "must be -100 to 100")
		}
		if d.Deadline > 0 && d.NotBefore >= d.Deadline {
			say(i, "deadline", "lies before not_before")
		}
		if d.MaxExpiries = cmp.Or(d.MaxExpiries, DefaultExpiries); d.MaxExpiries < 1 || d.MaxExpiries > 100 {
			say(i, "max_expiries", "must be 1 to 100")
		}
	}
	if bad != nil {
		return nil, schemas.Invalidf("the task was not submitted").
			Try("correct what is listed and %s again", schemas.Do("task_submit")).With(bad...)
	}
	return s, nil
}

func maybe(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", name)
}

// Submitted is an item that was put into the queue.
type Submitted struct {
	WorkID string            `json:"work_id"`
	State  schemas.WorkState `json:"state"`
}

// Submit puts the items of s into the queue, all or none. Errors: CodeNotFound and
// CodeDenied (a group, or whom an item is assigned to), and those of arrange.
func Submit(g access.Grant, s *Submission, arrange Arrange) (task string, items []Submitted, err error) {
	if g.Tx() == nil {
		return "", nil, access.ErrNoGrant
	}
	drafts := s.drafts
	if s.group != "" {
		if err := mayOffer(g, s.group); err != nil {
			return "", nil, err
		}
		if drafts, err = arrange(g, s.group, drafts); err != nil {
			return "", nil, err
		}
	}
	var place int64
	if err := g.Tx().QueryRow(nextPlace).Scan(&place); err != nil {
		return "", nil, fmt.Errorf("submit work: %w", err)
	}
	task = schemas.NewID()
	var news told
	numbers, lanes, people := make([]int64, len(drafts)), map[class]int64{}, map[string]schemas.EntityID{}
	asked := map[schemas.GroupID]bool{s.group: true}
	for i, d := range drafts {
		d.group = cmp.Or(d.group, s.group)
		if !asked[d.group] {
			if err := mayOffer(g, d.group); err != nil {
				return "", nil, err
			}
			asked[d.group] = true
		}
		r := row{id: schemas.NewID(), task: task, group: d.group, place: place + int64(i)}
		l, err := d.class(g, people)
		if err != nil {
			return "", nil, err
		}
		if r.class = lanes[l]; r.class == 0 {
			if r.class, err = l.number(g); err != nil {
				return "", nil, err
			}
			lanes[l] = r.class
		}
		on, open, err := d.buildsOn(g, numbers)
		if err != nil {
			return "", nil, err
		}
		now := g.Tx().Micros()
		if r.state = schemas.WorkWaiting; open == 0 && d.NotBefore <= now {
			if _, err := r.move(schemas.WorkDue); err != nil {
				return "", nil, err
			}
			news.ready(r)
		}
		if err := g.Tx().QueryRow(insertItem, r.id, task, d.group, g.Actor(), r.class, d.Stage, d.Priority, r.place,
			r.state, len(on),
			open, d.NotBefore, d.Deadline, d.MaxExpiries, now, now, d.Intent, s.briefs[i],
			0).Scan(&numbers[i]); err != nil {
			return "", nil, fmt.Errorf("submit work: %w", err)
		}
		for _, n := range on {
			if _, err := g.Tx().Exec(insertBlocker, numbers[i], n); err != nil {
				return "", nil, fmt.Errorf("submit work: %w", err)
			}
		}
		items = append(items, Submitted{r.id, r.state})
	}
	if err := news.tell(g); err != nil {
		return "", nil, err
	}
	return task, items, g.Audit("task/"+task, map[string]any{"group": s.group, "items": len(items)})
}

// buildsOn numbers the items that d builds on, and counts those that are open; numbers
// are those of the submission.
func (d Draft) buildsOn(g access.Grant, numbers []int64) (on []int64, open int, err error) {
	for _, i := range d.DependsOn {
		on = append(on, numbers[i])
	}
	open = len(on)
	if d.after == "" {
		return on, open, nil
	}
	rows, err := g.Tx().Query(selectStanding, d.after, MaxItems)
	before, err := store.Collect(rows, err, func(r *sql.Rows) (n int64, err error) {
		var done bool
		if err = r.Scan(&n, &done); err == nil && !done {
			open++
		}
		return n, err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read what is built on: %w", err)
	}
	return append(on, before...), open, nil
}

// mayOffer asks for the right to put work before the members of a group.
func mayOffer(g access.Grant, group schemas.GroupID) error {
	return g.Need(access.Need{Kind: access.KindWrite, Layer: schemas.L2, Visibility: schemas.Group, Group: group})
}

// lane is where an item goes. Whom it is assigned to must be able to see it there.
func (d Draft) class(g access.Grant, people map[string]schemas.EntityID) (class, error) {
	l := class{pool: groupPool(d.group), role: d.Role, needs: inOrder(d.Needs), excluded: inOrder(d.Excluded)}
	if d.group == "" {
		l.pool = entityPool(g.Actor())
	}
	if d.AssignedTo == "" {
		return l, nil
	}
	at := string(d.group) + "/" + d.AssignedTo
	if id, ok := people[at]; ok {
		l.assigned = id
		return l, nil
	}
	id, err := g.Resolve(d.AssignedTo)
	if err != nil {
		return l, err
	}
	var in bool
	if d.group == "" {
		in, err = g.Holds(id)
	} else {
		err = g.Tx().LookupRow(countMember, d.group, id).Scan(&in)
	}
	if err != nil {
		return l, err
	}
	if !in {
		return l, schemas.Invalidf("%s could not claim this work",
			d.AssignedTo).Expecting("a member of the group, or without one an agent below you").
			Try("%s lists members, %s the agents below you", schemas.Tool("memory_group", "action", "read"),
				schemas.Tool("agent_list"))
	}
	people[at], l.assigned = id, id
	return l, nil
}
