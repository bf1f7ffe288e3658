//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// report keeps what was measured last by each part.
type report map[string]section

// preface tells how to read the figures.
const preface = `# Benchmarks

Written by ` + "`make bench`" + `; do not edit. Every figure is the median of several runs with the least and the
most in brackets. Runs of ours and of what stands beside it take turns, and a ratio is taken run by run;
the client is the same code for both. Where the load is above the number of processors, other work disturbed
both sides: read the least, and measure again.

`

func readReport(folder string) (report, error) {
	raw, err := os.ReadFile(filepath.Join(folder, "benchmarks.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return report{}, nil
	}
	if err != nil {
		return nil, err
	}
	r := report{}
	return r, json.Unmarshal(raw, &r)
}

// write writes figures, tables and plots into folder.
func (r report) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(folder, "benchmarks.json"), r); err != nil {
		return err
	}
	var doc strings.Builder
	doc.WriteString(preface)
	for _, p := range parts() {
		s, ok := r[p.name]
		if !ok {
			continue
		}
		fmt.Fprintf(&doc, "## %s\n\n", strings.ToUpper(p.about[:1])+p.about[1:])
		fmt.Fprintf(&doc, "%s; %s; load before → after: %s; took %s.\n\n", s.At.UTC().Format("2006-01-02"),
			cmp.Or(s.On, "machine not noted"), s.Load, cmp.Or(s.Took, "an unknown time"))
		if len(s.Rows) > 0 {
			table{Head: []string{"what", "unit", "here", "beside", "ratio", "bar", "holds"},
				Rows: cells(s.Rows)}.print(&doc)
		}
		for _, t := range s.Tables {
			t.print(&doc)
		}
		if why := short[p.name]; why != "" && s.falls() {
			s.Notes = append([]string{"Why it falls short: " + why}, s.Notes...)
		}
		if len(s.Notes) > 0 {
			doc.WriteString("- " + strings.Join(s.Notes, "\n- ") + "\n\n")
		}
		for _, c := range s.Charts {
			if err := os.WriteFile(filepath.Join(folder, "benchmark-"+c.Name+".svg"), []byte(c.svg()),
				0o644); err != nil {
				return err
			}
			fmt.Fprintf(&doc, "![%s](benchmark-%s.svg)\n\n", c.Title, c.Name)
		}
	}
	return os.WriteFile(filepath.Join(folder, "benchmarks.md"), []byte(strings.TrimRight(doc.String(), "\n")+"\n"),
		0o644)
}

// falls reports whether a figure misses its bar.
func (s section) falls() bool {
	return slices.ContainsFunc(s.Rows, func(r row) bool { return r.Holds != nil && !*r.Holds })
}

// cells are the rows as text.
func cells(rows []row) (out [][]string) {
	for _, r := range rows {
		floor, ratio, met := "", "", ""
		if r.Comparison != "" {
			floor, ratio = r.Floor.String()+", "+r.Comparison, r.Ratio.String()
		}
		if r.Holds != nil {
			met = map[bool]string{true: "yes", false: "**no**"}[*r.Holds]
		}
		out = append(out, []string{r.What, r.Unit, r.Ours.String(), floor, ratio, r.Bar, met})
	}
	return out
}

// print writes the table as Markdown.
func (t table) print(w *strings.Builder) {
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(t.Head, " | "), strings.Repeat("---|", len(t.Head)))
	for _, r := range t.Rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(r, " | "))
	}
	w.WriteString("\n")
}
