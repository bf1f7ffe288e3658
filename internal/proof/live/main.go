package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordelia/internal/proof/figures"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
)

// setting is what a person asks for.
type setting struct {
	binary, client, model, sandbox, settings string
	only                                     string // repositories, separated by commas; "" = all
	repeats                                  int
	tokens                                   int64 // that a run may use
	patience                                 time.Duration
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

func main() {
	var s setting
	flag.StringVar(&s.binary, "bin", "bin/cordelia", "the program")
	flag.StringVar(&s.client, "client", "", "who fills the roles: claude-code, codex, gemini-cli or an API of -settings")
	flag.StringVar(&s.model, "model", "", "model for all roles")
	flag.StringVar(&s.sandbox, "sandbox", "auto", "as of cordelia run")
	flag.StringVar(&s.settings, "settings", "", "folder of a config.json, prices.json and *.key to work with")
	flag.StringVar(&s.only, "repositories", "", "some of the repositories, separated by commas")
	flag.IntVar(&s.repeats, "repeats", 3, "times each repository is mended under each condition")
	flag.Int64Var(&s.tokens, "tokens", 200_000, "tokens that a run may use")
	flag.DurationVar(&s.patience, "time", 20*time.Minute, "time that a run may take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	text, err := measure(ctx, s)
	fmt.Print(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

// measure makes all runs and gives the figures.
func measure(ctx context.Context, s setting) (text string, err error) {
	if s.client == "" || s.repeats < 1 {
		return "", errors.New("name who fills the roles with -client, and repeat at least once")
	}
	if s.binary, err = filepath.Abs(s.binary); err != nil {
		return "", err
	}
	list := slices.DeleteFunc(repositories(), func(r repository) bool {
		return s.only != "" && !slices.Contains(strings.Split(s.only, ","), r.name)
	})
	root, err := os.MkdirTemp("", "live")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(root) //nolint:errcheck // a temporary folder
	results := map[string][][]outcome{}
	for repeat := range s.repeats {
		for i, c := range conditions() {
			var runs []outcome
			home := ""
			for n, r := range list {
				if home == "" || !c.memory {
					home = filepath.Join(root, fmt.Sprintf("home-%d-%d-%d", repeat, i, n))
					if err := s.establish(ctx, home); err != nil {
						return "", err
					}
				}
				fmt.Fprintf(os.Stderr, "repeat %d of %d, %s: %s\n", repeat+1, s.repeats, c.name, r.name)
				o, err := s.run(ctx, home, filepath.Join(root, fmt.Sprintf("%s-%d-%d", r.name, repeat, i)), r, c)
				if err != nil {
					return "", err
				}
				runs = append(runs, o)
			}
			results[c.name] = append(results[c.name], runs)
		}
	}
	return s.report(list, results), nil
}

// establish makes a home with an identity and the settings.
func (s setting) establish(ctx context.Context, home string) error {
	n, err := ops.Open(ctx, node.Config{Home: node.Home(home), Durability: store.Relaxed})
	if err != nil {
		return err
	}
	_, err = n.Establish(ctx, "person", nil, nil)
	if err = errors.Join(err, n.Close()); err != nil || s.settings == "" {
		return err
	}
	files, err := filepath.Glob(filepath.Join(s.settings, "*"))
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
	var exit *exec.ExitError
	if errors.As(err, &exit) {
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
func (s setting) run(ctx context.Context, home, dir string, r repository, c condition) (o outcome, err error) {
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
	args := []string{"run", "--yes", "--json", "--client", s.client, "--sandbox", s.sandbox,
		"--max-tokens", fmt.Sprint(s.tokens), "--max-time", s.patience.String(), r.words}
	if s.model != "" {
		args = append(args, "--model", s.model)
	}
	begun := time.Now()
	out, code, err := command(ctx, dir, home, s.binary, args...)
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

// mended holds a result against the tests that the models did not see.
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
func (s setting) assess(ctx context.Context, home, dir string, right bool) error {
	out, _, err := command(ctx, dir, home, s.binary, "memory", "list", "--json")
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
		if _, _, err := command(ctx, dir, home, s.binary, "trust", "assess", item.ID, word); err != nil {
			return err
		}
	}
	return nil
}

const caveats = `What these figures do not show:
- %d repositories of a few lines each: whoever mends larger ones may find otherwise.
- The tests that decide are kept from the models, and lie in a public repository: a model may have read them.
- %d repeats: differences smaller than their intervals are chance.
- The verdicts are those of the hidden tests, given to all that a run taught. A person judges otherwise.
- A run that ends by its bound of tokens counts as not mended. Tokens are as the client counts them.
- The hidden tests run what a model wrote, with your rights, in a temporary folder.
`

// report has a row for each condition.
func (s setting) report(list []repository, results map[string][][]outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, at most %d tokens a run, %d repeats\n\n"+
		"| kept between repositories | mended, %% | accepted, %% | "+
		"accepted and not mended, %% | tokens a run | seconds a run |\n|---|--:|--:|--:|--:|--:|\n", s.client, s.model,
		s.tokens, s.repeats)
	for _, c := range conditions() {
		word := func(value func(outcome) float64) string {
			var each []float64
			for _, runs := range results[c.name] {
				sum := 0.0
				for _, o := range runs {
					sum += value(o)
				}
				each = append(each, sum/float64(len(runs)))
			}
			if len(each) == 1 {
				return fmt.Sprintf("%.0f", each[0])
			}
			mean, half := figures.Mean(each)
			return fmt.Sprintf("%.0f ± %.0f", mean, half)
		}
		share := func(is func(outcome) bool) string {
			return word(func(o outcome) float64 {
				if is(o) {
					return 100
				}
				return 0
			})
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", c.name, share(func(o outcome) bool { return o.mended }),
			share(func(o outcome) bool { return o.accepted }),
			share(func(o outcome) bool { return o.accepted && !o.mended }),
			word(func(o outcome) float64 { return float64(o.tokens) }), word(func(o outcome) float64 { return o.seconds }))
	}
	return b.String() + "\n" + fmt.Sprintf(caveats, len(list), s.repeats)
}
