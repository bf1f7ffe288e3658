package cli

import (
	"fmt"
	"strings"

	"cordelia/schemas"
)

// Fields are the names and values of one thing, one to a line.
type Fields struct{ Rows [][]Cell }

// Add appends a field; an empty value leaves it out.
func (f *Fields) Add(name, text string) { f.Styled(name, text, Plain) }

func (f *Fields) Styled(name, text string, s Style) {
	if text != "" {
		f.Rows = append(f.Rows, []Cell{{name, Dim}, {text, s}})
	}
}

// Rights appends what an agent may do.
func (f *Fields) Rights(c *schemas.Capabilities, g *schemas.Grants) {
	if c != nil {
		f.Add("reads", scope(c.MemoryRead))
		f.Add("writes", scope(c.MemoryWrite))
		f.Add("tools", Clean(strings.Join(c.Tools, ", ")))
		f.Add("parallel", fmt.Sprint(c.MaxParallelOps))
		if c.TTLSeconds > 0 {
			f.Add("lifetime", fmt.Sprintf("%d s", c.TTLSeconds))
		}
		f.Add("autonomous", yesNo(c.Autonomous))
		f.Add("delegation", fmt.Sprintf("depth %d", c.MaxDelegationDepth))
	}
	if g != nil {
		f.Add("groups", Clean(strings.Join(g.Groups, ", ")))
		f.Add("bonus groups", Clean(strings.Join(g.BonusGroups, ", ")))
		if g.AutoMerge {
			f.Add("merges", "without review what it brings back, once it proved reliable")
		}
		if g.Private != schemas.NoPrivate {
			f.Add("private", string(g.Private))
		}
	}
}

func scope(s schemas.MemoryScope) string {
	if len(s.Layers) == 0 {
		return "nothing"
	}
	text := strings.ToUpper(schemas.Joined(s.Layers)) + ": " + schemas.Joined(s.Visibility)
	if len(s.Groups) > 0 {
		text += "; groups " + strings.Join(s.Groups, ", ")
	}
	return Clean(text)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// List prints fields. Values are not cut: they are what was asked for.
func (a *App) List(f Fields) {
	a.Out.WriteString(f.Render(0, a.Colours())) //nolint:errcheck // as any print
}

// Render lays fields out, values folded to a terminal of width columns; 0 folds
// nothing.
func (f Fields) Render(width int, colours bool) string {
	names := 0
	for _, r := range f.Rows {
		names = max(names, Measure(r[0].Text))
	}
	room := 0
	if width > 0 {
		room = max(width-names-gap, NarrowFold)
	}
	var b strings.Builder
	for _, r := range f.Rows {
		name, indent := Paint(colours, r[0].style, r[0].Text), names-Measure(r[0].Text)
		for _, l := range Fold(r[1].Text, room) {
			b.WriteString(name + strings.Repeat(" ", indent+gap) + Paint(colours, r[1].style, l) + "\n")
			name, indent = "", names
		}
	}
	return b.String()
}

// NarrowFold is the least to which values are folded, in columns.
const NarrowFold = 20

// Fold breaks a text at blanks into lines of at most width columns, two or more, and
// words that are wider; 0 breaks nothing.
func Fold(text string, width int) (list []string) {
	for width > 0 && Measure(text) > width {
		used, at, blank := 0, 0, 0
		for i, r := range text {
			if used += runeWidth(r); used > width {
				at = i
				break
			}
			if r == ' ' {
				blank = i
			}
		}
		if text[at] == ' ' || blank == 0 {
			blank = at
		}
		list = append(list, strings.TrimRight(text[:blank], " "))
		text = strings.TrimLeft(text[blank:], " ")
	}
	return append(list, text)
}
