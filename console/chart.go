package console

import (
	"fmt"

	"cordelia/ops"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
)

const (
	chartHeight = 120
	roundWidth  = 90
	chartMargin = 20
)

// lossChart is D and L of each failed round as points of an SVG, 0 to 1 upwards.
type lossChart struct {
	Width, Height int
	Points        []lossPoint
	Line          string // of L, as SVG points
}

// lossPoint is a round.
type lossPoint struct {
	Round     int
	X, D, L   int
	Loss      schemas.Loss
	Directive schemas.Directive
	Why       string
}

func newLossChart(rounds []controller.RoundView) (c lossChart) {
	c.Height, c.Width = chartHeight+2*chartMargin, max(len(rounds)*roundWidth, curveWidth-2*chartMargin)+2*chartMargin
	for i, r := range rounds {
		p := lossPoint{Round: r.Round, X: chartMargin + i*roundWidth + roundWidth/2, D: level(r.D), L: level(r.L),
			Loss: r.Loss, Directive: r.Directive, Why: r.Rationale}
		c.Points = append(c.Points, p)
		c.Line += pair(p.X, p.L)
	}
	return c
}

// level is the height of a share in a chart: 1 is at the top.
func level(share float64) int { return chartMargin + int((1-min(max(share, 0), 1))*chartHeight) }

// Foot is the line on which a chart's words stand.
func (c lossChart) Foot() int { return c.Height - 5 }

// interval is a score with its interval of 95 %, as an SVG 200 wide.
type interval struct {
	From, To, At int
	Low, High    float64
	Mean         float64
}

func newInterval(mean float64, within [2]float64) interval {
	at := func(share float64) int { return int(min(max(share, 0), 1) * 200) }
	return interval{at(within[0]), at(within[1]), at(mean), within[0], within[1], mean}
}

// Width is how wide the interval is drawn.
func (i interval) Width() int { return max(i.To-i.From, 1) }

// curve is an accuracy after each verdict, with its interval of 95 %.
type curve struct {
	Width, Height int
	Line, Band    string // as SVG points
	Dots          []curveDot
}

// curveDot is a verdict.
type curveDot struct {
	X, Y  int
	Class string
	Says  string
}

const curveWidth = 600

func newCurve(list []ops.JudgedOnce) (c curve) {
	c.Width, c.Height = curveWidth, chartHeight+2*chartMargin
	if len(list) == 0 {
		return c
	}
	step := (curveWidth - 2*chartMargin) / max(len(list)-1, 1)
	var below string
	for i, j := range list {
		x := chartMargin + i*step
		c.Line += pair(x, level(j.Mean))
		c.Band += pair(x, level(j.Interval95[1]))
		below = pair(x, level(j.Interval95[0])) + below
		c.Dots = append(c.Dots, curveDot{x, level(j.Mean), "v-" + string(j.Verdict),
			fmt.Sprintf("%s by %s, then %.2f (%.2f–%.2f)", verdictWord(j), j.By, j.Mean, j.Interval95[0], j.Interval95[1])})
	}
	c.Band += below
	return c
}

// verdictWord is a verdict in a word.
func verdictWord(j ops.JudgedOnce) string {
	if j.Verdict == "" {
		return "withdrawn"
	}
	return string(j.Verdict)
}

// bars is a number for each of some things, as an SVG.
type bars struct {
	Title         string
	Width, Height int
	Bars          []bar
}

type bar struct {
	X, Y, Height int
	Says         string
}

const barWidth = 22

// newBars draws one bar for each number, as high as its share of the largest.
func newBars(title string, names []string, numbers []int64) bars {
	b := bars{Title: title, Width: len(numbers)*barWidth + 2*chartMargin, Height: chartHeight + 2*chartMargin}
	var most int64 = 1
	for _, n := range numbers {
		most = max(most, n)
	}
	for i, n := range numbers {
		height := int(n * chartHeight / most)
		b.Bars = append(b.Bars, bar{chartMargin + i*barWidth, chartMargin + chartHeight - height, max(height, 1),
			fmt.Sprintf("%s: %d", names[i], n)})
	}
	return b
}

func pair(x, y int) string { return fmt.Sprintf("%d,%d ", x, y) }
