package main

import (
	"fmt"
	"strings"

	"cordelia/schemas"
)

// fields are the names and values of one thing, one to a line.
type fields struct{ rows [][]cell }

// add appends a field; an empty value leaves it out.
func (f *fields) add(name, text string) { f.styled(name, text, plain) }

func (f *fields) styled(name, text string, s style) {
	if text != "" {
		f.rows = append(f.rows, []cell{{name, dim}, {text, s}})
	}
}

// rights appends what an agent may do.
func (f *fields) rights(c *schemas.Capabilities, g *schemas.Grants) {
	if c != nil {
		f.add("reads", scope(c.MemoryRead))
		f.add("writes", scope(c.MemoryWrite))
		f.add("tools", clean(strings.Join(c.Tools, ", ")))
		f.add("parallel", fmt.Sprint(c.MaxParallelOps))
		if c.TTLSeconds > 0 {
			f.add("lifetime", fmt.Sprintf("%d s", c.TTLSeconds))
		}
		f.add("autonomous", yesNo(c.Autonomous))
		f.add("delegation", fmt.Sprintf("depth %d", c.MaxDelegationDepth))
	}
	if g != nil {
		f.add("groups", clean(strings.Join(g.Groups, ", ")))
		f.add("bonus groups", clean(strings.Join(g.BonusGroups, ", ")))
		if g.AutoMerge {
			f.add("merges", "without review what it brings back, once it proved reliable")
		}
		if g.Private != schemas.NoPrivate {
			f.add("private", string(g.Private))
		}
	}
}

func scope(s schemas.MemoryScope) string {
	if len(s.Layers) == 0 {
		return "nothing"
	}
	text := strings.ToUpper(names(s.Layers)) + ": " + names(s.Visibility)
	if len(s.Groups) > 0 {
		text += "; groups " + strings.Join(s.Groups, ", ")
	}
	return clean(text)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// list prints fields. Values are not cut: they are what was asked for.
func (a *app) list(f fields) {
	a.out.WriteString(f.render(0, a.colours())) //nolint:errcheck // as any print
}

// render lays fields out, values folded to a terminal of width columns; 0 folds
// nothing.
func (f fields) render(width int, colours bool) string {
	names := 0
	for _, r := range f.rows {
		names = max(names, measure(r[0].text))
	}
	room := 0
	if width > 0 {
		room = max(width-names-gap, narrowFold)
	}
	var b strings.Builder
	for _, r := range f.rows {
		name, indent := paint(colours, r[0].style, r[0].text), names-measure(r[0].text)
		for _, l := range fold(r[1].text, room) {
			b.WriteString(name + strings.Repeat(" ", indent+gap) + paint(colours, r[1].style, l) + "\n")
			name, indent = "", names
		}
	}
	return b.String()
}

// narrowFold is the least to which values are folded, in columns.
const narrowFold = 20

// fold breaks a text at blanks into lines of at most width columns, two or more, and
// words that are wider; 0 breaks nothing.
func fold(text string, width int) (list []string) {
	for width > 0 && measure(text) > width {
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
