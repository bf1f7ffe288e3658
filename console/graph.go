package console

import (
	"fmt"

	"cordelia/schemas"
)

// vertex is a thing that a graph shows, with what leads to it.
type vertex struct {
	ID, Label, Note, Href string
	Class                 string // of its colour: a state
	From                  []string
}

// graph is an SVG: vertices in columns, each right of all that lead to it.
type graph struct {
	Title         string
	Width, Height int
	Boxes         []box
	Lines         []string // paths from box to box
	Left          int      // vertices beyond the most that are drawn
}

// box is a vertex in its place.
type box struct {
	vertex
	X, Y int
}

const (
	boxWidth, boxHeight = 190, 46
	boxGap, rowGap      = 44, 14
	graphMargin         = 6
	mostBoxes           = 60
	boxText             = 26 // characters that fit a box
)

// newGraph lays vertices out. What leads to a vertex that is not there is left out, and so
// is an edge that would close a circle.
func newGraph(title string, list []vertex) graph {
	g := graph{Title: title}
	if len(list) > mostBoxes {
		g.Left, list = len(list)-mostBoxes, list[:mostBoxes]
	}
	at := map[string]int{}
	for i, v := range list {
		at[v.ID] = i
	}
	columns := make([]int, len(list))
	const open, done = 1, 2
	state := make([]int, len(list))
	var place func(i int) int
	place = func(i int) int {
		if state[i] != 0 {
			return columns[i]
		}
		state[i] = open
		for _, from := range list[i].From {
			if j, there := at[from]; there && state[j] != open {
				columns[i] = max(columns[i], place(j)+1)
			}
		}
		state[i] = done
		return columns[i]
	}
	rows := map[int]int{}
	for i, v := range list {
		column := place(i)
		b := box{v, graphMargin + column*(boxWidth+boxGap), graphMargin + rows[column]*(boxHeight+rowGap)}
		rows[column]++
		g.Boxes = append(g.Boxes, b)
		g.Width, g.Height = max(g.Width, b.X+boxWidth+graphMargin), max(g.Height, b.Y+boxHeight+graphMargin)
	}
	for i, b := range g.Boxes {
		for _, from := range b.From {
			if j, there := at[from]; there && columns[j] < columns[i] {
				g.Lines = append(g.Lines, edge(g.Boxes[j], b))
			}
		}
	}
	return g
}

// edge is the path of a line from the right of one box to the left of another.
func edge(from, to box) string {
	x1, y1, x2, y2 := from.X+boxWidth, from.Y+boxHeight/2, to.X, to.Y+boxHeight/2
	bend := (x1 + x2) / 2
	return fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x1, y1, bend, y1, bend, y2, x2, y2)
}

// TextX is where the text of a box begins.
func (b box) TextX() int { return b.X + 10 }

// LabelY is the line of its label.
func (b box) LabelY() int { return b.Y + 19 }

// NoteY is the line of its note.
func (b box) NoteY() int { return b.Y + 36 }

// Short is the label as far as the box holds it.
func (b box) Short() string { return clipped(b.Label) }

// Aside is the note as far as the box holds it.
func (b box) Aside() string { return clipped(b.Note) }

// BoxWidth is that of each box.
func (g graph) BoxWidth() int { return boxWidth }

// BoxHeight is that of each box.
func (g graph) BoxHeight() int { return boxHeight }

// clipped is the beginning of a text that fits a box.
func clipped(s string) string {
	runes := []rune(s)
	if len(runes) <= boxText {
		return s
	}
	return string(runes[:boxText-1]) + "…"
}

// CountLeft says how many vertices are not drawn.
func (g graph) CountLeft() string { return schemas.Count(g.Left, "more is", "more are") }
