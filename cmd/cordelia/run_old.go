package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/pipeline/controller"
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
	return discardRun(ctx, w, seats, repo, v)
}

// discardRun throws a task away that no run works on.
func discardRun(ctx context.Context, w *cli.Acting, seats *ops.Seats, repo *git.Repository,
	v controller.View) error {
	short := schemas.ShortID(v.TaskID)
	folder, err := runFolder(v.TaskID)
	if err != nil {
		return err
	}
	free, err := repo.Occupy(folder)
	if busy, ok := errors.AsType[*schemas.Error](err); ok && busy.Code == schemas.CodeBusy {
		return busy.Try("stop it by Ctrl-C or by cordelia task cancel %s, then throw it away", short)
	}
	if err != nil {
		return err
	}
	defer free()
	os.Remove(filepath.Join(folder, sharedFile)) //nolint:errcheck // mostly it is gone
	if err := repo.Clear(ctx, folder); err != nil {
		return err
	}
	has, err := repo.HasBranch(ctx, v.TaskID)
	if err != nil {
		return err
	}
	if v.State.Final() && !has {
		if err := repo.Forget(ctx, v.TaskID); err != nil { // what a killed run kept
			return err
		}
		w.Say("There is nothing to throw away: task %s is %s, and has no branch.", short, v.State)
		return nil
	}
	if err := repo.Unused(ctx, v.TaskID); err != nil { // before anything is cancelled
		return err
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
	w.Say("Thrown away: task %s and its branch %s.", short, git.Branch(v.TaskID))
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
	tasks, more, err := tasksIn(ctx, w, ops.RunGroup(repo.Top))
	if err != nil {
		return err
	}
	if w.AsJSON {
		return w.PrintJSON(map[string]any{"tasks": tasks, "more": more})
	}
	t := cli.Table{Firm: 3, Head: []string{"TASK", "STATE", "ROUND", "BRANCH", "INTENT"}}
	for _, one := range tasks {
		branch := "none" // it was merged and deleted, or thrown away
		if has, err := repo.HasBranch(ctx, one.TaskID); err != nil {
			return err
		} else if has {
			branch = git.Branch(one.TaskID)
		}
		t.Add(cli.Text(cli.Short(one.TaskID)), cli.Styled(cli.Clean(one.State), cli.Bold), cli.Text(fmt.Sprint(one.Round)),
			cli.Text(branch), cli.Text(cli.Clean(one.Intent)))
	}
	w.Print(t)
	if more {
		w.Note("older ones: cordelia task list --group %s", ops.RunGroup(repo.Top))
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

// mostTasks is how many tasks of a repository are listed.
const mostTasks = 100

// tasksIn lists the newest tasks of a group, and reports whether there are more.
func tasksIn(ctx context.Context, w *cli.Acting, group schemas.GroupID) (list []controller.Entry, more bool,
	err error) {
	for cursor := ""; ; {
		in := map[string]any{"group": group, "limit": 5} // as many tasks as a page has at most
		if cursor != "" {
			in["cursor"] = cursor
		}
		v, err := cli.Ask[ops.TaskStatusOut](ctx, w, "task_status", in)
		if err != nil {
			return nil, false, err
		}
		list = append(list, v.Tasks...)
		if len(v.Tasks) == 0 || v.Cursor == "" || len(list) >= mostTasks {
			return list, len(list) >= mostTasks && v.Cursor != "", nil
		}
		cursor = v.Cursor
	}
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
