package main

import (
	"slices"
	"strings"
	"unicode"
)

// cell is a text of a table and how it is shown.
type cell struct {
	text  string
	style style
}

// table is rows under a head. Its text must be clean. The first firm columns,
// such as ids to copy, are cut only when nothing else is left to cut.
type table struct {
	head []string
	rows [][]cell
	firm int
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// texts makes plain cells.
func texts(s ...string) []cell {
	cells := make([]cell, len(s))
	for i, text := range s {
		cells[i].text = text
	}
	return cells
}

const (
	gap       = 2 // blanks between columns
	narrowest = 6 // to which a column is cut
)

// print writes the table, cut to a terminal's width.
func (a *app) print(t table) {
	a.out.WriteString(t.render(columns(a.out), a.colours())) //nolint:errcheck // as any print
}

// render lays the table out for a terminal of width columns; 0 cuts nothing.
// Columns that are empty in every row are left out.
func (t table) render(width int, colours bool) string {
	t = t.withoutEmpty()
	widths := make([]int, len(t.head))
	for i, h := range t.head {
		widths[i] = measure(h)
		for _, r := range t.rows {
			widths[i] = max(widths[i], measure(r[i].text))
		}
	}
	fit(widths, width, t.firm)
	var b strings.Builder
	head := make([]cell, len(t.head))
	for i, h := range t.head {
		head[i] = cell{h, bold}
	}
	line(&b, head, widths, colours)
	for _, r := range t.rows {
		line(&b, r, widths, colours)
	}
	return b.String()
}

func (t table) withoutEmpty() table {
	var keep []int
	for i := range t.head {
		for _, r := range t.rows {
			if r[i].text != "" {
				keep = append(keep, i)
				break
			}
		}
	}
	out := table{}
	for _, i := range keep {
		out.head = append(out.head, t.head[i])
		if i < t.firm {
			out.firm++
		}
	}
	for _, r := range t.rows {
		var cells []cell
		for _, i := range keep {
			cells = append(cells, r[i])
		}
		out.rows = append(out.rows, cells)
	}
	return out
}

// fit takes from the widest column until the table is as wide as the terminal,
// the firm columns last.
func fit(widths []int, width, firm int) {
	if width <= 0 {
		return
	}
	excess := gap*(len(widths)-1) - width
	for _, w := range widths {
		excess += w
	}
	for _, part := range [][]int{widths[firm:], widths} {
		for ; excess > 0 && len(part) > 0; excess-- {
			widest := slices.Index(part, slices.Max(part))
			if part[widest] <= narrowest {
				break
			}
			part[widest]--
		}
	}
}

func line(b *strings.Builder, cells []cell, widths []int, colours bool) {
	blanks := 0 // due before the next text, so that no line ends in blanks
	for i, c := range cells {
		text := cut(c.text, widths[i])
		if text != "" {
			b.WriteString(strings.Repeat(" ", blanks) + paint(colours, c.style, text))
			blanks = 0
		}
		blanks += widths[i] - measure(text) + gap
	}
	b.WriteByte('\n')
}

// cut shortens s to width columns.
func cut(s string, width int) string {
	if measure(s) <= width {
		return s
	}
	var b strings.Builder
	used := 0
	for _, r := range s {
		if w := runeWidth(r); used+w < width {
			b.WriteRune(r)
			used += w
			continue
		}
		break
	}
	return b.String() + "…"
}

// measure counts the columns a terminal gives s.
func measure(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth follows Unicode's East Asian Width (UAX #11) as far as it matters:
// ideographs, kana, hangul, full-width forms and emoji are two columns wide.
func runeWidth(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r):
		return 0
	case r < 0x1100:
		return 1
	case r <= 0x115f, r >= 0x2e80 && r <= 0x303e, r >= 0x3041 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1f64f, r >= 0x1f680 && r <= 0x1f6ff, r >= 0x1f900 && r <= 0x1faff, r >= 0x20000 &&
			r <= 0x3fffd:
		return 2
	}
	return 1
}
