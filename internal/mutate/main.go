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
	"strings"
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
	killed   outcome = "killed"
	survived outcome = "SURVIVED"
	broken   outcome = "does not compile"
	unknown  outcome = "not run"
)

func main() {
	only := flag.String("only", "", "run the mutants whose rule or file contains this")
	page := flag.String("out", "docs/mutants.md", "page to write the table into; empty: none")
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
	var rows strings.Builder
	bad, n, r := 0, 0, &runner{folder, map[string]string{}}
	for i, m := range mutants() {
		if only != "" && !strings.Contains(m.rule+" "+m.file, only) {
			continue
		}
		start := time.Now()
		o, by, err := r.try(ctx, filepath.Join(folder, fmt.Sprint(i)), m)
		if err != nil { // the others say something still
			o, by = unknown, "nothing"
			fmt.Fprintf(os.Stderr, "mutate: %s: %v\n", m.rule, err)
		}
		if o != killed {
			bad++
		}
		n++
		fmt.Printf("%-16s %s, %s (%.0f s)\n", o, m.rule, m.file, time.Since(start).Seconds())
		fmt.Fprintf(&rows, "| %s | `%s` | %s | %s |\n", m.rule, m.file, o, by)
	}
	fmt.Printf("%d mutants, %d killed\n", n, n-bad)
	if page != "" && only == "" {
		text := fmt.Sprintf(head, time.Now().UTC().Format(time.DateOnly), n, n-bad) + rows.String()
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d mutants were not killed", bad)
	}
	return nil
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
	built  map[string]string // a package's tests without a mutant
}

// holds runs the tests of a mutant without it: if they fail, or there are none, their
// failure with it says nothing.
func (r *runner) holds(ctx context.Context, m mutant) error {
	if r.built[m.pkg] == "" {
		file := filepath.Join(r.folder, fmt.Sprintf("%d.test", len(r.built)))
		if out, err := command(ctx, "", os.Environ(), "go", "test", "-c", "-o", file, m.pkg); err != nil {
			return fmt.Errorf("build tests of %s: %w\n%s", m.pkg, err, out)
		}
		r.built[m.pkg] = file
	}
	out, err := command(ctx, m.pkg, os.Environ(), r.built[m.pkg], "-test.timeout=10m", "-test.run="+m.tests)
	switch {
	case err != nil:
		return fmt.Errorf("%s fails without the mutant: %w\n%s", m.pkg, err, out)
	case bytes.Contains(out, []byte("no tests to run")):
		return fmt.Errorf("%s has no test %s", m.pkg, m.tests)
	}
	return nil
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
	if err := r.holds(ctx, m); err != nil {
		return "", "", err
	}
	// By the environment: tests that build the program build the mutant.
	env := append(os.Environ(), "GOFLAGS=-overlay="+overlay)
	out, err := command(ctx, "", env, "go", "test", "-vet=off", "-count=1", "-failfast", "-timeout=10m", "-run", m.tests, m.pkg)
	var failed *exec.ExitError
	switch {
	case err == nil:
		return survived, "", nil
	case !errors.As(err, &failed):
		return "", "", err
	case bytes.Contains(out, []byte("[build failed]")):
		return broken, "", nil
	}
	return killed, firstFailure(out), nil
}

func command(ctx context.Context, folder string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = folder, env
	return c.CombinedOutput()
}

// apply gives the file with the rule broken.
func (m mutant) apply() ([]byte, error) {
	raw, err := os.ReadFile(m.file)
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(raw, []byte(m.old)); n != 1 {
		return nil, fmt.Errorf("%s holds %q %d times, not once", m.file, m.old, n)
	}
	return bytes.Replace(raw, []byte(m.old), []byte(m.new), 1), nil
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
