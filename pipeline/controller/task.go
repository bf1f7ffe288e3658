package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/pipeline"
	"cordelia/schemas"
	"cordelia/work"
)

// Settings are the operator's; a task keeps those it was submitted under.
type Settings struct {
	Loss     pipeline.Parameters
	Retries  int           // correction signals for a subtask
	Patience time.Duration // how long a seat may stay unanswered
	// an executor, and those above and below it, may judge its subtask and merge its round
	Kin      bool
	Checks   []schemas.CheckKind    `json:",omitempty"` // that this node can make; nil = of every kind
	Evidence pipeline.EvidenceRules `json:",omitzero"`
	Apart    bool                   `json:",omitempty"` // of the task's group: its members see their own part alone
}

// DefaultSettings are those of the default policy, for agents in the seats.
func DefaultSettings() Settings {
	loss, _ := pipeline.Policy(pipeline.DefaultPolicy)
	loss.TimeBudgetMS = pipeline.AgentBudgetMS
	return Settings{Loss: loss, Retries: pipeline.RetryBudget, Patience: 24 * time.Hour}
}

// Controller moves tasks.
type Controller struct {
	settings Settings
	assigner Assigner
	answers  func() (map[schemas.PipelineRole]json.RawMessage, error) // schemas, made when first needed
}

// New makes a controller. Error: CodeInvalid for settings that cannot be used.
func New(s Settings, a Assigner) (*Controller, error) {
	if err := s.Loss.Check(); err != nil {
		return nil, err
	}
	if s.Retries < 0 || s.Patience < time.Second {
		return nil, schemas.Invalidf("retries %d, patience %s", s.Retries, s.Patience).Expecting("at least 0, and 1s")
	}
	return &Controller{settings: s, assigner: a, answers: sync.OnceValues(answerSchemas)}, nil
}

// exchange is one round of questions.
type exchange struct {
	Questions []string `json:"questions"`
	Answers   string   `json:"answers"` // "" = go on without
	Answered  bool     `json:"answered"`
}

// task is a row of tasks. Times are UTC µs.
type task struct {
	n                                    int64
	id                                   string
	submitter                            schemas.EntityID
	group                                schemas.GroupID
	state                                schemas.TaskState
	round, replans, clarified            int
	held                                 bool
	deadline, decideBy                   int64
	created, updated, accepted, finished int64
	request                              string
	spec                                 schemas.TaskSpec
	asked                                []exchange
	tools                                []string
	settings                             Settings
	trail                                pipeline.Trail
	result                               string // FinalResult as JSON, "" = not yet
}

// scanTask reads the columns of a task.
func scanTask(scan func(...any) error) (*task, error) {
	var t task
	var spec, asked, tools, settings, trail string
	if err := scan(&t.n, &t.id, &t.submitter, &t.group, &t.state, &t.round, &t.replans, &t.clarified, &t.held,
		&t.deadline, &t.decideBy, &t.created,
		&t.updated, &t.accepted, &t.finished, &t.request, &spec, &asked, &tools, &settings, &trail,
		&t.result); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		text string
		into any
	}{{spec, &t.spec}, {asked, &t.asked}, {tools, &t.tools}, {settings, &t.settings}, {trail, &t.trail}} {
		if part.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
			return nil, fmt.Errorf("read task %s: %w", t.id, err)
		}
	}
	return &t, nil
}

func loadTask(g access.Grant, n int64) (*task, error) {
	t, err := scanTask(g.Tx().QueryRow(selectTask, n).Scan)
	if err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	return t, nil
}

// findTask reads a task that the actor submitted or stands above who did, or that is
// of one of these groups. CodeNotFound if it is absent or hidden.
func findTask(g access.Grant, id string, groups []schemas.GroupID) (*task, error) {
	t, err := scanTask(g.Tx().QueryRow(selectTaskOf, g.Actor(), store.List(groups), id).Scan)
	if errors.Is(err, store.ErrNoRows) {
		return nil, work.NotKnown()
	}
	if err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	return t, nil
}

// managed reads a task that the actor runs: its submitter, those above, and who runs
// its group.
func managed(g access.Grant, id string) (*task, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	run, err := work.RunGroups(g)
	if err != nil {
		return nil, err
	}
	return findTask(g, id, run)
}

// Runs reports whether the actor runs a task: it may answer and end it.
func Runs(g access.Grant, id string) (bool, error) {
	_, err := managed(g, id)
	if errors.Is(err, schemas.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// visible reads a task that the actor may see.
func visible(g access.Grant, id string) (*task, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return nil, err
	}
	return findTask(g, id, scope.Groups)
}

// move changes the state along the table (INV-TASK-EDGE), which says in which role an actor may do that.
func (t *task) move(on schemas.Trigger, as schemas.By) error {
	to, ok := schemas.NextTask(t.state, on, as)
	if !ok {
		return schemas.Conflictf("this task is %s; %s does not apply to it", t.state,
			on).Try("%s with its task_id shows it", schemas.Tool("task_status"))
	}
	t.state = to
	return nil
}

// save writes what turns change.
func (t *task) save(g access.Grant) error {
	if t.updated = g.Tx().Micros(); t.state.Final() && t.finished == 0 {
		t.finished = t.updated
	}
	spec := ""
	if t.spec.TaskID != "" {
		spec = text(t.spec)
	}
	if t.asked == nil {
		t.asked = []exchange{}
	}
	if _, err := g.Tx().Exec(updateTask, t.state, t.round, t.replans, t.clarified, t.held, t.decideBy, t.updated,
		t.accepted, t.finished, spec,
		text(t.asked), text(t.trail), t.result, t.n); err != nil {
		return fmt.Errorf("change task: %w", err)
	}
	return nil
}

// scope is whose memory the task reads and writes. Where members see their own part
// alone, what the whole teaches is the submitter's.
func (t *task) scope() memory.LessonScope {
	if t.settings.Apart {
		return memory.LessonScope{Owner: t.submitter}
	}
	return memory.LessonScope{Owner: t.submitter, Group: t.group}
}

// text is v as JSON; what is given to it holds nothing that has none.
func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("controller: encode %T: %v", v, err))
	}
	return string(raw)
}

// stamp is a time, UTC µs, as records have it.
func stamp(micros int64) string { return time.UnixMicro(micros).UTC().Format(time.RFC3339) }
