package run

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"cordelia/pipeline/controller"
	"cordelia/schemas"
)

// trunk is the branch of a task: what matched goes there, in the order of the plan.
type trunk struct {
	repo *Repository
	task string

	mu        sync.Mutex
	conflicts []string        // of the present round, in words
	merged    map[string]bool // commits that are on the branch
}

// attemptRef keeps the newest attempt at a subtask.
func (t *trunk) attemptRef(subtask string) string { return "refs/cordelia/" + t.task + "/" + subtask }

// keep keeps what an attempt came to.
func (t *trunk) keep(ctx context.Context, subtask, commit string) error {
	_, err := t.repo.git.line(ctx, "update-ref", t.attemptRef(subtask), commit)
	return err
}

// kept is the newest attempt at a subtask, "" if there is none.
func (t *trunk) kept(ctx context.Context, subtask string) string {
	at, err := t.repo.git.line(ctx, "rev-parse", "--verify", "--quiet", t.attemptRef(subtask)+"^{commit}")
	if err != nil {
		return ""
	}
	return at
}

// start is the commit at which an attempt begins: the attempt before it or, for the first,
// the branch.
func (t *trunk) start(ctx context.Context, s controller.SeatView) (string, error) {
	if at := t.kept(ctx, s.SubTaskID); at != "" && s.Attempt > 1 {
		return at, nil
	}
	return t.repo.Tip(ctx, t.task)
}

// gather merges what has matched and is not on the branch, in the order of the plan.
func (t *trunk) gather(ctx context.Context, v controller.View) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var conflicts []string
	for _, s := range v.SubTasks { // by sequence
		commit := ""
		if s.State == schemas.SubTaskMatched {
			commit = t.kept(ctx, s.SubTaskID)
		}
		if commit == "" || t.merged[commit] {
			continue
		}
		err := t.repo.Merge(ctx, t.task, commit, "Merge: "+schemas.Shorten(firstLine(s.Intent), 64)+
			"\n\nCordelia-Task: "+t.task+"\n")
		if c, ok := err.(*Conflict); ok { //nolint:errorlint // Merge returns it as it is
			conflicts = append(conflicts, fmt.Sprintf("%q conflicts with what was merged before it:\n%s",
				schemas.Shorten(s.Intent, 200), c.Hunks))
			continue
		} else if err != nil {
			return err
		}
		if t.merged == nil {
			t.merged = map[string]bool{}
		}
		t.merged[commit] = true
	}
	t.conflicts = conflicts
	return nil
}

// conflict words what could not be merged in this round, "" if everything could.
func (t *trunk) conflict() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.conflicts, "\n")
}

// forget removes what only attempts needed.
func (t *trunk) forget(ctx context.Context) error {
	out, err := t.repo.git.call(ctx, "", "for-each-ref", "--format=delete %(refname)", "refs/cordelia/"+t.task+"/")
	if err != nil || out == "" {
		return err
	}
	_, err = t.repo.git.call(ctx, out, "update-ref", "--stdin")
	return err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
