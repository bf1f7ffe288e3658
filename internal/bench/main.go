//go:build unix

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && args[0] == "recall" {
		return runRecall(args[1:])
	}
	if len(args) == 4 && args[0] == "bare-writer" { // a process of the part "processes"
		seed, err := strconv.ParseUint(args[2], 10, 64)
		if err != nil {
			return err
		}
		lasting, err := time.ParseDuration(args[3])
		if err != nil {
			return err
		}
		return bareWriter(args[1], seed, lasting)
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
	folder := flags.String("folder", "", "keep stores here and use those of earlier runs; default a temporary folder")
	b := &bench{}
	flags.StringVar(&b.binary, "bin", "", "the command to measure; default built from this tree")
	flags.IntVar(&b.items, "items", 100_000, "items of the large store")
	flags.IntVar(&b.runs, "runs", 5, "runs of each measurement")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if b.folder = *folder; b.folder == "" {
		temp, err := os.MkdirTemp("", "cordelia-bench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp) //nolint:errcheck // a leftover in the temp folder
		b.folder = temp
	}
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
		s, err := p.run(b)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		s.Part, s.At, s.Load = p.name, time.Now(), load()
		for _, row := range s.Rows {
			fmt.Printf("%-60s %s %s  beside %s %s  ratio %s  %s\n", row.What, row.Ours, row.Unit, row.Floor, row.Beside, row.Ratio, row.Bar)
		}
		r[p.name] = s
		if err := r.write(*out); err != nil { // a later part may fail
			return err
		}
	}
	return r.write(*out) // with no parts: what is there, drawn anew
}

// build makes the programs that are measured.
func (b *bench) build() (err error) {
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	b.empty = filepath.Join(b.folder, "empty")
	if err := compile(b.empty, "cordelia/internal/bench/empty"); err != nil {
		return err
	}
	if b.binary != "" {
		b.binary, err = filepath.Abs(b.binary)
		return err
	}
	b.binary = filepath.Join(b.folder, "cordelia")
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
