package main

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"cordelia/internal/proof/figures"
)

// colours of the contenders, mid tones that read on light pages and on dark ones.
func colours() []string {
	return []string{"#1f9e89", "#d0622f", "#c2417c", "#2b83c6", "#7a4fb5", "#3f9b4f", "#b08ad8", "#66aee0",
		"#888888", "#b8860b"}
}

// plot has a panel for each budget: a line for each plant, a mark for what each contender
// solved of it, with its interval. Ablations are left to the tables.
func (r report) plot() string {
	const left, wide, gap, mark, top = 90, 340, 80, 4, 70
	list := solvable(slices.Concat(r.fresh, r.mixes, r.plain))
	shown := whole()
	row := mark*len(shown) + 8
	width, height := left+len(shipped())*(wide+gap), top+len(list)*row+30
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" `+
		`font-size="11" fill="#888">`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="10" y="16" font-size="14">Tasks solved within the budget, %% of what can be</text>`+"\n")
	for i, c := range shown {
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", 10+i%5*150, 34+i/5*16, colours()[i],
			html.EscapeString(c.name))
	}
	for p, bud := range shipped() {
		x := float64(left + p*(wide+gap))
		for _, tick := range []float64{0, 0.5, 1} {
			fmt.Fprintf(&b, `<path d="M%.0f %dv%d" stroke="#888" stroke-opacity=".3"/>`+
				`<text x="%.0f" y="%d" text-anchor="middle">%.0f</text>`+"\n",
				x+wide*tick, top, len(list)*row, x+wide*tick, top+len(list)*row+14, 100*tick)
		}
		fmt.Fprintf(&b, `<text x="%.0f" y="%d" text-anchor="middle">%s</text>`+"\n", x+wide/2, top+len(list)*row+28,
			html.EscapeString(bud.name))
		for k, kind := range list {
			y := float64(top + k*row)
			if p == 0 {
				fmt.Fprintf(&b, `<text x="%d" y="%.0f" text-anchor="end">%s</text>`+"\n", left-10, y+float64(row)/2+4,
					html.EscapeString(kind.name))
			}
			for i, c := range shown {
				mean, half := figures.Mean(r.bySeed(bud, list[k:k+1], c.name, solvedPercent))
				at := y + 4 + float64(i)*mark
				fmt.Fprintf(&b, `<path d="M%.1f %.1fH%.1f" stroke="%s"/><circle cx="%.1f" cy="%.1f" r="2.2" fill="%s"/>`+
					"\n", x+wide*max(0, mean-half)/100, at, x+wide*min(100, mean+half)/100, colours()[i],
					x+wide*mean/100, at, colours()[i])
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}
