package main

import (
	"fmt"
	"math"
	"strings"

	"cordelia/pipeline/controller"
)

// The size of a chart of losses. A bar's columns are filled in eighths.
const (
	chartRows  = 6
	chartWidth = 80 // columns, unless the terminal has fewer
	axisWidth  = 6  // of the scale at the left
)

// eighths are the parts of a filled column, from nothing to all of it.
var eighths = []rune(" ▁▂▃▄▅▆▇█")

// chart draws D and L of each round as bars side by side, in at most width columns; 0
// means 80. Of rounds that do not fit it draws the last.
func chart(list []controller.RoundView, width int) string {
	if width <= 0 || width > chartWidth {
		width = chartWidth
	}
	room := max(1, (width-axisWidth)/barsWidth(1))
	list = list[max(0, len(list)-room):]
	bar := 1
	for bar < 3 && len(list)*barsWidth(bar+1) <= width-axisWidth {
		bar++
	}
	top := 1.0
	for _, r := range list {
		top = max(top, math.Ceil(r.L*2)/2)
	}
	var b strings.Builder
	for row := chartRows; row >= 1; row-- {
		line := strings.Builder{}
		for _, r := range list {
			line.WriteString(strings.Repeat(filled(r.D/top, row), bar) + strings.Repeat(" ",
				bar-1) + strings.Repeat(filled(r.L/top, row), bar) +
				strings.Repeat(" ", barsGap(bar)))
		}
		b.WriteString(strings.TrimRight(scale(row, top)+line.String(), " ") + "\n")
	}
	b.WriteString(" 0.0 └" + strings.Repeat("─", len(list)*barsWidth(bar)) + "\n")
	letters, numbers := strings.Repeat(" ", axisWidth), strings.Repeat(" ", axisWidth)
	for _, r := range list {
		letters += fmt.Sprintf("%-*s%-*s", 2*bar-1, "D", bar+barsGap(bar), "L")
		numbers += fmt.Sprintf("%-*d", barsWidth(bar), r.Round)
	}
	b.WriteString(strings.TrimRight(letters, " ") + "\n" + strings.TrimRight(numbers, " ") + "\n")
	return b.String()
}

// barsWidth is how many columns a round takes whose bars have that many.
func barsWidth(bar int) int { return 3*bar - 1 + barsGap(bar) }

// barsGap is between two rounds.
func barsGap(bar int) int { return 2*bar - 1 }

// filled is the part of a bar that lies in a row, the lowest of which is 1. A loss
// above nothing shows.
func filled(share float64, row int) string {
	parts := int(math.Round(min(max(share, 0), 1) * chartRows * 8))
	if parts == 0 && share > 0 {
		parts = 1
	}
	return string(eighths[min(max(parts-(row-1)*8, 0), 8)])
}

// scale labels the upper end and the middle.
func scale(row int, top float64) string {
	switch row {
	case chartRows:
		return fmt.Sprintf("%4.1f ┤", top)
	case chartRows / 2:
		return fmt.Sprintf("%4.2g ┤", top/2)
	}
	return "     │"
}
