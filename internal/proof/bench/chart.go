//go:build unix

package main

import (
	"fmt"
	"html"
	"maps"
	"math"
	"slices"
	"strings"
)

// point is a value at a size; a line is drawn through them.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// chart is a plot of lines from zero up; Log makes both axes logarithmic.
type chart struct {
	Name  string             `json:"name"`
	Title string             `json:"title"`
	Log   bool               `json:"log,omitempty"`
	Lines map[string][]point `json:"lines"`
}

func (c *chart) add(line string, x int, y float64) {
	c.Lines[line] = append(c.Lines[line], point{float64(x), y})
}

// axis places values between two pixels.
type axis struct {
	from, to    float64 // pixels
	least, most float64 // values
	log         bool
}

func (a axis) at(v float64) float64 {
	if a.log {
		return a.from + (a.to-a.from)*math.Log(max(v, a.least)/a.least)/max(math.Log(a.most/a.least), 1e-9)
	}
	return a.from + (a.to-a.from)*(v-a.least)/max(a.most-a.least, 1e-9)
}

// ticks are the values that get a line: powers of ten, or five steps.
func (a axis) ticks() (list []float64) {
	if a.log {
		for v := math.Pow(10, math.Ceil(math.Log10(a.least)-1e-9)); v <= a.most*1.001; v *= 10 {
			list = append(list, v)
		}
		return list
	}
	step := math.Pow(10, math.Floor(math.Log10(a.most)))
	for _, share := range []float64{0.2, 0.25, 0.5, 1, 2} {
		if a.most/(step*share) <= 6 {
			step *= share
			break
		}
	}
	for v := 0.0; v <= a.most*1.001; v += step {
		list = append(list, v)
	}
	return list
}

// svg draws the chart. It has no background and only mid tones, so that it reads
// on light pages and on dark ones.
func (c chart) svg() string {
	const width, height, left, right, bottom, top, grey = 640, 340, 56, 16, 28, 34, "#888"
	x := axis{from: left, to: width - right, least: math.Inf(1), log: c.Log}
	y := axis{from: height - bottom, least: math.Inf(1), log: c.Log}
	for _, line := range c.Lines {
		for _, p := range line {
			x.least, x.most = min(x.least, p.X), max(x.most, p.X)
			if p.Y > 0 {
				y.least, y.most = min(y.least, p.Y), max(y.most, p.Y)
			}
		}
	}
	y.to = top + 16*float64((len(c.Lines)+1)/2) + 6
	if c.Log { // whole powers of ten
		y.least, y.most = math.Pow(10, math.Floor(math.Log10(y.least))), math.Pow(10, math.Ceil(math.Log10(y.most)))
	} else {
		x.least, y.least = 0, 0
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" fill="%s">`+"\n", width, height, grey)
	fmt.Fprintf(&b, `<text x="%d" y="18" font-size="14">%s</text>`+"\n", left, html.EscapeString(c.Title))
	for _, v := range x.ticks() {
		fmt.Fprintf(&b, `<text x="%.0f" y="%d" text-anchor="middle">%s</text>`+"\n", x.at(v), height-bottom+18,
			figure(v))
	}
	for _, v := range y.ticks() {
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="%s" stroke-opacity=".3"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, y.at(v), width-right, grey, left-6, y.at(v)+4, figure(v))
	}
	colours := []string{"#2b83c6", "#d0622f", "#3f9b4f", "#a35bb5", "#b8901c", "#5f7f95"}
	for i, name := range slices.Sorted(maps.Keys(c.Lines)) {
		colour := colours[i%len(colours)]
		var path []string
		for _, p := range c.Lines[name] {
			path = append(path, fmt.Sprintf("%.1f,%.1f", x.at(p.X), y.at(p.Y)))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x.at(p.X), y.at(p.Y), colour)
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/><text x="%d" y="%d" fill="%s">%s</text>`+"\n",
			strings.Join(path, " "), colour, left+10+(i%2)*290, top+10+16*(i/2), colour, html.EscapeString(name))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
