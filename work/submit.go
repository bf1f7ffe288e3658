package work

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/internal/jsonschema"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Brief is what the agent that does an item gets besides its intent.
type Brief struct {
	Inputs       json.RawMessage  `json:"inputs,omitempty"`
	Criteria     []string         `json:"criteria,omitempty"`
	Constraints  []string         `json:"constraints,omitempty"`
	Context      []schemas.ItemID `json:"context,omitempty"`       // memory items to read
	AnswerSchema json.RawMessage  `json:"answer_schema,omitempty"` // of the result
	ReportSchema json.RawMessage  `json:"report_schema,omitempty"` // of the report with it: of R3, whose result is free
	Means        *Means           `json:"means,omitempty"`         // of what a role delegated
}

// Means is how the node has an item done and checked that a role's recipe led to. No submitter
// sets it.
type Means struct {
	Client string   `json:"client,omitempty"` // "" = the agent that takes it
	Model  string   `json:"model,omitempty"`
	Tools  []string `json:"tools,omitempty"`  // of a worker; none = all
	Checks []string `json:"checks,omitempty"` // commands that exit 0 on the result: the node's own run of them decides
}

// Draft is an item to submit.
type Draft struct {
	Intent      string
	Brief       Brief
	Role        string // of the agent that it is for, "" = any
	Needs       []string
	AssignedTo  string // name or id, "" = any agent of the pool
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

// Among gives the draft of an item of no group that any reader of this group may take. Only the
// agent that takes it sees it.
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
	if len(drafts) == 0 || len(drafts) > MaxItems {
		return nil, schemas.Invalidf("a task of %d items", len(drafts)).Expecting("1–%d", MaxItems).
			Try("submit it in several tasks, or with an intent alone")
	}
	var bad []schemas.Violation
	for i := range drafts {
		say := func(field, format string, args ...any) {
			bad = append(bad, schemas.Violation{Path: schemas.Pointer("items", fmt.Sprint(i), field),
				Msg: fmt.Sprintf(format, args...)})
		}
		d := &drafts[i]
		s.briefs = append(s.briefs, d.checkTexts(say))
		d.checkTakers(say, tools)
		d.checkOrder(say, i)
	}
	if bad != nil {
		return nil, schemas.Invalidf("the task was not submitted").
			Try("correct what is listed and %s again", schemas.Do("task_submit")).With(bad...)
	}
	return s, nil
}

// violation records what is wrong with a field of a draft.
type violation func(field, format string, args ...any)

// checkTexts checks what the agent that does the item reads, and gives the brief as JSON.
func (d *Draft) checkTexts(say violation) (brief string) {
	if d.Intent = strings.TrimSpace(d.Intent); d.Intent == "" || len(d.Intent) > maxIntent {
		say("intent", "must have 1 to %d bytes", maxIntent)
	}
	text, err := json.Marshal(d.Brief)
	switch {
	case err != nil:
		say("brief", "is not JSON")
	case len(text) > maxBrief:
		say("brief", "has %d bytes beside the intent; put what is longer than %d into memory and name it in "+
			"context", len(text), maxBrief)
	}
	if len(d.Brief.AnswerSchema) > 0 {
		if _, err := jsonschema.Foreign(d.Brief.AnswerSchema); err != nil {
			say("answer_schema", "%v", err)
		}
	}
	return string(text)
}

// checkTakers checks what decides which agents may take the item.
func (d *Draft) checkTakers(say violation, tools []string) {
	if len(d.Role) > 64 {
		say("role", "is longer than 64 bytes")
	}
	if len(d.Needs) > maxNeeds || len(d.Excluded) > maxExcluded {
		say("needs", "at most %d tools and %d excluded", maxNeeds, maxExcluded)
	}
	for _, t := range d.Needs {
		if !slices.Contains(tools, t) {
			say("needs", "there is no tool %q here%s", t, cmp.Or(maybe(strings.Join(schemas.Meant(t, tools), " or ")),
				": needs are tools of this server, "+strings.Join(tools, ", ")))
		}
	}
}

// checkOrder checks what decides when the item is done; i is its place in the task.
func (d *Draft) checkOrder(say violation, i int) {
	seen := map[int]bool{}
	for _, on := range d.DependsOn {
		if on < 0 || on >= i || seen[on] {
			say("depends_on", "%d is not an earlier item, named once", on)
		}
		seen[on] = true
	}
	if d.Priority < -100 || d.Priority > 100 {
		say("priority", "must be -100 to 100")
	}
	if d.Deadline > 0 && d.NotBefore >= d.Deadline {
		say("deadline", "is over before the item may be taken")
	}
	if d.MaxExpiries = cmp.Or(d.MaxExpiries, DefaultExpiries); d.MaxExpiries < 1 || d.MaxExpiries > 100 {
		say("max_expiries", "must be 1 to 100")
	}
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
// CodeDenied (a group, or the agent that an item is assigned to), and those of arrange.
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
	q := queueing{Grant: g, task: schemas.NewID(), asked: map[schemas.GroupID]bool{s.group: true},
		classes: map[class]int64{}, people: map[string]schemas.EntityID{}}
	if err := g.Tx().QueryRow(nextPlace).Scan(&q.place); err != nil {
		return "", nil, fmt.Errorf("submit work: %w", err)
	}
	for i, d := range drafts {
		d.group = cmp.Or(d.group, s.group)
		item, err := q.put(d, s.briefs[i])
		if err != nil {
			return "", nil, err
		}
		items = append(items, item)
	}
	if err := q.news.announce(g); err != nil {
		return "", nil, err
	}
	return q.task, items, g.Audit("task/"+q.task, map[string]any{"group": s.group, "items": len(items)})
}

// queueing is a submission on its way into the queue.
type queueing struct {
	access.Grant
	task    string
	place   int64   // of the next item
	numbers []int64 // of the items that are in the queue
	news    readyNews

	// answers that items share
	asked   map[schemas.GroupID]bool // groups that the actor may offer work to
	classes map[class]int64
	people  map[string]schemas.EntityID
}

// put puts the next item into the queue. It is ready at once unless it waits for a time or
// for other items.
func (q *queueing) put(d Draft, brief string) (item Submitted, err error) {
	if !q.asked[d.group] {
		if err := mayOffer(q.Grant, d.group); err != nil {
			return item, err
		}
		q.asked[d.group] = true
	}
	r := row{id: schemas.NewID(), task: q.task, group: d.group, place: q.place}
	if r.class, err = q.classOf(d); err != nil {
		return item, err
	}
	on, open, err := d.buildsOn(q.Grant, q.numbers)
	if err != nil {
		return item, err
	}
	now := q.Tx().Micros()
	if r.state = schemas.WorkWaiting; open == 0 && d.NotBefore <= now {
		if err := r.move(schemas.WorkDue, schemas.ByNode); err != nil {
			return item, err
		}
		q.news.ready(r)
	}
	var n int64
	if err := q.Tx().QueryRow(insertItem, r.id, q.task, d.group, q.Actor(), r.class, d.Stage, d.Priority, r.place,
		r.state, len(on), open, d.NotBefore, d.Deadline, d.MaxExpiries, now, now, d.Intent, brief,
		0).Scan(&n); err != nil {
		return item, fmt.Errorf("submit work: %w", err)
	}
	for _, other := range on {
		if _, err := q.Tx().Exec(insertBlocker, n, other); err != nil {
			return item, fmt.Errorf("submit work: %w", err)
		}
	}
	q.place++
	q.numbers = append(q.numbers, n)
	return Submitted{r.id, r.state}, nil
}

// classOf numbers the eligibility class of a draft, once for all items that share it.
func (q *queueing) classOf(d Draft) (n int64, err error) {
	c, err := d.class(q.Grant, q.people)
	if err != nil || q.classes[c] != 0 {
		return q.classes[c], err
	}
	n, err = c.number(q.Grant)
	q.classes[c] = n
	return n, err
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

// class is where an item goes. Whom it is assigned to must be able to see it there.
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
		err = g.Tx().QueryRow(countMember, d.group, id).Scan(&in)
	}
	if err != nil {
		return l, err
	}
	if !in {
		refusal := schemas.Invalidf("%s could not claim this work", d.AssignedTo)
		if d.group == "" {
			return l, refusal.Expecting("an agent below you; or a member of a group, with that group").
				Try("%s lists the agents below you", schemas.Tool("agent_list"))
		}
		return l, refusal.Expecting("a member of the group").
			Try("%s lists its members", schemas.Tool("memory_group", "action", "read", "group", d.group))
	}
	if err := mayTake(g, d.AssignedTo, id); err != nil {
		return l, err
	}
	people[at], l.assigned = id, id
	return l, nil
}

// mayTake refuses work for an agent that no claim would give it to: it, or one above it, has no task_claim. Whether
// it is active does not count, as that comes and goes. Of those above it, the refusal names none but those below
// the actor.
func mayTake(g access.Grant, ref string, id schemas.EntityID) error {
	const tool = "task_claim"
	chain, err := g.ChainOf(id)
	if err != nil {
		return err
	}
	denials := access.Evaluate(chain, access.Operation{Tool: tool}, g.Tx().Micros())
	first := slices.IndexFunc(denials, func(d access.Denial) bool { return d.Reason == access.DeniedTool })
	if first < 0 {
		return nil
	}
	lacks := denials[first].ID
	whose := "its tools"
	if lacks != id {
		whose = "the tools of an agent above it"
	}
	refusal := schemas.Invalidf("%s could not claim this work: %s is not among %s", ref, tool, whose).
		Expecting("an agent with the tool %s", tool)
	more := []any{"agent", access.RefOf(g.Tx(), lacks), "tools", []string{"+" + tool}}
	below, err := g.Holds(lacks)
	switch {
	case err != nil:
		return err
	case below && lacks != g.Actor():
		return refusal.Try("%s adds it", schemas.Tool("agent_capabilities", more...))
	case below || lacks == id:
		return refusal.Try("the parent of %s can add it: %s", access.RefOf(g.Tx(), lacks),
			schemas.Other("agent_capabilities", more...))
	}
	return refusal.Try("the parent of that one can add it with %s", schemas.Other("agent_capabilities"))
}
