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
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// mutant is one rule broken in one place.
type mutant struct {
	rule  string // an invariant, or the rule in a few words
	file  string
	old   string // stands once in the file
	new   string
	pkg   string // whose tests should notice
	tests string // a pattern of -run
}

// outcome is what became of a mutant.
type outcome string

const (
	dead     outcome = "killed"
	survived outcome = "SURVIVED"
	broken   outcome = "does not compile"
	unknown  outcome = "not run"
)

// ownPage is where the table of all mutants stands.
const ownPage = "docs/mutants.md"

func main() {
	only := flag.String("only", "", "run the mutants whose rule or file contains this")
	page := flag.String("out", ownPage, "page to write the table into; empty: none")
	flag.Parse()
	if err := run(context.Background(), *only, *page); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only, page string) error {
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a leftover in the temp folder
	list := slices.DeleteFunc(mutants(), func(m mutant) bool { return !strings.Contains(m.rule+" "+m.file, only) })
	rows := make([]string, len(list))
	var next, killed atomic.Int64
	var workers sync.WaitGroup
	r := &runner{folder: folder, once: map[string]func() error{}}
	for range runtime.NumCPU() {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				o, row := r.row(ctx, fmt.Sprint(i), list[i])
				if rows[i] = row; o == dead {
					killed.Add(1)
				}
			}
		})
	}
	workers.Wait()
	n := int(killed.Load())
	fmt.Printf("%d mutants, %d killed\n", len(list), n)
	if page != "" && (only == "" || page != ownPage) { // a part never takes the place of the whole
		text := fmt.Sprintf(head, time.Now().UTC().Format(time.DateOnly), len(list), n) + strings.Join(rows, "")
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if n < len(list) {
		return fmt.Errorf("%d mutants were not killed", len(list)-n)
	}
	return nil
}

// row runs a mutant and gives its row of the page.
func (r *runner) row(ctx context.Context, name string, m mutant) (outcome, string) {
	start := time.Now()
	o, by, err := r.try(ctx, filepath.Join(r.folder, name), m)
	if err != nil { // the others say something still
		o, by = unknown, "nothing"
		fmt.Fprintf(os.Stderr, "mutate: %s: %v\n", m.rule, err)
	}
	fmt.Printf("%-16s %s, %s (%.0f s)\n", o, m.rule, m.file, time.Since(start).Seconds())
	return o, fmt.Sprintf("| %s | `%s` | %s | %s |\n", m.rule, m.file, o, by)
}

// head begins the page.
const head = `# Mutants

After this page you know which test fails when a rule of the program is broken. Each row
is one rule, broken in one place by ` + "`make mutate`" + `, and the first test that
noticed. Run on %s: %d mutants, %d killed.

| rule | broken in | outcome | noticed by |
|---|---|---|---|
`

// runner is one run of mutants.
type runner struct {
	folder string
	mu     sync.Mutex
	once   map[string]func() error // what several mutants need
}

// first does what is named key the first time it is asked to, and gives what came of it.
func (r *runner) first(key string, do func() error) error {
	r.mu.Lock()
	once := r.once[key]
	if once == nil {
		once = sync.OnceValue(do)
		r.once[key] = once
	}
	r.mu.Unlock()
	return once()
}

// slim leaves out of a binary what only debuggers read: linking takes most of a mutant's time.
const slim = "-ldflags=-s -w"

// passesWithout runs the tests of a mutant without it: if they fail, or there are none, their
// failure with it says nothing.
func (r *runner) passesWithout(ctx context.Context, m mutant) error {
	file := filepath.Join(r.folder, strings.ReplaceAll(filepath.Clean(m.pkg), "/", "-")+".test")
	err := r.first(m.pkg, func() error {
		if out, err := command(ctx, "", os.Environ(), "go", "test", "-vet=off", slim, "-c", "-o", file, m.pkg); err != nil {
			return fmt.Errorf("build tests of %s: %w\n%s", m.pkg, err, out)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.first(m.pkg+" "+m.tests, func() error {
		out, err := command(ctx, m.pkg, os.Environ(), file, "-test.timeout=10m", "-test.run="+m.tests)
		switch {
		case err != nil:
			return fmt.Errorf("%s fails without the mutant: %w\n%s", m.pkg, err, out)
		case bytes.Contains(out, []byte("no tests to run")):
			return fmt.Errorf("%s has no test %s", m.pkg, m.tests)
		}
		return nil
	})
}

// try runs the tests of a mutant, and names the first that failed.
func (r *runner) try(ctx context.Context, folder string, m mutant) (outcome, string, error) {
	changed, err := m.apply()
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", "", err
	}
	mutated := filepath.Join(folder, filepath.Base(m.file))
	if err := os.WriteFile(mutated, changed, 0o600); err != nil {
		return "", "", err
	}
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", "", err
	}
	overlay := filepath.Join(folder, "overlay.json")
	raw, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err == nil {
		err = os.WriteFile(overlay, raw, 0o600)
	}
	if err != nil {
		return "", "", err
	}
	if err := r.passesWithout(ctx, m); err != nil {
		return "", "", err
	}
	// By the environment: tests that build the program build the mutant.
	env := append(os.Environ(), "GOFLAGS=-overlay="+overlay)
	var failed *exec.ExitError
	folder = "./" + filepath.Dir(m.file)
	if out, err := command(ctx, "", env, "go", "build", "-o", os.DevNull, folder); errors.As(err, &failed) {
		return broken, firstLine(out), nil
	}
	out, err := command(ctx, "", env,
		"go", "test", "-vet=off", slim, "-count=1", "-failfast", "-timeout=5m", "-run", m.tests, m.pkg)
	switch {
	case err == nil:
		return survived, "", nil
	case !errors.As(err, &failed):
		return "", "", err
	case bytes.Contains(out, []byte("[build failed]")):
		return broken, firstLine(out), nil
	}
	return dead, firstFailure(out), nil
}

func command(ctx context.Context, folder string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = folder, env
	return c.CombinedOutput()
}

// apply gives the file with the rule broken. How the text is spread over lines is no part of it.
func (m mutant) apply() ([]byte, error) {
	raw, err := os.ReadFile(m.file)
	if err != nil {
		return nil, err
	}
	text, at := packed(raw)
	sought, _ := packed([]byte(m.old))
	if n := bytes.Count(text, sought); n != 1 {
		return nil, fmt.Errorf("%s holds %q %d times, not once", m.file, m.old, n)
	}
	from := bytes.Index(text, sought)
	begin, end := at[from], at[from+len(sought)-1]+1
	return slices.Concat(raw[:begin], []byte(m.new), raw[end:]), nil
}

// packed gives text without white space, and where each of its bytes stood.
func packed(text []byte) (out []byte, at []int) {
	for i, b := range text {
		if b != ' ' && b != '\t' && b != '\n' {
			out, at = append(out, b), append(at, i)
		}
	}
	return out, at
}

// firstLine is what the compiler says first, after the name of the package.
func firstLine(out []byte) string {
	lines := strings.SplitN(string(out), "\n", 3)
	return strings.TrimSpace(lines[min(1, len(lines)-1)])
}

// firstFailure names the test that failed first.
func firstFailure(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if _, name, ok := strings.Cut(line, "--- FAIL: "); ok {
			name, _, _ = strings.Cut(name, " ")
			return "`" + name + "`"
		}
	}
	return "the test run itself" // a panic, a race or a time-out
}
