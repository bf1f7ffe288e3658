package run

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"cordelia/run/git"
	"cordelia/schemas"
	"cordelia/work"
)

// Bounds of one command that the node runs.
const (
	verifyFor = 15 * time.Minute
	maxShown  = 16 << 10 // bytes of each end of what it prints
)

// verify runs the command of each criterion, also if the record has a call of it: a worker
// controls the place in which its own calls run. It uses a fresh worktree of the judged commit,
// behind the shield of a worker. The results are evidence of the judging seat; its model has no
// part in them.
func (s *seat) verify(ctx context.Context, commit string) ([]work.Evidence, error) {
	var in struct {
		Criteria []schemas.Criterion `json:"criteria"`
	}
	if err := json.Unmarshal(s.claimed.Brief.Inputs, &in); err != nil {
		return nil, fmt.Errorf("read the brief: %w", err)
	}
	var commands []string
	for _, c := range in.Criteria {
		if commanded(c) {
			commands = append(commands, c.Command)
		}
	}
	return s.runAll(ctx, commit, commands, filepath.Join(s.Folder, schemas.ShortID(s.view.WorkID)))
}

// runAll runs commands one after the other, each once, in one fresh worktree of a commit, with a HOME of
// its own. What one leaves there the next one finds: a place for each would have the repository's command
// prepare each of them, and have each build everything again.
func (s *seat) runAll(ctx context.Context, commit string, commands []string, place string) ([]work.Evidence, error) {
	if commit == "" || len(commands) == 0 {
		return nil, nil
	}
	w, err := s.Repo.AddWorktree(ctx, filepath.Join(place, "tree"), commit)
	if err != nil {
		return nil, err
	}
	defer func() {
		w.Drop(context.WithoutCancel(ctx), s.Repo) //nolint:errcheck // a later run removes what is left
		git.RemoveAll(place)                       //nolint:errcheck // the same
	}()
	shield, err := s.Shield(place, w, "")
	if err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, w, shield); err != nil {
		return nil, err
	}
	var list []work.Evidence
	done := map[string]bool{}
	for _, command := range commands {
		if done[command] {
			continue
		}
		done[command] = true
		s.show(Working, "the node runs "+command)
		e, err := shell(ctx, s.commandIn(w, shield), command)
		if err != nil {
			return nil, err
		}
		list = append(list, work.Evidence(e))
	}
	return list, nil
}

// commanded reports whether a command decides a criterion.
func commanded(c schemas.Criterion) bool { return c.Command != "" && c.Check == nil }

// prepare makes a fresh worktree ready, as the user says: it has no installed dependencies.
func (s *seat) prepare(ctx context.Context, w *git.Worktree, shield Shield) error {
	if s.Prepare == "" {
		return nil
	}
	s.show(Working, "prepares: "+s.Prepare)
	e, err := shell(ctx, s.commandIn(w, shield), s.Prepare)
	if err == nil && e.Exit != 0 {
		return faultf(Crashed, "the worktree could not be prepared: %s", e)
	}
	return err
}

// judged is the commit that a judging seat is about, "" if there is none.
func (s *seat) judged(ctx context.Context) (string, error) {
	switch s.view.Role {
	case schemas.AgentValidator:
		return s.named, nil
	case schemas.MetaValidator:
		return s.Repo.Tip(ctx, s.Task)
	}
	return "", nil
}

// file reports what a judge answered about a commit. A branch that moved meanwhile was not
// judged.
func (s *seat) file(ctx context.Context, commit string, r Report) error {
	if commit != "" {
		r.Note = "judged commit " + commit
	}
	if s.view.Role == schemas.MetaValidator {
		tip, err := s.Repo.Tip(ctx, s.Task)
		if err != nil {
			return err
		}
		if tip != commit {
			return fmt.Errorf("the branch moved from %.12s to %.12s while it was judged", commit, tip)
		}
		if err := s.Repo.Keep(ctx, s.Task, judged, commit); err != nil {
			return err
		}
	}
	return s.Node.Report(ctx, s.agent, r)
}

// commandIn is a command that the node runs in a worktree.
func (s *seat) commandIn(w *git.Worktree, shield Shield) command {
	return command{dir: w.Path, self: s.Self, shield: shield, held: s.Repo.Held()}
}

// shell runs the text of one command of a plan, as c says where, and gives what it came to. A *Fault says
// that the run was stopped meanwhile.
func shell(ctx context.Context, c command, text string) (schemas.Evidence, error) {
	c.program, c.args = "bash", []string{"-c", "exec 2>&1\n" + text}
	exit, out, err := collect(ctx, c, verifyFor, maxShown)
	if err != nil {
		return schemas.Evidence{}, err
	}
	return schemas.NewEvidence(toolBash, text, exit, out), nil
}
