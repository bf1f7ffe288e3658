package main

import (
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"strings"

	"cordelia/internal/proof/figures"
)

// report is the runs as tables and a plot.
type report map[cell][]ended

// publish prints the tables and writes them, and the plot, into the folder docs.
func (r report) publish(docs string) error {
	text := ""
	for _, b := range budgets() {
		text += r.table(b) + "\n"
	}
	fmt.Print(text)
	if err := figures.Write(filepath.Join(docs, "replan.md"), text); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, "replan-solved.svg"), []byte(r.plot()),
		0o644) //nolint:gosec // a page for everyone
}

// table has a row for each contender: what it solved of each kind, what it wasted
// on those, and when it gave up where nothing could be found.
func (r report) table(b budget) string {
	var out strings.Builder
	fmt.Fprintf(&out, "**%s**: solved, %% (95 %% interval)\n\n| policy |", b.name)
	for _, k := range kinds() {
		if k.solvable {
			fmt.Fprintf(&out, " %s |", k.name)
		}
	}
	out.WriteString(" all | wasted rounds a task | rounds to solve |")
	for _, k := range kinds() {
		if !k.solvable {
			fmt.Fprintf(&out, " %s: rounds to give up |", k.name)
		}
	}
	out.WriteString("\n|---|" + strings.Repeat("--:|", len(kinds())+3) + "\n")
	for _, c := range contenders() {
		fmt.Fprintf(&out, "| %s |", c.name)
		var all []ended
		for _, k := range kinds() {
			if runs := r[cell{b.name, k.name, c.name}]; k.solvable {
				all = append(all, runs...)
				fmt.Fprintf(&out, " %s |", solved(runs))
			}
		}
		fmt.Fprintf(&out, " %s | %s | %s |", solved(all),
			mean(all, func(e ended) (float64, bool) { return float64(e.wasted), true }),
			mean(all, func(e ended) (float64, bool) { return float64(e.rounds), e.solved }))
		for _, k := range kinds() {
			if !k.solvable {
				fmt.Fprintf(&out, " %s |", mean(r[cell{b.name, k.name, c.name}],
					func(e ended) (float64, bool) { return float64(e.rounds), true }))
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

// wilson is the 95 % interval of a share (Wilson 1927).
func wilson(n, of int) (share, low, high float64) {
	const z = 1.96
	total := float64(of)
	share = float64(n) / total
	middle := (share + z*z/(2*total)) / (1 + z*z/total)
	half := z * math.Sqrt(share*(1-share)/total+z*z/(4*total*total)) / (1 + z*z/total)
	return share, middle - half, middle + half
}

func count(runs []ended) (n int) {
	for _, e := range runs {
		if e.solved {
			n++
		}
	}
	return n
}

func solved(runs []ended) string {
	share, low, high := wilson(count(runs), len(runs))
	return fmt.Sprintf("%.0f (%.0f–%.0f)", 100*share, 100*low, 100*high)
}

// mean is that of the runs that have a value, with its 95 % interval.
func mean(runs []ended, value func(ended) (float64, bool)) string {
	var n, sum, squares float64
	for _, e := range runs {
		if v, ok := value(e); ok {
			n, sum, squares = n+1, sum+v, squares+v*v
		}
	}
	if n == 0 {
		return "–"
	}
	m := sum / n
	return fmt.Sprintf("%.2f ± %.2f", m, 1.96*math.Sqrt(max(0, squares/n-m*m)/n))
}

// plot has a panel for each budget: a line for each kind, a mark for what each
// contender solved of it, with its interval. No background and only mid tones, so
// that it reads on light pages and on dark ones.
func (r report) plot() string {
	const left, wide, gap, row, top, mark = 90, 340, 80, 40, 52, 4
	colours := []string{"#2b83c6", "#66aee0", "#7a4fb5", "#b08ad8", "#d0622f", "#888888", "#3f9b4f", "#c2417c"}
	rows := 0
	for _, k := range kinds() {
		if k.solvable {
			rows++
		}
	}
	width, height := left+len(budgets())*(wide+gap), top+rows*row+30
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" fill="#888">`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="10" y="16" font-size="14">Tasks solved within the budget, %%</text>`+"\n")
	for i, c := range contenders() {
		fmt.Fprintf(&b, `<text x="%d" y="34" fill="%s">%s</text>`+"\n", 10+i*115, colours[i], html.EscapeString(c.name))
	}
	for p, bud := range budgets() {
		x := float64(left + p*(wide+gap))
		for _, tick := range []float64{0, 0.5, 1} {
			fmt.Fprintf(&b, `<path d="M%.0f %dv%d" stroke="#888" stroke-opacity=".3"/><text x="%.0f" y="%d" text-anchor="middle">%.0f</text>`+"\n",
				x+wide*tick, top, rows*row, x+wide*tick, top+rows*row+14, 100*tick)
		}
		fmt.Fprintf(&b, `<text x="%.0f" y="%d" text-anchor="middle">%s</text>`+"\n", x+wide/2, top+rows*row+28,
			html.EscapeString(bud.name))
		y := float64(top)
		for _, k := range kinds() {
			if !k.solvable {
				continue
			}
			if p == 0 {
				fmt.Fprintf(&b, `<text x="%d" y="%.0f" text-anchor="end">%s</text>`+"\n", left-10, y+row/2+4,
					html.EscapeString(k.name))
			}
			for i, c := range contenders() {
				runs := r[cell{bud.name, k.name, c.name}]
				share, low, high := wilson(count(runs), len(runs))
				at := y + 4 + float64(i)*mark
				fmt.Fprintf(&b, `<path d="M%.1f %.1fH%.1f" stroke="%s"/><circle cx="%.1f" cy="%.1f" r="2.2" fill="%s"/>`+"\n",
					x+wide*low, at, x+wide*high, colours[i], x+wide*share, at, colours[i])
			}
			y += row
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}
