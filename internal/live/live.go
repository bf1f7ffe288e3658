package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// Setting is what a person asks for.
type Setting struct {
	Binary, Client, Model, Sandbox string
	Settings                       string   // folder of a config.json, prices.json and *.key to work with; "" = none
	Only                           []string // repositories; nil = all
	Repeats                        int
	Tokens                         int64 // that a run may use
	Patience                       time.Duration
	Say                            func(progress string)
}

// condition is what is kept between repositories.
type condition struct {
	name          string
	memory, trust bool
}

func conditions() []condition {
	return []condition{{"memory and verdicts", true, true}, {"memory", true, false}, {"neither", false, false}}
}

// outcome is a run.
type outcome struct {
	accepted, mended bool
	tokens           int64
	seconds          float64
}

// Check refuses a setting that cannot be measured. Error: CodeInvalid.
func (s Setting) Check() error {
	var names []string
	for _, r := range repositories() {
		names = append(names, r.name)
	}
	switch {
	case s.Client == "":
		return schemas.Invalidf("it is not said who fills the roles").
			Try("name your client, for example: --client claude-code")
	case s.Repeats < 1 || s.Tokens < 1 || s.Patience <= 0:
		return schemas.Invalidf("repeats, tokens and time must be more than 0").Try("leave them out for the defaults")
	}
	for _, name := range s.Only {
		if !slices.Contains(names, name) {
			return schemas.Invalidf("there is no repository %q", name).Expecting("one of %s", strings.Join(names, ", ")).
				Try("leave --repositories out for all")
		}
	}
	return nil
}

func (s Setting) repositories() []repository {
	return slices.DeleteFunc(repositories(), func(r repository) bool {
		return len(s.Only) > 0 && !slices.Contains(s.Only, r.name)
	})
}

// Runs is how many tasks the setting comes to.
func (s Setting) Runs() int { return s.Repeats * len(conditions()) * len(s.repositories()) }

// Measure makes all runs and gives the figures.
func Measure(ctx context.Context, s Setting) (r Report, err error) {
	if err := s.Check(); err != nil {
		return r, err
	}
	root, err := os.MkdirTemp("", "cordelia-live-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(root) //nolint:errcheck // a temporary folder
	results := map[string][][]outcome{}
	done := 0
	for repeat := range s.Repeats {
		for i, c := range conditions() {
			var runs []outcome
			home := ""
			for n, r := range s.repositories() {
				if home == "" || !c.memory {
					home = filepath.Join(root, fmt.Sprintf("home-%d-%d-%d", repeat, i, n))
					if err := s.establish(ctx, home); err != nil {
						return Report{}, err
					}
				}
				done++
				s.Say(fmt.Sprintf("run %d of %d: %s, with %s kept", done, s.Runs(), r.name, c.name))
				o, err := s.run(ctx, home, filepath.Join(root, fmt.Sprintf("%s-%d-%d", r.name, repeat, i)), r, c)
				if err != nil {
					return Report{}, err
				}
				runs = append(runs, o)
			}
			results[c.name] = append(results[c.name], runs)
		}
	}
	return s.report(results), nil
}

// establish makes a home with an identity and the settings.
func (s Setting) establish(ctx context.Context, home string) error {
	n, err := ops.Open(ctx, node.Config{Home: node.Home(home), Durability: store.Relaxed})
	if err != nil {
		return err
	}
	_, err = n.Establish(ctx, "person", nil, nil)
	if err = errors.Join(err, n.Close()); err != nil || s.Settings == "" {
		return err
	}
	files, err := filepath.Glob(filepath.Join(s.Settings, "*"))
	for _, file := range files {
		name := filepath.Base(file)
		if name != "config.json" && name != "prices.json" && filepath.Ext(name) != ".key" {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(home, name), raw, 0o600); err != nil {
			return err
		}
	}
	return err
}

// command runs a program in a folder; a failing program gives an exit code and no error.
func command(ctx context.Context, dir, home, name string, args ...string) (out string, code int, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CORDELIA_HOME="+home)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return stdout.String(), exit.ExitCode(), nil
	}
	return stdout.String(), 0, err
}

// ended is the part of what a run reports that matters here.
type ended struct {
	Task   string `json:"task_id"`
	Tip    string `json:"tip"`
	Input  int64  `json:"input_tokens"`
	Output int64  `json:"output_tokens"`
}

// run has a repository mended once.
func (s Setting) run(ctx context.Context, home, dir string, r repository, c condition) (o outcome, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return o, err
	}
	for name, text := range r.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return o, err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=person", "-c", "user.email=person@localhost", "commit", "-q", "-m", "begin"}} {
		if _, code, err := command(ctx, dir, home, "git", args...); err != nil || code != 0 {
			return o, fmt.Errorf("git %v: exit %d: %w", args, code, err)
		}
	}
	args := []string{"run", "--yes", "--json", "--client", s.Client, "--sandbox", s.Sandbox,
		"--max-tokens", fmt.Sprint(s.Tokens), "--max-time", s.Patience.String(), r.words}
	if s.Model != "" {
		args = append(args, "--model", s.Model)
	}
	begun := time.Now()
	out, code, err := command(ctx, dir, home, s.Binary, args...)
	if err != nil {
		return o, err
	}
	var end ended
	for line := range strings.Lines(out) { // an event a line
		var e struct {
			End *ended `json:"end"`
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.End != nil {
			end = *e.End
		}
	}
	o = outcome{accepted: code == 0, tokens: end.Input + end.Output, seconds: time.Since(begun).Seconds()}
	if end.Tip != "" {
		if o.mended, err = mended(ctx, dir, home, end.Tip, r); err != nil {
			return o, err
		}
	}
	if c.trust {
		err = s.assess(ctx, home, dir, o.mended)
	}
	return o, err
}

// mended checks a result against the tests that the models did not see.
func mended(ctx context.Context, dir, home, tip string, r repository) (bool, error) {
	if _, code, err := command(ctx, dir, home, "git", "checkout", "-q", "--detach", tip); err != nil || code != 0 {
		return false, fmt.Errorf("check out what was made: exit %d: %w", code, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hidden.sh"), []byte(r.hidden), 0o600); err != nil {
		return false, err
	}
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	_, code, err := command(ctx, dir, home, "sh", "hidden.sh")
	return err == nil && code == 0, nil
}

// assess gives a person's verdict on all that agents wrote: whether the result was right.
func (s Setting) assess(ctx context.Context, home, dir string, right bool) error {
	out, _, err := command(ctx, dir, home, s.Binary, "memory", "list", "--json")
	if err != nil {
		return err
	}
	var found struct {
		Results []struct {
			ID string `json:"id"`
		} `json:"results"`
	}
	if json.Unmarshal([]byte(out), &found) != nil {
		return nil // nothing is there
	}
	word := "wrong"
	if right {
		word = "right"
	}
	for _, item := range found.Results {
		// What no agent wrote is refused: people are not scored.
		if _, _, err := command(ctx, dir, home, s.Binary, "trust", "assess", item.ID, word); err != nil {
			return err
		}
	}
	return nil
}
