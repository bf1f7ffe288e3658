package main

import (
	"fmt"
	"os"
	"strings"

	"cordelia/cmd/cordelia/platform"
	"cordelia/schemas"
)

// leastWidth is the width of terminals, in columns, that a task is drawn on: what the
// terminal folds could not be drawn over.
const leastWidth = 60

// canvas is the end of a terminal's output, which is drawn again and again.
type canvas struct {
	out   *os.File
	drawn int // lines on the terminal
	width int // of the terminal they were drawn for
}

// drawable reports whether a file is a terminal that can be drawn on.
func drawable(f *os.File) bool {
	wide, _ := platform.TerminalSize(f)
	return wide >= leastWidth && os.Getenv("TERM") != "dumb"
}

// resized reports whether the terminal has another width than what is drawn on it.
func (c *canvas) resized() bool { return c.drawn > 0 && columns(c.out) != c.width }

// draw puts a text where the last one was drawn, on a terminal of that size. Of what does
// not fit the end is left out, as lines that scrolled away could not be drawn over; rest says
// where it is, "" = all of it is drawn.
func (c *canvas) draw(text string, wide, high int, rest string) {
	list := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if most := high - 1; rest != "" && len(list) > most {
		left := len(list) - most + 1
		list = append(list[:max(0, most-1)], fmt.Sprintf("… %s more: %s", schemas.Count(left, "line", "lines"), rest))
	}
	fmt.Fprint(c.out, c.over()+strings.Join(list, "\n")+"\n")
	c.drawn, c.width = len(list), wide
}

// clear removes what is drawn: what is printed next stands in its place and stays.
func (c *canvas) clear() {
	fmt.Fprint(c.out, c.over())
	c.drawn = 0
}

// over moves the cursor to where the last drawing begins, and removes it.
func (c *canvas) over() string {
	if c.drawn == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dF\x1b[J", c.drawn)
}
