//go:build unix

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"cordelia/internal/store"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if err := store.ChooseLocks(); err != nil { // some parts read databases before another opens a store
		return err
	}
	if len(args) > 0 && args[0] == "recall" {
		return runRecall(args[1:])
	}
	if len(args) > 0 && args[0] == "bare" { // a process beside ours
		return runBare(args[1:])
	}
	return runParts(args)
}

// runParts measures the parts asked for and renews their share of the report.
func runParts(args []string) error {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("parts", strings.Join(names, ","), "what to measure")
	out := flags.String("out", "docs", "folder of benchmarks.json, .md and plots")
	b := &bench{}
	flags.StringVar(&b.cache, "cache", ".cache/bench", "where grown stores and installed peers are kept for later runs")
	flags.StringVar(&b.data, "data", "", "conversations with annotated evidence, for the part recall")
	flags.StringVar(&b.binary, "bin", "", "the command to measure; default built from this tree")
	flags.IntVar(&b.items, "items", 100_000, "items of the largest store that writes and searches are measured on")
	flags.IntVar(&b.runs, "runs", 5, "runs of each measurement")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for p := range strings.SplitSeq(*only, ",") {
		if p != "" && !slices.Contains(names, p) {
			return fmt.Errorf("there is no part %q; the parts are %s", p, strings.Join(names, ", "))
		}
	}
	if b.runs < 1 || b.items < smallest {
		return fmt.Errorf("-runs takes 1 or more, -items %d or more", smallest)
	}
	done, err := b.workspace()
	if err != nil {
		return err
	}
	defer done()
	if err := b.build(); err != nil {
		return err
	}
	r, err := readReport(*out)
	if err != nil {
		return err
	}
	for _, p := range parts() {
		if !slices.Contains(strings.Split(*only, ","), p.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", p.name, p.about)
		before, start := load(), time.Now()
		s, err := b.measure(p)
		if skip, ok := errors.AsType[*skipped](err); ok {
			fmt.Fprintf(os.Stderr, "%s: skipped: %s\n", p.name, skip.why)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		s.Part, s.At, s.On, s.Load, s.Took = p.name, time.Now(), machine(), before+" → "+
			load(), time.Since(start).Round(time.Second).String()
		var lines strings.Builder
		table{Head: []string{"what", "unit", "here", "beside", "ratio", "bar", "holds"},
			Rows: cells(s.Rows)}.print(&lines)
		for _, t := range s.Tables {
			t.print(&lines)
		}
		fmt.Print(lines.String())
		r[p.name] = s
		if err := r.write(*out); err != nil { // a later part may fail
			return err
		}
	}
	return r.write(*out) // with no parts: what is there, drawn anew
}

// workspace makes the folder of this run, beside what is kept for later ones;
// done removes it.
func (b *bench) workspace() (done func(), err error) {
	if b.cache, err = filepath.Abs(b.cache); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.cache, 0o700); err != nil {
		return nil, err
	}
	if b.folder, err = os.MkdirTemp(b.cache, "run-"); err != nil {
		return nil, err
	}
	return func() { os.RemoveAll(b.folder) }, nil //nolint:errcheck // a leftover in the cache
}

// measure runs a part in a new folder and removes it afterwards: the stores are large.
func (b *bench) measure(p part) (section, error) {
	root := b.folder
	b.folder = filepath.Join(root, p.name)
	defer func() {
		os.RemoveAll(b.folder) //nolint:errcheck // a leftover in the cache
		b.folder = root
	}()
	if err := os.Mkdir(b.folder, 0o700); err != nil {
		return section{}, err
	}
	return p.run(b)
}

// skipped is why a part cannot be measured on this machine.
type skipped struct{ why string }

func (s *skipped) Error() string { return s.why }

// build makes the programs that are measured.
func (b *bench) build() (err error) {
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	b.empty = filepath.Join(b.folder, "bin", "empty")
	if err := compile(b.empty, "cordelia/internal/proof/bench/empty"); err != nil {
		return err
	}
	if b.binary != "" {
		b.binary, err = filepath.Abs(b.binary)
		return err
	}
	b.binary = filepath.Join(b.folder, "bin", "cordelia")
	return compile(b.binary, "cordelia/cmd/cordelia")
}

// load is how busy the machine is, in the words of the system.
func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(raw))[:3], " ")
}

// machine says what was measured on.
func machine() string {
	model := runtime.GOARCH
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(raw)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d × %s, %s, %s", runtime.NumCPU(), model, runtime.GOOS, runtime.Version())
}

func runRecall(args []string) error {
	flags := flag.NewFlagSet("recall", flag.ContinueOnError)
	binary := flags.String("bin", "bin/cordelia", "the command to measure")
	data := flags.String("data", "", "conversations in the form of LoCoMo")
	out := flags.String("out", "", "write all outcomes here, as JSON")
	mappings := flags.String("mappings", "speakers,notes,context", "how turns become items")
	layouts := flags.String("layouts", "apart,together,member,crowded", "where they lie")
	others := flags.Int("others", 100_000, "items of other scopes in layout crowded")
	if err := flags.Parse(args); err != nil {
		return err
	}
	conversations, err := readConversations(*data)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "cordelia-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a leftover in the temp folder
	var results []recallResult
	for l := range strings.SplitSeq(*layouts, ",") {
		for m := range strings.SplitSeq(*mappings, ",") {
			r, err := recall(*binary, folder, conversations, mapping(m), layout(l), *others)
			if err != nil {
				return fmt.Errorf("%s %s: %w", m, l, err)
			}
			if results = append(results, r); *out != "" {
				if err := writeJSON(*out, results); err != nil {
					return err
				}
			}
			if err := printRecall(os.Stdout, results[len(results)-1:]); err != nil {
				return err
			}
		}
	}
	return nil
}
