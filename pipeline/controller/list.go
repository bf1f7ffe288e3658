package controller

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Entry is a task in a list.
type Entry struct {
	TaskID    string            `json:"task_id"`
	State     schemas.TaskState `json:"state"`
	Round     int               `json:"round,omitempty"`
	GroupID   schemas.GroupID   `json:"group_id,omitempty"`
	CreatedAt string            `json:"created_at"`
	Intent    string            `json:"intent"` // or, before R1 has one, the request
}

// afterAll is above every id.
const afterAll = "~"

// Filter picks tasks of List; empty fields do not restrict. A group and states are not asked for
// together.
type Filter struct {
	Group  schemas.GroupID
	States []schemas.TaskState
	Before string // the id where the last page ended
	Limit  int
}

// Open are the states of tasks that are not over.
func Open() []schemas.TaskState {
	return slices.DeleteFunc(schemas.TaskStates(), schemas.TaskState.Final)
}

// List gives the tasks the actor may see, newest first.
func List(g access.Grant, f Filter) ([]Entry, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return nil, err
	}
	query, args := selectTasks, []any{g.Actor(), store.List(scope.Groups), f.Limit, cmp.Or(f.Before, afterAll)}
	switch {
	case f.Group != "":
		query, args = selectTasksOf, append(args, f.Group)
	case f.States != nil:
		query, args = selectTasksIn, append(args, store.List(f.States))
	}
	rows, err := g.Tx().Query(query, args...)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (e Entry, err error) {
		var created int64
		var request, text string
		if err := r.Scan(&e.TaskID, &e.State, &e.Round, &e.GroupID, &created, &request, &text); err != nil {
			return e, err
		}
		var spec schemas.TaskSpec
		if err := decode(text, &spec); err != nil {
			return e, err
		}
		e.CreatedAt = events.Timestamp(created)
		e.Intent = schemas.Shorten(cmp.Or(spec.Intent, request), shownText)
		return e, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return list, nil
}

// IntentOf is what the user wants of a task: its intent or, before R1 has one, the
// request. CodeNotFound if it is none of the pipeline, or hidden.
func IntentOf(g access.Grant, id string) (string, error) {
	t, err := visible(g, id)
	if err != nil {
		return "", err
	}
	return schemas.Shorten(cmp.Or(t.spec.Intent, t.request), shownText), nil
}
