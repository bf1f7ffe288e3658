package main

import (
	"fmt"
	"html"
	"strings"
)

const (
	panelWidth, panelHeight = 220, 150
	panelsInRow             = 3
	chartTop                = 60 // title and legend
	legendInRow             = 4
)

// plotted are the product, its rivals, and the product without predictions, of those run.
func (r report) plotted() []policy { return r.policies[:min(len(r.policies), 7)] }

// plot draws a panel for each scenario and a line for each policy: the mean over
// the seeds, of three days each. It has no background and only mid tones, so that
// it reads on light pages and on dark ones.
func (r report) plot(title string, by func(result) []share) string {
	colours := []string{"#2b83c6", "#888888", "#d0622f", "#3f9b4f", "#9b59b6", "#b8860b", "#5dade2"}
	list := scenarios()
	width, height := panelsInRow*panelWidth, chartTop+(len(list)+panelsInRow-1)/panelsInRow*panelHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" fill="#888">`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="10" y="16" font-size="14">%s</text>`+"\n", html.EscapeString(title))
	for i, p := range r.plotted() {
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n",
			10+i%legendInRow*150, 34+i/legendInRow*16, colours[i], html.EscapeString(p.name))
	}
	for i, s := range list {
		x, y := i%panelsInRow*panelWidth+34, chartTop+i/panelsInRow*panelHeight
		r.panel(&b, float64(x), float64(y), s, by, colours)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (r report) panel(b *strings.Builder, x, y float64, s scenario, by func(result) []share, colours []string) {
	const wide, high, gap = panelWidth - 48, panelHeight - 50, 24
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f">%s</text>`+"\n", x, y+12, html.EscapeString(s.name))
	lines := make([][]float64, len(r.plotted()))
	most := 0.0
	for i, p := range r.plotted() {
		lines[i] = r.course(s.name, p.name, by)
		for _, v := range lines[i] {
			most = max(most, v)
		}
	}
	most = max(most, 0.01)
	for _, tick := range []float64{0, 0.5, 1} {
		at := y + gap + high*(1-tick)
		fmt.Fprintf(b, `<path d="M%.0f %.1fh%d" stroke="#888" stroke-opacity=".3"/><text x="%.0f" y="%.1f" text-anchor="end">%.0f</text>`+"\n",
			x, at, wide, x-4, at+4, 100*most*tick)
	}
	for i, line := range lines {
		var path []string
		for k, v := range line {
			path = append(path, fmt.Sprintf("%.1f,%.1f", x+wide*float64(k)/float64(max(len(line)-1, 1)),
				y+gap+high*(1-v/most)))
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(path, " "),
			colours[i])
	}
}

// course is a measure through time: the mean over all runs, three days at once.
func (r report) course(scenario, policy string, by func(result) []share) (line []float64) {
	const together = 3
	var sums []share
	for _, j := range r.jobs {
		if j.scenario.name != scenario || j.policy.name != policy {
			continue
		}
		for day, s := range by(j.result) {
			for len(sums) <= day/together {
				sums = append(sums, share{})
			}
			sums[day/together].n += s.n
			sums[day/together].of += s.of
		}
	}
	for _, s := range sums {
		if s.of > 0 {
			line = append(line, s.value())
		}
	}
	return line
}
