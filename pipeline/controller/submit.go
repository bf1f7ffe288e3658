package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/pipeline"
	"cordelia/schemas"
	"cordelia/work"
)

// Limits of a task. Sizes are in bytes.
const (
	maxRequest = 32 << 10
	maxAnswers = 8 << 10
	maxTools   = 50
	maxTool    = 64
	maxBudget  = 30 * 24 * time.Hour
)

// MaxReplans is how many rounds after the first a task may have at most.
const MaxReplans = 20

// DefaultTools are the names a plan may use where a task names none: what coding
// agents commonly have.
func DefaultTools() []string {
	return []string{"bash", "edit", "fetch", "glob", "grep", "read", "search", "write"}
}

// Request is a task to submit. Zero values mean the defaults.
type Request struct {
	Request  string // the user's words
	Intent   string // in the user's words; then R1 needs no seat
	Group    schemas.GroupID
	Tools    []string
	Budget   time.Duration // of work
	Replans  int
	Deadline int64 // UTC µs
	Hold     bool  // a person looks at the result before it counts

	On schemas.EntityID // in whose name the node submits it; "" = the actor's
}

// Check names everything that is wrong with a request.
func (r Request) Check() error { return r.check() }

// check names everything that is wrong with a request, and fills in defaults.
func (r *Request) check() error {
	var bad []schemas.Violation
	say := func(field, format string, args ...any) {
		bad = append(bad, schemas.Violation{Path: schemas.Pointer(field), Msg: fmt.Sprintf(format, args...)})
	}
	if strings.TrimSpace(r.Request) == "" || len(r.Request) > maxRequest {
		say("request", "must have 1 to %d bytes", maxRequest)
	}
	if r.Intent = strings.TrimSpace(r.Intent); len(r.Intent) > maxIntent {
		say("intent", "must have at most %d bytes", maxIntent)
	}
	if len(r.Tools) == 0 {
		r.Tools = DefaultTools()
	}
	if len(r.Tools) > maxTools {
		say("tools", "has more than %d names", maxTools)
	}
	for i, tool := range r.Tools {
		if tool == "" || len(tool) > maxTool || strings.ContainsAny(tool, ": \t\r\n") {
			say("tools", "%q is no name of 1 to %d bytes without colons and spaces", tool, maxTool)
		}
		same := func(s string) bool { return pipeline.ToolName(s) == pipeline.ToolName(tool) }
		if at := slices.IndexFunc(r.Tools[:i], same); at >= 0 {
			say("tools", "%q names the same tool as %q: name each once", tool, r.Tools[at])
		}
	}
	if r.Budget < 0 || r.Budget > maxBudget {
		say("budget_seconds", "must be at most %d", int(maxBudget.Seconds()))
	}
	if r.Replans < 0 || r.Replans > MaxReplans {
		say("replans", "must be 1 to %d", MaxReplans)
	}
	if bad != nil {
		return schemas.Invalidf("the task was not submitted").Try(
			"correct what is listed and %s again", schemas.Do("task_submit")).With(bad...)
	}
	return nil
}

// Submitted is a task that was begun.
type Submitted struct {
	TaskID string
	State  schemas.TaskState
	Reason string // why it is over already, "" if it is not
	Next   schemas.Hint
}

// submitted says how a task stands after a call of its submitter.
func (t *task) submitted(g access.Grant) (Submitted, error) {
	reason, err := t.reason()
	return Submitted{t.id, t.state, reason, next(g, t)}, err
}

// reason says why a task is over, "" if it is not.
func (t *task) reason() (string, error) {
	if !t.state.Final() {
		return "", nil
	}
	var f schemas.FinalResult
	err := decode(t.result, &f)
	return f.Reason, err
}

// Submit begins a task. Errors: CodeInvalid, and CodeNotFound or CodeDenied for a
// group.
func (c *Controller) Submit(g access.Grant, r Request) (Submitted, error) {
	if g.Tx() == nil {
		return Submitted{}, access.ErrNoGrant
	}
	if err := r.check(); err != nil {
		return Submitted{}, err
	}
	team, err := c.teamOf(g, r.Group)
	if err != nil {
		return Submitted{}, err
	}
	if err := mayOffer(g, r.Group, team); err != nil {
		return Submitted{}, err
	}
	by := g.Actor()
	if r.On != "" && g.IsNode() {
		by = r.On
	}
	t := c.newTask(g, r, by)
	t.settings.Apart = team.Apart()
	if err := g.Tx().QueryRow(insertTask, t.id, t.submitter, t.group, t.state, t.held, t.deadline, t.created, t.created,
		t.request,
		text(t.tools), text(t.settings)).Scan(&t.n); err != nil {
		return Submitted{}, fmt.Errorf("write task: %w", err)
	}
	if err := g.Audit("task/"+t.id, map[string]any{"group": t.group, "tools": len(t.tools),
		"held": t.held}); err != nil {
		return Submitted{}, err
	}
	err = asNode(g, func(g access.Grant) error {
		u := &taskTx{c, g, t, by}
		return u.step(func() error {
			if r.Intent == "" {
				return u.perceive()
			}
			return u.understood(schemas.Perception{Intent: r.Intent}, by)
		})
	})
	if err != nil {
		return Submitted{}, err
	}
	return t.submitted(g)
}

// newTask is the task that a request asks for, before it is written.
func (c *Controller) newTask(g access.Grant, r Request, by schemas.EntityID) *task {
	t := &task{id: schemas.NewID(), submitter: by, group: r.Group, state: schemas.TaskPerceiving, held: r.Hold,
		deadline: r.Deadline, request: r.Request, tools: r.Tools, settings: c.settings, created: g.Tx().Micros()}
	if r.Budget > 0 {
		t.settings.Loss.TimeBudgetMS = r.Budget.Milliseconds()
	}
	if r.Replans > 0 {
		t.settings.Loss.MaxReplans = r.Replans
	}
	return t
}

// mayOffer asks for the right to put work before the members of a group, each where
// it works.
func mayOffer(g access.Grant, group schemas.GroupID, t pipeline.Team) error {
	asked := map[schemas.GroupID]bool{"": true}
	groups := []schemas.GroupID{group}
	for _, m := range t.Members {
		groups = append(groups, m.Cell)
	}
	for _, id := range groups {
		if asked[id] {
			continue
		}
		if err := g.Need(access.Need{Kind: access.KindWrite, Layer: schemas.L2, Visibility: schemas.Group,
			Group: id}); err != nil {
			return err
		}
		asked[id] = true
	}
	return nil
}

// next says what to do about a task.
func next(g access.Grant, t *task) schemas.Hint {
	shows := schemas.Tool("task_status", "task_id", schemas.ShortID(t.id))
	switch t.state {
	case schemas.TaskPerceiving:
		return schemas.Hintf("an agent takes role R1 with %s; %s shows how it goes",
			schemas.Tool("task_claim", "role", schemas.Perceiver), shows)
	case schemas.TaskPlanning:
		return schemas.Hintf("an agent takes role R2 with %s and plans it; %s shows how it goes",
			schemas.Tool("task_claim", "role", schemas.Planner), shows)
	case schemas.TaskClarifying:
		return schemas.Hintf("answer with %s and the answers; without them it goes on as it is",
			schemas.Tool("task_submit", "task_id", schemas.ShortID(t.id)))
	case schemas.TaskReview:
		if !g.IsHuman() {
			return schemas.Hintf("a person decides, and until then the result does not count: the user sees it " +
				"and answers with cordelia review at the terminal")
		}
		return schemas.Hintf("a person decides: %s shows the result, %s takes the decision", schemas.Tool("review_list"),
			schemas.Tool("review_decide"))
	}
	return schemas.Hintf("%s shows it", shows)
}

// Answer takes what the user says to R1's questions; "" = go on without. It is for
// who runs the task. CodeConflict if nothing was asked.
func (c *Controller) Answer(g access.Grant, id, answers string) (Submitted, error) {
	t, err := managed(g, id)
	if err != nil {
		return Submitted{}, err
	}
	if len(answers) > maxAnswers {
		return Submitted{}, schemas.Invalidf("the answers have %d bytes", len(answers)).Expecting("at most %d",
			maxAnswers).Try("shorten them")
	}
	if t.state != schemas.TaskClarifying {
		refusal := schemas.Conflictf("task %s asks nothing now: it is %s", schemas.ShortID(t.id), t.state)
		refusal.Hint = next(g, t)
		return Submitted{}, refusal
	}
	by := g.Actor()
	err = asNode(g, func(g access.Grant) error {
		u := &taskTx{c, g, t, by}
		return u.step(func() error { return u.answered(by, strings.TrimSpace(answers)) })
	})
	if err != nil {
		return Submitted{}, err
	}
	return t.submitted(g)
}

// Asked gives what R1 asks of the user, for the nth time, to an actor that may answer; nothing
// to another actor, or if nothing is asked.
func Asked(g access.Grant, id string) (questions []string, nth int, err error) {
	t, err := managed(g, id)
	switch {
	case errors.Is(err, schemas.ErrNotFound):
		return nil, 0, nil
	case err != nil || t.state != schemas.TaskClarifying:
		return nil, 0, err
	}
	return t.asked[len(t.asked)-1].Questions, len(t.asked), nil
}

// Cancel ends a task and its n open work items; the holders' next reports do not count. Only the
// actor that runs the task may. CodeNotFound if it is no task of the pipeline or hidden, CodeDenied if the
// actor may only see it, CodeConflict if it is over.
func (c *Controller) Cancel(g access.Grant, id string) (n int, err error) {
	t, err := managed(g, id)
	if errors.Is(err, schemas.ErrNotFound) {
		if t, err = visible(g, id); err == nil {
			err = work.NotRun(t.group)
		}
	}
	if err != nil {
		return 0, err
	}
	if t.state.Final() {
		return 0, schemas.Conflictf("this task is over: %s", t.state).
			Try("%s with its task_id shows it", schemas.Tool("task_status"))
	}
	by := g.Actor()
	err = asNode(g, func(g access.Grant) error {
		u := &taskTx{c, g, t, by}
		list, err := seats(g, t)
		if err != nil {
			return err
		}
		for _, s := range list {
			if s.open() {
				n++
			}
		}
		return u.step(func() error { return u.cancelled(by) })
	})
	return n, err
}
