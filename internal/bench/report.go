//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// report keeps what was measured last by each part.
type report map[string]section

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
	if err := writeJSON(filepath.Join(folder, "benchmarks.json"), r); err != nil {
		return err
	}
	var doc strings.Builder
	doc.WriteString("# Benchmarks\n\nWritten by `make bench`; do not edit. Every figure is the median of several runs with the least and the\nmost in brackets. Runs of ours and of what stands beside it take turns, and a ratio is taken run by run. Where the load is\nabove the number of processors, other work disturbed both sides: read the least, and measure again.\n")
	for _, p := range parts() {
		s, ok := r[p.name]
		if !ok {
			continue
		}
		fmt.Fprintf(&doc, "\n## %s\n\n", strings.ToUpper(p.about[:1])+p.about[1:])
		fmt.Fprintf(&doc, "%s, load of the machine %s.\n\n", s.At.UTC().Format("2006-01-02"), s.Load)
		doc.WriteString("| what | unit | here | beside | ratio | bar | holds |\n|---|---|---|---|---|---|---|\n")
		for _, row := range s.Rows {
			floor, ratio, holds := "", "", ""
			if row.Beside != "" {
				floor, ratio = row.Floor.String()+", "+row.Beside, row.Ratio.String()
			}
			if row.Holds != nil {
				holds = map[bool]string{true: "yes", false: "**no**"}[*row.Holds]
			}
			fmt.Fprintf(&doc, "| %s | %s | %s | %s | %s | %s | %s |\n", row.What, row.Unit, row.Ours, floor, ratio, row.Bar, holds)
		}
		for _, c := range s.Charts {
			if err := os.WriteFile(filepath.Join(folder, "benchmark-"+c.Name+".svg"), []byte(c.svg()), 0o644); err != nil {
				return err
			}
			fmt.Fprintf(&doc, "\n![%s](benchmark-%s.svg)\n", c.Title, c.Name)
		}
	}
	return os.WriteFile(filepath.Join(folder, "benchmarks.md"), []byte(doc.String()), 0o644)
}

// svg draws the chart: items on a logarithmic axis, the unit on a linear one
// from zero.
func (c chart) svg() string {
	const width, height, left, bottom, top = 640, 320, 60, 40, 40
	least, most, highest := math.Inf(1), 0.0, 0.0
	for _, line := range c.Lines {
		for _, p := range line {
			least, most, highest = min(least, p.X), max(most, p.X), max(highest, p.Y)
		}
	}
	x := func(v float64) float64 {
		return left + (width-left-20)*math.Log10(v/least)/max(math.Log10(most/least), 1e-9)
	}
	y := func(v float64) float64 { return height - bottom - (height-bottom-top)*v/max(highest*1.1, 1e-9) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/><text x="%d" y="20" font-size="14">%s, %s, by items in the store</text>`+"\n", width, height, left, c.Title, c.Unit)
	for v := least; v <= most*1.001; v *= 10 {
		fmt.Fprintf(&b, `<text x="%.0f" y="%d" text-anchor="middle">%s</text>`+"\n", x(v), height-bottom+18, figure(v))
	}
	for i := range 5 {
		v := highest * float64(i) / 4
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left, y(v), width-20, left-6, y(v)+4, figure(v))
	}
	colours := []string{"#0b62a4", "#b5432a", "#3a8a3a"}
	for i, name := range slices.Sorted(maps.Keys(c.Lines)) {
		var path []string
		for _, p := range c.Lines[name] {
			path = append(path, fmt.Sprintf("%.1f,%.1f", x(p.X), y(p.Y)))
		}
		colour := colours[i%len(colours)]
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/><text x="%d" y="%d" fill="%s">%s</text>`+"\n",
			strings.Join(path, " "), colour, left+10, top+14+16*i, colour, name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
