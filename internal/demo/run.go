package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// OwnClient is the story in which a coding client of the user's does a task.
func OwnClient() Story {
	return Story{parts: []part{{"run", "Your coding client does a task", (*stage).ownClient}}, limit: runLimit}
}

// runLimit bounds the step in which a model works.
const runLimit = 15 * time.Minute

// wish is what the user's own coding client is asked for. What is to be done is small, and a
// command shows whether it is.
const wish = "keep the rows in keep.sh, so that it exits 0, and write notes.txt, which says in a line why; " +
	"sh check.sh exits 0"

// repository is what the client finds: a check that fails.
var repository = map[string]string{"keep.sh": "# keeps rows\nexit 1\n",
	"check.sh": "sh keep.sh && test -s notes.txt\n"}

// ownClient has the user's own coding client do a task in a small repository of the story's.
func (s *stage) ownClient(ctx context.Context) error {
	repo := filepath.Join(s.Folder, "importer")
	if err := s.begin(ctx, repo); err != nil {
		return err
	}
	var err error
	if s.lead, err = s.node.Open(ctx, ""); err != nil { // which makes the home
		return err
	}
	s.say("A repository has a check that fails. Your %s is asked to make it pass; its account pays.", s.Client)
	done := s.Teller.Wait("your client works")
	out, err := s.outside(ctx, repo, s.Binary, append(append([]string{}, s.Flags...), "run", "--yes", "--json",
		"--client", s.Client, "--max-time", "14m", wish)...)
	done()
	if err != nil {
		return fmt.Errorf("cordelia run: %w", err)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	var last struct {
		End struct {
			TaskID string `json:"task_id"`
			State  string
			Branch string
			Tip    string
			Base   string
			Cost   int64 `json:"cost_micros"`
		}
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
		return fmt.Errorf("cordelia run: %w: %s", err, lines[len(lines)-1])
	}
	if err := check(last.End.State == "accepted", "the task is accepted; it is %s", last.End.State); err != nil {
		return err
	}
	changed, err := s.outside(ctx, repo, "git", "diff", "--stat", last.End.Base, last.End.Tip)
	if err != nil {
		return err
	}
	now, err := s.outside(ctx, repo, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if err := check(len(now) == 0, "your folder is as it was: %s", now); err != nil {
		return err
	}
	s.prove(strings.Join(strings.Fields(string(changed)), " "),
		"Planned, done and judged in worktrees; each command of a criterion was run by the node, too.")
	s.step.Facts = object{"task": last.End.TaskID, "client": s.Client, "branch": last.End.Branch,
		"cost_micros": last.End.Cost}
	s.step.Shown = fmt.Sprintf("accepted, on the branch %s; your folder is as it was", last.End.Branch)
	return nil
}

// begin makes the repository.
func (s *stage) begin(ctx context.Context, repo string) error {
	if err := os.Mkdir(repo, 0o700); err != nil {
		return err
	}
	for name, text := range repository {
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=demo", "-c",
		"user.email=demo@localhost", "-c", "commit.gpgSign=false", "commit", "-q", "-m", "begin"}} {
		if _, err := s.outside(ctx, repo, "git", args...); err != nil {
			return err
		}
	}
	return nil
}

// outside runs a program with the environment of the user, whose login their client needs, but
// for what says where their own home and caches are.
func (s *stage) outside(ctx context.Context, dir, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CORDELIA_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "CORDELIA_HOME="+s.Home(), "XDG_CACHE_HOME="+filepath.Join(s.Folder, "cache"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it gives back what it holds
	cmd.WaitDelay = 30 * time.Second
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(program), err, strings.TrimSpace(complaint.String()))
	}
	return out, nil
}
