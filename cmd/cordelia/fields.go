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
	width := 0
	for _, r := range f.rows {
		width = max(width, measure(r[0].text))
	}
	colours := a.colours()
	for _, r := range f.rows {
		a.say("%s%s  %s", paint(colours, r[0].style, r[0].text), strings.Repeat(" ", width-measure(r[0].text)), paint(colours, r[1].style, r[1].text))
	}
}
