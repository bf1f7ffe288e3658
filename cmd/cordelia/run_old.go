package main

import (
	"context"
	"errors"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/run/git"
	"cordelia/schemas"
)

// oldRuns lists the tasks of a repository, throws one of them away, or removes what killed
// runs left.
func oldRuns(ctx context.Context, w *cli.Acting, repo *git.Repository, f runFlags) error {
	seats := &ops.Seats{Node: w.Node, Person: w.Caller}
	switch {
	case f.clean:
		return cleanRuns(w)
	case f.list:
		return listRuns(ctx, w, seats, repo)
	}
	v, err := seats.View(ctx, f.discard)
	if err != nil {
		return err
	}
	if !seats.Belongs(v, repo.Top) {
		return schemas.Invalidf("task %s belongs to another repository", f.discard).
			Try("run it in the repository it was begun in")
	}
	if !v.State.Final() {
		if err := seats.DismissAll(ctx, v.TaskID); err != nil {
			return err
		}
		if _, err := w.Call(ctx, "task_cancel", map[string]any{"task_id": v.TaskID}); err != nil &&
			!errors.Is(err, schemas.ErrConflict) {
			return err
		}
	}
	if err := repo.Discard(ctx, v.TaskID); err != nil {
		return err
	}
	w.Say("Thrown away: task %s and its branch %s.", schemas.ShortID(v.TaskID), git.Branch(v.TaskID))
	return nil
}

// listRuns lists the tasks of a repository, and says what worktrees take.
func listRuns(ctx context.Context, w *cli.Acting, seats *ops.Seats, repo *git.Repository) error {
	known, err := seats.Knows(ctx, repo.Top)
	if err != nil {
		return err
	}
	if !known {
		w.Say("No task was begun in %s.", cli.Clean(repo.Top))
		return nil
	}
	answer, err := w.Call(ctx, "task_status", map[string]any{"group": ops.RunGroup(repo.Top), "limit": 50})
	if err != nil {
		return err
	}
	if w.AsJSON {
		return w.PrintJSON(answer)
	}
	if err := showTasks(w.App, answer); err != nil {
		return err
	}
	runs, err := runsFolder()
	if err != nil {
		return err
	}
	if n, size := git.Leftovers(runs); n > 0 {
		w.Note("worktrees of %s take %s in %s; they go 7 days after the last use, or with cordelia run --clean",
			schemas.Count(n, "task", "tasks"), bytesOf(size), cli.Clean(runs))
	}
	return nil
}

// cleanRuns removes the worktrees of runs that no process works on.
func cleanRuns(w *cli.Acting) error {
	runs, err := runsFolder()
	if err != nil {
		return err
	}
	n, size, err := git.Clean(runs)
	w.Say("Removed: worktrees of %s, %s.", schemas.Count(n, "task", "tasks"), bytesOf(size))
	return err
}
