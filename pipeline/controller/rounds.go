package controller

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/pipeline"
	"cordelia/schemas"
)

// round is one plan of a task and what became of it.
type round struct {
	plan        schemas.Plan
	manifest    schemas.DispatchManifest
	constraints []pipeline.Constraint
	merge       *merge
	directive   *schemas.PlanDirective
}

// merge is what R4b made of the outputs of a round, with verdicts on record.
type merge struct {
	Output   json.RawMessage            `json:"output"`
	Verdicts []schemas.CriterionVerdict `json:"verdicts"`
	Checks   []schemas.Evidence         `json:"checks,omitempty"` // of the task's criteria
}

// rounds lists all there were, the present one last.
func rounds(g access.Grant, t *task) ([]round, error) {
	rows, err := g.Tx().Query(selectRounds, t.n)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (one round, err error) {
		var plan, manifest, constraints, merged, directive string
		if err := r.Scan(&plan, &manifest, &constraints, &merged, &directive); err != nil {
			return one, err
		}
		for _, part := range []struct {
			text string
			into any
		}{{plan, &one.plan}, {manifest, &one.manifest}, {constraints, &one.constraints}, {merged, &one.merge},
			{directive, &one.directive}} {
			if part.text == "" {
				continue
			}
			if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
				return one, err
			}
		}
		return one, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read rounds: %w", err)
	}
	return found, nil
}

// subtask is a row of subtasks.
type subtask struct {
	n         int64
	id        string
	round     int
	sequence  int
	state     schemas.SubTaskState
	attempt   int
	planned   schemas.PlannedSubTask
	attempted *attempted
	outcome   schemas.SubTaskOutcome // of all attempts so far; zero = none
}

// commit is the one that the result of the present attempt names, "" if there is none.
func (s *subtask) commit() string {
	var named struct {
		Commit string `json:"commit"`
	}
	if s.attempted == nil || json.Unmarshal(s.attempted.Result.Output, &named) != nil {
		return ""
	}
	return named.Commit
}

// attempted is what is judged: what R3 reported, and what code found out about it.
type attempted struct {
	Result schemas.ExecutionResult   `json:"result"`
	By     schemas.EntityID          `json:"by,omitempty"`
	Work   string                    `json:"work,omitempty"` // the item of the attempt
	Found  []schemas.JudgedCriterion `json:"found,omitempty"`
}

// subtasks lists those of the present round.
func subtasks(g access.Grant, t *task) ([]*subtask, error) {
	rows, err := g.Tx().Query(selectSubTasks, t.n, t.round)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (*subtask, error) { return scanSubTask(r.Scan) })
	if err != nil {
		return nil, fmt.Errorf("read subtasks: %w", err)
	}
	return found, nil
}

// scanSubTask reads the columns of a subtask.
func scanSubTask(scan func(...any) error) (*subtask, error) {
	var s subtask
	var planned, tried, outcome string
	if err := scan(&s.n, &s.id, &s.round, &s.sequence, &s.state, &s.attempt, &planned, &tried, &outcome); err != nil {
		return nil, err
	}
	if err := errors.Join(decode(planned, &s.planned), decode(tried, &s.attempted),
		decode(outcome, &s.outcome)); err != nil {
		return nil, err
	}
	return &s, nil
}

// subtaskOf reads the subtask of a seat of the present round; nil if it goes on
// without that seat. The others, which may be long, stay unread.
func (u *taskTx) subtaskOf(s seat, in schemas.SubTaskState) (*subtask, error) {
	sub, err := scanSubTask(u.g.Tx().QueryRow(selectSubTask, s.subtask).Scan)
	if err != nil {
		return nil, fmt.Errorf("read subtask: %w", err)
	}
	if sub.state != in || sub.attempt != s.attempt {
		return nil, nil
	}
	return sub, nil
}

// states are those that subtasks of the present round are in.
func (u *taskTx) states() ([]schemas.SubTaskState, error) {
	rows, err := u.g.Tx().Query(selectStates, u.t.n, u.t.round)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (s schemas.SubTaskState, err error) {
		return s, r.Scan(&s)
	})
	if err != nil {
		return nil, fmt.Errorf("read subtasks: %w", err)
	}
	return found, nil
}

// record is the subtask as R3 gets it.
func (s *subtask) record(t *task) schemas.SubTask {
	return schemas.SubTask{SubTaskID: s.id, ParentTaskID: t.id, Round: s.round, PlannedSubTask: s.planned}
}

// move changes the state of a subtask along the table.
func (s *subtask) move(on schemas.Trigger, as schemas.By) error {
	to, ok := schemas.NextSubTask(s.state, on, as)
	if !ok {
		return schemas.Conflictf("subtask %s is %s; %s does not apply to it", s.id, s.state,
			on).Try("%s with the task_id shows it", schemas.Tool("task_status"))
	}
	s.state = to
	return nil
}

func (s *subtask) save(g access.Grant) error {
	tried, outcome := "", ""
	if s.attempted != nil {
		tried = text(s.attempted)
	}
	if s.outcome.SubTaskID != "" {
		outcome = text(s.outcome)
	}
	if _, err := g.Tx().Exec(updateSubTask, s.state, s.attempt, tried, outcome, s.n); err != nil {
		return fmt.Errorf("change subtask: %w", err)
	}
	return nil
}
