package cli

import (
	"fmt"
	"os"
	"strings"

	"cordelia/cmd/cordelia/platform"
	"cordelia/schemas"
)

// LeastWidth is the width of terminals, in columns, that a task is drawn on: what the
// terminal folds could not be drawn over.
const LeastWidth = 60

// Canvas is the end of a terminal's output, which is drawn again and again.
type Canvas struct {
	Out   *os.File
	Drawn int // lines on the terminal
	width int // of the terminal they were drawn for
}

// Drawable reports whether a file is a terminal that can be drawn on.
func Drawable(f *os.File) bool {
	wide, _ := platform.TerminalSize(f)
	return wide >= LeastWidth && os.Getenv("TERM") != "dumb"
}

// Resized reports whether the terminal has another width than what is drawn on it.
func (c *Canvas) Resized() bool { return c.Drawn > 0 && Columns(c.Out) != c.width }

// Draw puts a text where the last one was drawn, on a terminal of that size. Of what does
// not fit the end is left out, as lines that scrolled away could not be drawn over; rest says
// where it is, "" = all of it is drawn.
func (c *Canvas) Draw(text string, wide, high int, rest string) {
	list := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if most := high - 1; rest != "" && len(list) > most {
		left := len(list) - most + 1
		list = append(list[:max(0, most-1)], fmt.Sprintf("… %s more: %s", schemas.Count(left, "line", "lines"), rest))
	}
	fmt.Fprint(c.Out, c.over()+strings.Join(list, "\n")+"\n")
	c.Drawn, c.width = len(list), wide
}

// Clear removes what is drawn: what is printed next stands in its place and stays.
func (c *Canvas) Clear() {
	fmt.Fprint(c.Out, c.over())
	c.Drawn = 0
}

// over moves the cursor to where the last drawing begins, and removes it.
func (c *Canvas) over() string {
	if c.Drawn == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dF\x1b[J", c.Drawn)
}
