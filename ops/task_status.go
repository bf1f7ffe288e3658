package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/work"
)

var taskStatus = waits(Define(Spec{
	Name: "task_status", Title: "Task status", Toolset: Tasks, Effect: access.Read,
	SearchHint: "progress list work items result who holds wait",
	Description: "Tasks and work you submitted, hold or share a group with; an item by work_id, a task by task_id. " +
		"wait_seconds: for its end.",
}, statusOfTask), waiter[taskStatusIn, TaskStatusOut]{ready: statusOver, show: shownStatus, asks: askedOf})

type taskStatusIn struct {
	WorkID string            `json:"work_id,omitempty" ref:"work" jsonschema:"one item"`
	TaskID string            `json:"task_id,omitempty" ref:"task" jsonschema:"one task"`
	Group  schemas.GroupID   `json:"group,omitempty" jsonschema:"only there"`
	State  schemas.WorkState `json:"state,omitempty" enum:"waiting,ready,leased,held,blocked,done,failed,cancelled"`
	Detail bool              `json:"detail,omitempty" jsonschema:"with brief, result, evidence"`
	Limit  int               `json:"limit,omitempty" jsonschema:"1-50, default 20"`
	Cursor string            `json:"cursor,omitempty" jsonschema:"from the last page"`

	WaitSeconds int `json:"wait_seconds,omitempty" hint:"timeout,timeout_seconds" jsonschema:"0-50, as a task 3600"`
}

// TaskStatusOut is the answer of task_status.
type TaskStatusOut struct {
	Task   *controller.View   `json:"task,omitempty"`
	Tasks  []controller.Entry `json:"tasks,omitempty"` // when neither is named
	Items  []work.Status      `json:"items"`
	Cursor string             `json:"cursor,omitempty"`
}

// Text is a task in some lines, or the items in a line each, one alone with all of it.
func (o TaskStatusOut) Text() string {
	if o.Task != nil {
		return o.Task.Text()
	}
	if len(o.Items)+len(o.Tasks) == 0 {
		return "no work"
	}
	var list []string
	for _, t := range o.Tasks {
		list = append(list, words(" ", "task", short(t.TaskID), string(t.State), string(t.GroupID))+": "+
			inset(t.Intent))
	}
	for _, s := range o.Items {
		list = append(list, statusText(s))
	}
	return lines(append(list, more(o.Cursor))...)
}

// WaitsFor words what an item waits for: some by their ids, and how many more.
func WaitsFor(s work.Status) string {
	switch more := s.WaitsFor - len(s.WaitsForIDs); {
	case len(s.WaitsForIDs) == 0:
		return schemas.Count(s.WaitsFor, "item", "items")
	case more > 0:
		return fmt.Sprintf("%s and %d more", shorts(s.WaitsForIDs), more)
	}
	return shorts(s.WaitsForIDs)
}

// statusText words one item.
func statusText(s work.Status) string {
	line := words(", ", fmt.Sprintf("work %s of task %s %s", short(s.WorkID), short(s.TaskID), s.State),
		when(s.Overdue, "overdue"),
		when(s.Holder != "", "held by %s", Line(s.Holder)),
		when(s.LeaseLeft > 0, "%d s left", s.LeaseLeft), string(s.GroupID), when(s.Role != "", "role %s", Line(s.Role)),
		when(s.AssignedTo != "", "for %s", Line(s.AssignedTo)),
		when(s.Stage > 0, "stage %d", s.Stage), when(s.Priority != 0, "priority %d", s.Priority),
		when(s.WaitsFor > 0, "waits for %s", WaitsFor(s)),
		when(s.Attempts > 1, "attempt %d", s.Attempts),
		when(s.Deadline != "", "deadline %s", second(s.Deadline)),
		when(s.Outcome != "" && s.Outcome != string(s.State), "%s", outcomeText(s.Outcome)),
		when(s.Finished != "", "ended %s", minute(s.Finished))) + ": " + inset(s.Intent)
	if s.State == schemas.WorkBlocked {
		line = lines(line, fmt.Sprintf("it stays so until the user runs cordelia task retry %s%s, or %s ends it",
			short(s.WorkID), when(s.Outcome == work.Doomed, ", which goes on without that"),
			schemas.Tool("task_cancel", "work_id", short(s.WorkID))))
	}
	if s.Brief != nil {
		line = lines(line, begun(briefText(*s.Brief, nil), s.WorkID))
	}
	line = lines(line, when(s.Note != "", "note: %s", inset(s.Note)))
	if len(s.Result) > 0 {
		line += "\nresult: " + inset(begun(oneJSON(s.Result), s.WorkID)) +
			when(s.ResultHash != "", "\nresult_hash %s", s.ResultHash)
	}
	for _, e := range s.Evidence {
		line += "\n" + inset(words("; ", fmt.Sprintf("evidence: %s %s → exit %d", e.Tool, e.Input, e.Exit), e.Head,
			e.Tail))
	}
	for _, l := range s.Late {
		line += "\n" + inset(words("; ", fmt.Sprintf("late report by %s with fence %d, %s: %s", Line(l.By), l.Fence,
			second(l.At), l.Outcome), l.Note, begun(oneJSON(l.Result), s.WorkID)))
	}
	return line
}

// outcomeText words how an item ended or stopped.
func outcomeText(outcome string) string {
	if outcome == work.Doomed {
		return "what it waited for will not be done"
	}
	return Line(outcome)
}

const (
	defaultTasks = 20
	maxTasks     = 50
	shownTasks   = 5 // tasks of the pipeline, on a page of items
)

// taskPlace is where a page ended, of items and of tasks.
type taskPlace struct {
	ID   string `json:"id"`
	Task string `json:"t,omitempty"`
}

// beforeAll is below every id.
const beforeAll = "0"

func statusOfTask(ctx context.Context, c *Call, in taskStatusIn) (TaskStatusOut, error) {
	wait, err := c.waitOf(in.WaitSeconds)
	if err != nil {
		return TaskStatusOut{}, err
	}
	if wait > 0 && (in.WorkID == "" && in.TaskID == "" || in.State != "") {
		return TaskStatusOut{}, schemas.Invalidf("wait_seconds without one task or item to wait for").
			Expecting("a task_id or a work_id beside it, and no state").Try(
			"%s with one of them, or without a wait", schemas.Do("task_status"))
	}
	var place taskPlace
	if err := decodeCursor(in.Cursor, &place); err != nil {
		return TaskStatusOut{}, err
	}
	if in.Limit, err = pageSize(in.Limit, defaultTasks, maxTasks); err != nil {
		return TaskStatusOut{}, err
	}
	return awaiting(ctx, c, wait,
		func(left time.Duration) (TaskStatusOut, error) {
			return Transact(ctx, c, func(g access.Grant) (out TaskStatusOut, err error) {
				if left > 0 {
					if done, err := in.over(g, c.asks()); err != nil || !done {
						return out, cmp.Or(err, errNotYet)
					}
				}
				return in.status(g, place)
			})
		},
		func(limited context.Context, woken <-chan struct{}) error { return c.awaitStatus(limited, in, woken) })
}

// notTask extends the refusal of an unknown task_id: it may be the work_id of an item.
func notTask(g access.Grant, tool, id string, refusal error) error {
	if id == "" || !errors.Is(refusal, schemas.ErrNotFound) {
		return refusal
	}
	item, err := refWork.whole(g, id)
	if err == nil {
		_, err = work.Show(g, item, false)
	}
	if err != nil {
		return refusal // what the caller may not see is not there
	}
	return schemas.NotFoundf("%s is a work_id, no task_id", short(item)).Expecting("a task_id").
		Try("%s", schemas.Tool(tool, "work_id", item))
}

// status reads what was asked for; in.Limit is set.
func (in taskStatusIn) status(g access.Grant, place taskPlace) (out TaskStatusOut, err error) {
	out.Items = []work.Status{}
	if in.WorkID != "" {
		s, err := work.Show(g, in.WorkID, in.Detail)
		return TaskStatusOut{Items: []work.Status{s}}, notWork(g, "task_status", in.WorkID, err)
	}
	if in.TaskID != "" && in.State == "" && in.Cursor == "" {
		v, err := controller.Show(g, in.TaskID, in.Detail)
		if err == nil {
			out.Task = &v
		}
		if !errors.Is(err, schemas.ErrNotFound) {
			return out, err
		}
	}
	items, err := work.List(g, work.Filter{Task: in.TaskID, Group: in.Group, State: in.State, Before: place.ID,
		Limit: in.Limit + 1})
	if err != nil {
		return out, notTask(g, "task_status", in.TaskID, err)
	}
	end := taskPlace{ID: beforeAll, Task: beforeAll}
	next := end
	if len(items) > in.Limit {
		items = items[:in.Limit]
		next.ID = items[in.Limit-1].WorkID
	}
	if err := intents(g, items); err != nil {
		return out, err
	}
	if in.TaskID != "" && in.State == "" && place.ID == "" && len(items) == 1 { // its one item is the task
		if items[0], err = work.Show(g, items[0].WorkID, in.Detail); err != nil {
			return out, err
		}
	}
	out.Items = append(out.Items, items...)
	if in.TaskID == "" && in.State == "" {
		var more bool
		if out.Tasks, more, err = in.tasks(g, place.Task); err != nil {
			return out, err
		}
		if more {
			next.Task = out.Tasks[len(out.Tasks)-1].TaskID
		}
	}
	if next != end {
		out.Cursor = encodeCursor(next)
	}
	if in.Group != "" && len(out.Items)+len(out.Tasks) == 0 {
		return out, knownGroup(g, in.Group)
	}
	return out, nil
}

// knownGroup refuses a group that the caller does not read.
func knownGroup(g access.Grant, group schemas.GroupID) error {
	scope, err := g.ReadScope()
	if err != nil || slices.Contains(scope.Groups, group) {
		return err
	}
	return memory.NoGroup(g, group)
}

// tasks lists the tasks that begin before the one of that id, and reports whether there are more.
func (in taskStatusIn) tasks(g access.Grant, before string) (list []controller.Entry, more bool, err error) {
	most := min(in.Limit, shownTasks)
	list, err = controller.List(g, controller.Filter{Group: in.Group, Before: before, Limit: most + 1})
	return list[:min(len(list), most)], len(list) > most, err
}

// intents puts what the user wants in the place of the brief that a seat of the pipeline
// works from.
func intents(g access.Grant, items []work.Status) error {
	known := map[string]string{}
	for i := range items {
		s := &items[i]
		if !slices.Contains(strings.Split(seated, ", "), s.Role) {
			continue
		}
		intent, seen := known[s.TaskID]
		if !seen {
			var err error
			if intent, err = controller.IntentOf(g, s.TaskID); err != nil && !errors.Is(err, schemas.ErrNotFound) {
				return err
			}
			known[s.TaskID] = intent
		}
		if intent != "" {
			s.Intent = s.Role + " of: " + intent
		}
	}
	return nil
}

// notWork extends the refusal of an unknown work_id: it may be the task_id of a task.
func notWork(g access.Grant, tool, id string, refusal error) error {
	if id == "" || !errors.Is(refusal, schemas.ErrNotFound) {
		return refusal
	}
	task, err := refTask.whole(g, id)
	if err == nil {
		if _, err = controller.StateOf(g, task); errors.Is(err, schemas.ErrNotFound) {
			_, err = work.List(g, work.Filter{Task: task, Limit: 1})
		}
	}
	if err != nil {
		return refusal // what the caller may not see is not there
	}
	return schemas.NotFoundf("%s is a task_id, no work_id", short(task)).Expecting("a work_id").
		Try("%s", schemas.Tool(tool, "task_id", task))
}

// over reports whether the wait of a call is over: the task or item has ended, or goes on only
// after an act of another agent than its workers. A question does not end the wait of the
// caller that has to answer it.
func (in taskStatusIn) over(g access.Grant, asked bool) (bool, error) {
	if in.WorkID != "" {
		s, err := work.Show(g, in.WorkID, false)
		return stalled(s), err
	}
	if state, err := controller.StateOf(g, in.TaskID); !errors.Is(err, schemas.ErrNotFound) {
		if asked && state == schemas.TaskClarifying {
			questions, _, err := controller.Asked(g, in.TaskID)
			return len(questions) == 0, err
		}
		return state.Final() || state == schemas.TaskClarifying || state == schemas.TaskReview, err
	}
	for before := ""; ; {
		items, err := work.List(g, work.Filter{Task: in.TaskID, Group: in.Group, Before: before, Limit: maxTasks})
		if err != nil || slices.ContainsFunc(items, func(s work.Status) bool { return !stalled(s) }) {
			return false, err
		}
		if len(items) < maxTasks {
			return true, nil
		}
		before = items[len(items)-1].WorkID
	}
}

// stalled reports whether an item ended or waits for another than a worker.
func stalled(s work.Status) bool {
	return s.State.Final() || s.State == schemas.WorkHeld || s.State == schemas.WorkBlocked
}

// lookAgain bounds how often a wait for a result reads it.
const lookAgain = 200 * time.Millisecond

// awaitStatus returns when what in asks for is over, or ctx ends.
func (c *Call) awaitStatus(ctx context.Context, in taskStatusIn, woken <-chan struct{}) error {
	for {
		if done, err := statusOver(ctx, c, in, nil); err != nil || done {
			return err
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// statusOver reports whether a wait for a result would end now.
func statusOver(ctx context.Context, c *Call, in taskStatusIn, _ *work.Watch) (done bool, err error) {
	err = c.do(ctx, c.lookOp(), func(g access.Grant) (err error) {
		done, err = in.over(g, c.asks())
		return err
	})
	return done, lost(err, "read work")
}

// shownStatus is a kept answer with the caller's present rights: read anew.
func shownStatus(g access.Grant, in taskStatusIn, _ TaskStatusOut) (TaskStatusOut, error) {
	in.Limit = cmp.Or(in.Limit, defaultTasks)
	return in.status(g, taskPlace{})
}
