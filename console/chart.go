package console

import (
	"fmt"

	"cordelia/pipeline/controller"
	"cordelia/schemas"
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
}

const (
	chartHeight = 120
	roundWidth  = 90
	chartMargin = 20
)

func newLossChart(rounds []controller.RoundView) (c lossChart) {
	c.Height, c.Width = chartHeight+2*chartMargin, len(rounds)*roundWidth+2*chartMargin
	at := func(share float64) int { return chartMargin + int((1-min(max(share, 0), 1))*chartHeight) }
	for i, r := range rounds {
		p := lossPoint{Round: r.Round, X: chartMargin + i*roundWidth + roundWidth/2, D: at(r.D), L: at(r.L), Loss: r.Loss,
			Directive: r.Directive}
		c.Points = append(c.Points, p)
		c.Line += pair(p.X, p.L)
	}
	return c
}

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

func pair(x, y int) string { return fmt.Sprintf("%d,%d ", x, y) }
