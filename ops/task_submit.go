package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/swarm"
	"cordelia/work"
)

var taskSubmit = Define(Spec{
	Name: "task_submit", Title: "Submit a task", Toolset: Tasks, Effect: access.Write,
	SearchHint: "delegate assign enqueue work item queue dependency",
	Description: "Have work done by members of group, or without one by agents below you. request: planned, done " +
		"and judged in roles. intent or items: each item by one agent. task_id: answer its questions.",
}, submitTask)

type taskSubmitIn struct {
	Request string          `json:"request,omitempty" jsonschema:"for the pipeline"`
	Intent  string          `json:"intent,omitempty" hint:"title,description,task,prompt" jsonschema:"for one item, or as R1 answers"`
	Group   schemas.GroupID `json:"group,omitempty" jsonschema:"whose members do it"`
	Tools   []string        `json:"tools,omitempty" jsonschema:"what plans may name"`
	Budget  int             `json:"budget_seconds,omitempty" jsonschema:"of work, in all"`
	Replans int             `json:"replans,omitempty" jsonschema:"at most"`
	Within  int             `json:"within_seconds,omitempty" jsonschema:"until the deadline"`
	Hold    bool            `json:"hold,omitempty" jsonschema:"for review by the user"`
	TaskID  string          `json:"task_id,omitempty" ref:"task" jsonschema:"whose questions"`
	Answers string          `json:"answers,omitempty" free:"json" jsonschema:"in one text"`
	Items   []taskItem      `json:"items,omitempty" text:"intent" jsonschema:"several at once"`
	Retry   string          `json:"retry,omitempty" ref:"work" jsonschema:"users only: work_id"`
}

type taskItem struct {
	Intent       string           `json:"intent" hint:"title,description,task,prompt" jsonschema:"for one item"`
	Criteria     []string         `json:"criteria,omitempty" jsonschema:"when it is done"`
	Constraints  []string         `json:"constraints,omitempty" jsonschema:"what must hold"`
	Inputs       json.RawMessage  `json:"inputs,omitempty" text:"text" jsonschema:"what it needs"`
	Context      []schemas.ItemID `json:"context,omitempty" jsonschema:"memory ids"`
	AnswerSchema json.RawMessage  `json:"answer_schema,omitempty" jsonschema:"JSON Schema of the result"`
	Role         string           `json:"role,omitempty" jsonschema:"of who takes it"`
	Needs        []string         `json:"needs,omitempty" jsonschema:"tools it takes"`
	AssignedTo   string           `json:"assigned_to,omitempty" jsonschema:"agent"`
	Priority     int              `json:"priority,omitempty" jsonschema:"higher first"`
	DependsOn    []int            `json:"depends_on,omitempty" jsonschema:"earlier items, by index"`
	After        int              `json:"after_seconds,omitempty" jsonschema:"not before"`
	Within       int              `json:"within_seconds,omitempty" jsonschema:"until the deadline"`
}

// TaskSubmitOut is the answer of task_submit.
type TaskSubmitOut struct {
	TaskID string            `json:"task_id,omitempty"`
	Items  []work.Submitted  `json:"items"`
	State  schemas.TaskState `json:"state,omitempty"`
	Reason string            `json:"reason,omitempty"` // why it is over already
	Next   schemas.Hint      `json:"next,omitempty"`
}

// Text says what was put into the queue, and under which ids.
func (o TaskSubmitOut) Text() string {
	if o.Reason != "" {
		return fmt.Sprintf("task %s is %s: %s; %s", short(o.TaskID), o.State, inset(o.Reason), o.Next)
	}
	if o.State != "" {
		return fmt.Sprintf("task %s is %s; %s", short(o.TaskID), o.State, o.Next)
	}
	items := make([]string, len(o.Items))
	for i, s := range o.Items {
		items[i] = fmt.Sprintf("work %s %s", short(s.WorkID), s.State)
	}
	list := strings.Join(items, ", ")
	if o.TaskID == "" {
		return "back in the queue: " + list
	}
	return fmt.Sprintf("task %s: %s; %s shows how it goes, %s takes it", short(o.TaskID), list,
		schemas.Tool("task_status"), schemas.Tool("task_claim"))
}

// maxAhead bounds times given in seconds from now: a year.
const maxAhead = 366 * 24 * 3600

func submitTask(ctx context.Context, c *Call, in taskSubmitIn) (TaskSubmitOut, error) {
	given := 0
	for _, yes := range []bool{in.Request != "" || in.Intent != "", len(in.Items) > 0, in.Retry != "",
		in.TaskID != ""} {
		if yes {
			given++
		}
	}
	if given != 1 {
		return TaskSubmitOut{}, in.unclear(c.args)
	}
	if err := in.misplaced(); err != nil {
		return TaskSubmitOut{}, err
	}
	if in.Request != "" || in.TaskID != "" {
		return submitRequest(ctx, c, in)
	}
	if in.Retry != "" {
		return Transact(ctx, c, func(g access.Grant) (TaskSubmitOut, error) {
			state, err := work.Retry(g, in.Retry)
			return TaskSubmitOut{Items: []work.Submitted{{WorkID: in.Retry, State: state}}}, err
		})
	}
	if in.Intent != "" {
		in.Items = []taskItem{{Intent: in.Intent}}
	}
	drafts, err := in.drafts(c.Node.Now().UnixMicro())
	if err != nil {
		return TaskSubmitOut{}, err
	}
	s, err := work.NewSubmission(in.Group, drafts, c.Node.Tools())
	if err != nil {
		return TaskSubmitOut{}, in.inArguments(err)
	}
	return Transact(ctx, c, func(g access.Grant) (out TaskSubmitOut, err error) {
		if err := in.seesContext(g); err != nil {
			return out, err
		}
		out.TaskID, out.Items, err = work.Submit(g, s, swarm.Arrange)
		return out, in.noGroup(g, err)
	})
}

// argumentOf are the arguments for the fields of a draft that have other names; a brief is most of its item.
var argumentOf = strings.NewReplacer("/deadline", "/within_seconds", "/brief", "")

// inArguments has a refusal of drafts name the arguments that they were made of.
func (in taskSubmitIn) inArguments(err error) error {
	refusal, ok := errors.AsType[*schemas.Error](err)
	if !ok {
		return err
	}
	for i := range refusal.Violations {
		path := &refusal.Violations[i].Path
		if *path = argumentOf.Replace(*path); in.Intent != "" && *path == "/items/0/intent" {
			*path = "/intent"
		}
	}
	return refusal
}

// unclear refuses a call that gives nothing to submit, or several things.
func (in taskSubmitIn) unclear(args json.RawMessage) error {
	kinds := []string{"request", "intent", "items", "task_id", "retry"}
	refusal := schemas.Invalidf("what to submit is not clear").
		Expecting("one of %s", strings.Join(kinds, ", ")).
		Try("%s with a request for a task of the pipeline, an intent for one item, items for several, task_id "+
			"with answers, or retry alone", schemas.Do("task_submit"))
	var given map[string]json.RawMessage
	if err := json.Unmarshal(args, &given); err != nil {
		return fmt.Errorf("read what to submit: %w", err)
	}
	var full []string
	for _, kind := range kinds {
		switch string(given[kind]) {
		case "":
		case `""`, "[]":
			refusal = refusal.With(schemas.Violation{Path: schemas.Pointer(kind), Msg: "is empty"})
		default:
			full = append(full, kind)
		}
	}
	switch {
	case len(full) < 2:
	case in.Intent != "" && len(in.Items) > 0:
		refusal = refusal.With(schemas.Violation{Path: "/intent", Msg: "goes into an item, not beside items"})
	default:
		refusal = refusal.With(schemas.Violation{Path: schemas.Pointer(full[1]), Msg: "does not go with " + full[0]})
	}
	return refusal
}

// misplaced refuses fields that do not go with what is submitted.
func (in taskSubmitIn) misplaced() error {
	var bad []schemas.Violation
	say := func(field, why string) {
		bad = append(bad, schemas.Violation{Path: schemas.Pointer(field), Msg: why})
	}
	for field, given := range map[string]bool{"tools": in.Tools != nil, "budget_seconds": in.Budget != 0,
		"replans": in.Replans != 0, "within_seconds": in.Within != 0, "hold": in.Hold} {
		if given && in.Request == "" {
			say(field, "goes with request"+when(field == "within_seconds", "; of an item it is items[0].within_seconds"))
		}
	}
	if in.Answers != "" && in.TaskID == "" {
		say("answers", "goes with task_id, the task that asked")
	}
	if in.Group != "" && in.TaskID+in.Retry != "" {
		say("group", "goes with neither task_id nor retry: they are in a group, or in none, already")
	}
	if bad == nil {
		return nil
	}
	slices.SortFunc(bad, func(a, b schemas.Violation) int { return strings.Compare(a.Path, b.Path) })
	again := schemas.Do("task_submit")
	if in.Intent != "" && in.Within > 0 && len(bad) == 1 {
		again = schemas.Do("task_submit", "items", []taskItem{{Intent: in.Intent, Within: in.Within}})
		if in.Group != "" {
			again.Args = append(again.Args, schemas.Arg{Name: "group", Value: in.Group})
		}
		return schemas.Invalidf("the task was not submitted").Try("%s", again).With(bad...)
	}
	return schemas.Invalidf("the task was not submitted").
		Try("correct what is listed and %s again", again).With(bad...)
}

// submitRequest begins a task of the pipeline, or takes the answers to its questions.
func submitRequest(ctx context.Context, c *Call, in taskSubmitIn) (TaskSubmitOut, error) {
	if in.Within < 0 || in.Within > maxAhead || in.Budget > maxAhead {
		return TaskSubmitOut{}, schemas.Invalidf("within_seconds or budget_seconds is out of range").Expecting(
			"0–%d seconds", maxAhead).
			Try("correct it and %s again", schemas.Do("task_submit"))
	}
	r := controller.Request{Request: in.Request, Intent: in.Intent, Group: in.Group, Tools: in.Tools,
		Budget:  time.Duration(in.Budget) * time.Second,
		Replans: in.Replans, Hold: in.Hold}
	if in.Within > 0 {
		r.Deadline = c.Node.Now().UnixMicro() + int64(in.Within)*1e6
	}
	return Transact(ctx, c, func(g access.Grant) (TaskSubmitOut, error) {
		var t controller.Submitted
		var err error
		if in.TaskID != "" {
			t, err = c.Node.Tasks().Answer(g, in.TaskID, in.Answers)
			err = asksNothing(g, in.TaskID, err)
		} else {
			t, err = c.Node.Tasks().Submit(g, r)
			err = in.noGroup(g, err)
		}
		return TaskSubmitOut{TaskID: t.TaskID, Items: []work.Submitted{}, State: t.State, Reason: t.Reason,
			Next: t.Next}, err
	})
}

// noGroup names the group of a submission as what is not there, where it is that.
func (in taskSubmitIn) noGroup(g access.Grant, refusal error) error {
	if in.Group == "" || !errors.Is(refusal, schemas.ErrNotFound) {
		return refusal
	}
	return cmp.Or(knownGroup(g, in.Group), refusal)
}

// asksNothing says of a task_id under which no question was found why that is so, if the caller may see what it names.
func asksNothing(g access.Grant, id string, refusal error) error {
	if !errors.Is(refusal, schemas.ErrNotFound) {
		return refusal
	}
	shows := schemas.Tool("task_status", "task_id", short(id))
	state, err := controller.StateOf(g, id)
	if err == nil {
		return schemas.Deniedf("task %s is %s, and is answered by the agents that run it", short(id), state).
			Try("%s shows it", shows)
	}
	if !errors.Is(err, schemas.ErrNotFound) {
		return err
	}
	items, err := work.List(g, work.Filter{Task: id, Limit: maxTasks})
	if err != nil {
		return notTask(g, "task_status", id, err)
	}
	count := map[schemas.WorkState]int{}
	for _, s := range items {
		count[s.State]++
	}
	var states []string
	for _, state := range slices.Sorted(maps.Keys(count)) {
		states = append(states, fmt.Sprintf("%d %s", count[state], state))
	}
	return schemas.Conflictf("task %s asks nothing: it is items of work, %s", short(id), strings.Join(states, ", ")).
		Try("%s shows how it goes", shows)
}

// seesContext refuses items of memory that the submitter does not see: no agent is sent to
// read what is not there, and none learns by it what is.
func (in taskSubmitIn) seesContext(g access.Grant) error {
	var bad []schemas.Violation
	for i, t := range in.Items {
		unseen, err := memory.Unseen(g, t.Context)
		if err != nil {
			return err
		}
		for _, id := range unseen {
			bad = append(bad, schemas.Violation{Path: schemas.Pointer("items", fmt.Sprint(i), "context"),
				Msg: fmt.Sprintf("%q is not the id of an item, as memory_search gives it",
					schemas.Shorten(string(id), 64))})
		}
	}
	if bad == nil {
		return nil
	}
	return schemas.Invalidf("the task was not submitted").
		Try("correct what is listed and %s again", schemas.Do("task_submit")).With(bad...)
}

func (in taskSubmitIn) drafts(now int64) ([]work.Draft, error) {
	var drafts []work.Draft
	for i, t := range in.Items {
		d := work.Draft{Intent: t.Intent, Role: t.Role, Needs: t.Needs, AssignedTo: t.AssignedTo, Priority: t.Priority,
			DependsOn: t.DependsOn,
			Brief: work.Brief{Inputs: t.Inputs, Criteria: t.Criteria, Constraints: t.Constraints, Context: t.Context,
				AnswerSchema: t.AnswerSchema}}
		if t.After < 0 || t.After > maxAhead || t.Within < 0 || t.Within > maxAhead {
			return nil, schemas.Invalidf("after_seconds or within_seconds of item %d is out of range",
				i).Expecting("0–%d seconds from now", maxAhead).
				Try("correct them and %s again", schemas.Do("task_submit"))
		}
		if t.After > 0 {
			d.NotBefore = now + int64(t.After)*1e6
		}
		if t.Within > 0 {
			d.Deadline = now + int64(t.Within)*1e6
		}
		drafts = append(drafts, d)
	}
	return drafts, nil
}
