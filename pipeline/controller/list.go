package controller

import (
	"cmp"
	"database/sql"
	"fmt"

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

// List gives the tasks the actor may see, newest first, at most limit; before is the
// id where the last page ended.
func List(g access.Grant, before string, limit int) ([]Entry, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return nil, err
	}
	rows, err := g.Tx().Query(selectTasks, g.Actor(), store.List(scope.Groups), limit, cmp.Or(before, afterAll))
	list, err := store.Collect(rows, err, func(r *sql.Rows) (e Entry, err error) {
		t, err := scanTask(r.Scan)
		if err != nil {
			return e, err
		}
		return Entry{TaskID: t.id, State: t.state, Round: t.round, GroupID: t.group,
			CreatedAt: events.Timestamp(t.created),
			Intent:    schemas.Shorten(cmp.Or(t.spec.Intent, t.request), shownText)}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return list, nil
}

// ListIn gives those of a group, or of any with group "".
func ListIn(g access.Grant, group schemas.GroupID, before string, limit int) (found []Entry, err error) {
	const page = 50
	for len(found) < limit {
		list, err := List(g, before, page)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if before = e.TaskID; (group == "" || e.GroupID == group) && len(found) < limit {
				found = append(found, e)
			}
		}
		if len(list) < page {
			break
		}
	}
	return found, nil
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
