package controller

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Unseen lists the files that machine checks of the first round look at, if a work item is a
// seat of an executor and the state of those files is not recorded yet. In later rounds the
// files may already be the task's own.
func Unseen(g access.Grant, workID string) (task int64, paths []string, err error) {
	if !g.IsNode() {
		return 0, nil, access.ErrNoGrant
	}
	s, ok, err := seatOf(g, workID)
	if err != nil || !ok || s.role != schemas.Executor || s.round != 1 {
		return 0, nil, err
	}
	t, err := loadTask(g, s.task)
	if err != nil || t.round != 1 {
		return 0, nil, err
	}
	all, err := rounds(g, t)
	if err != nil {
		return 0, nil, err
	}
	subs, err := subtasks(g, t)
	if err != nil {
		return 0, nil, err
	}
	criteria := slices.Clone(all[0].manifest.TaskCriteria)
	for _, sub := range subs {
		criteria = append(criteria, sub.planned.SuccessCriteria...)
	}
	seen, err := sumsOf(g, t.n)
	if err != nil {
		return 0, nil, err
	}
	for _, c := range criteria {
		if c.Check == nil || c.Check.Path == "" || slices.Contains(paths, c.Check.Path) {
			continue
		}
		if _, known := seen[c.Check.Path]; !known {
			paths = append(paths, c.Check.Path)
		}
	}
	return t.n, paths, nil
}

// Seen notes what files were like before the executors of a task began, by the SHA-256 of each
// that is at a path. What another process noted first stands.
func Seen(g access.Grant, task int64, sums map[string][]string) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	noted := 0
	for _, path := range slices.Sorted(maps.Keys(sums)) {
		first, err := g.Tx().Exec(insertArtefact, task, path, "")
		if err != nil {
			return fmt.Errorf("note a file: %w", err)
		}
		if first == 0 {
			continue
		}
		for _, sum := range sums[path] {
			if _, err := g.Tx().Exec(insertArtefact, task, path, sum); err != nil {
				return fmt.Errorf("note a file: %w", err)
			}
		}
		noted++
	}
	if noted == 0 {
		return nil
	}
	t, err := loadTask(g, task)
	if err != nil {
		return err
	}
	return g.Audit("task/"+t.id, map[string]any{"files_seen": noted})
}

// sumsOf gives what files were like before the executors of a task began, by their paths; of
// one that was not there there is an entry without a sum.
func sumsOf(g access.Grant, task int64) (map[string][]string, error) {
	type artefact struct{ path, sum string }
	rows, err := g.Tx().Query(selectArtefacts, task)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (a artefact, err error) {
		return a, r.Scan(&a.path, &a.sum)
	})
	if err != nil {
		return nil, fmt.Errorf("read what files were like: %w", err)
	}
	out := map[string][]string{}
	for _, a := range list {
		if out[a.path] = append(out[a.path], a.sum); a.sum == "" {
			out[a.path] = out[a.path][:len(out[a.path])-1]
		}
	}
	return out, nil
}
