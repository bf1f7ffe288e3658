package main

import (
	"context"
	"errors"

	"cordelia/ops"
	runner "cordelia/run"
	"cordelia/schemas"
)

// oldRuns lists the tasks of a repository, or throws one of them away.
func (w *acting) oldRuns(ctx context.Context, repo *runner.Repository, discard string) error {
	seats := &ops.Seats{Node: w.node, Person: w.caller}
	if discard == "" {
		known, err := seats.Knows(ctx, repo.Top)
		if err != nil {
			return err
		}
		if !known {
			w.say("No task was begun in %s.", clean(repo.Top))
			return nil
		}
		answer, err := w.call(ctx, "task_status", map[string]any{"group": seats.Group(repo.Top), "limit": 50})
		if err != nil {
			return err
		}
		if w.asJSON {
			return w.printJSON(answer)
		}
		return showTasks(w.app, answer)
	}
	v, err := seats.View(ctx, discard)
	if err != nil {
		return err
	}
	if !seats.Belongs(v, repo.Top) {
		return schemas.Invalidf("task %s is none of this repository", discard).
			Try("run it in the repository it was begun in")
	}
	if !v.State.Final() {
		if err := seats.DismissAll(ctx, v.TaskID); err != nil {
			return err
		}
		if _, err := w.call(ctx, "task_cancel", map[string]any{"task_id": v.TaskID}); err != nil &&
			!errors.Is(err, schemas.ErrConflict) {
			return err
		}
	}
	if err := repo.Discard(ctx, v.TaskID); err != nil {
		return err
	}
	w.say("Thrown away: task %s and its branch %s.", schemas.ShortID(v.TaskID), runner.Branch(v.TaskID))
	return nil
}
