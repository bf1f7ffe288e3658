package controller

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
	"cordelia/work"
)

// Before gives the items whose results the actor's seat of R3 builds on, in full: its
// brief has them in short. Nothing for any other item.
func (c *Controller) Before(g access.Grant, workID string) (list []work.Input, err error) {
	s, ok, err := seatOf(g, workID)
	if err != nil || !ok || s.role != schemas.Executor || s.holder != g.Actor() {
		return nil, err
	}
	t, err := loadTask(g, s.task)
	if err != nil {
		return nil, err
	}
	team, err := c.teamOf(g, t.group)
	if err != nil {
		return nil, err
	}
	subs, err := subtasks(g, t)
	if err != nil {
		return nil, err
	}
	for _, to := range subs {
		if to.n != s.subtask {
			continue
		}
		for _, from := range handedOn(team, subs, to) {
			rows, err := g.Tx().Query(selectExecuted, t.n, from.n)
			done, err := store.Collect(rows, err, func(r *sql.Rows) (in work.Input, err error) {
				var result string
				err = r.Scan(&in.WorkID, &result)
				in.Result = json.RawMessage(result)
				return in, err
			})
			if err != nil {
				return nil, fmt.Errorf("read results before: %w", err)
			}
			list = append(list, done...)
		}
	}
	return list, nil
}
