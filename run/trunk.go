package run

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"cordelia/pipeline/controller"
	"cordelia/run/git"
	"cordelia/schemas"
)

// trunk is the branch of a task: what matched goes there, in the order of the plan.
type trunk struct {
	repo *git.Repository
	task string

	mu        sync.Mutex
	conflicts []string        // of the present round, in words
	merged    map[string]bool // commits that are on the branch
}

// judged is the name under which the task keeps the commit of its branch that R4b judged.
const judged = "judged"

// madeBy is the name under which the task keeps a commit that the node made for it. What is judged and
// merged is one of these, the one that the result names.
func madeBy(commit string) string { return "made/" + commit }

// keep keeps what an attempt came to: the next attempt at the subtask begins there.
func (t *trunk) keep(ctx context.Context, subtask, commit string) error {
	for _, name := range []string{madeBy(commit), subtask} {
		if err := t.repo.Keep(ctx, t.task, name, commit); err != nil {
			return err
		}
	}
	return nil
}

// kept is the newest attempt at a subtask, "" if there is none.
func (t *trunk) kept(ctx context.Context, subtask string) (string, error) {
	return t.repo.Kept(ctx, t.task, subtask)
}

// made reports whether the node made a commit for the task.
func (t *trunk) made(ctx context.Context, commit string) (bool, error) {
	if !commitName.MatchString(commit) {
		return false, nil
	}
	at, err := t.repo.Kept(ctx, t.task, madeBy(commit))
	return at == commit, err
}

// notMade says why a commit that a result names is neither judged nor merged.
func notMade(commit string) string {
	return fmt.Sprintf("the result names the commit %.64q, which the node did not make for it in this repository", commit)
}

// commitName is how a commit is named in full.
var commitName = regexp.MustCompile(`\A([0-9a-f]{40}|[0-9a-f]{64})\z`)

// start is the commit at which an attempt begins: the attempt before it or, for the first,
// the branch.
func (t *trunk) start(ctx context.Context, s controller.SeatView) (string, error) {
	if at, err := t.kept(ctx, s.SubTaskID); err != nil || at != "" && s.Attempt > 1 {
		return at, err
	}
	return t.repo.Tip(ctx, t.task)
}

// gather merges what has matched and is not on the branch, in the order of the plan.
func (t *trunk) gather(ctx context.Context, v controller.View) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var conflicts []string
	for _, s := range v.SubTasks { // by sequence
		commit := s.Commit
		if s.State != schemas.SubTaskMatched || commit == "" || t.merged[commit] {
			continue
		}
		if made, err := t.made(ctx, commit); err != nil {
			return err
		} else if !made {
			conflicts = append(conflicts, fmt.Sprintf("%q: %s", schemas.Shorten(s.Intent, 200), notMade(commit)))
			continue
		}
		err := t.repo.Merge(ctx, t.task, commit, "Merge: "+schemas.Shorten(firstLine(s.Intent), 64)+
			"\n\nCordelia-Task: "+t.task+"\n")
		if c, ok := err.(*git.Conflict); ok { //nolint:errorlint // Merge returns it as it is
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

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
