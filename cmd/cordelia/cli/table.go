package cli

import (
	"slices"
	"strings"
	"unicode"
)

// Cell is a text of a table and how it is shown.
type Cell struct {
	Text  string
	style Style
}

// Table is rows under a head. Its text must be clean. The first firm columns,
// such as ids to copy, are cut only when nothing else is left to cut.
type Table struct {
	Head []string
	Rows [][]Cell
	Firm int
}

func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Text makes a plain cell.
func Text(text string) Cell { return Cell{Text: text} }

// Styled makes a cell that is shown in a style.
func Styled(text string, s Style) Cell { return Cell{text, s} }

// Texts makes plain cells.
func Texts(s ...string) []Cell {
	cells := make([]Cell, len(s))
	for i, text := range s {
		cells[i].Text = text
	}
	return cells
}

const (
	gap       = 2 // blanks between columns
	narrowest = 6 // to which a column is cut
)

// Print writes the table, cut to a terminal's width.
func (a *App) Print(t Table) {
	a.Out.WriteString(t.Render(Columns(a.Out), a.Colours())) //nolint:errcheck // as any print
}

// Render lays the table out for a terminal of width columns; 0 cuts nothing.
// Columns that are empty in every row are left out.
func (t Table) Render(width int, colours bool) string {
	t = t.withoutEmpty()
	widths := make([]int, len(t.Head))
	for i, h := range t.Head {
		widths[i] = Measure(h)
		for _, r := range t.Rows {
			widths[i] = max(widths[i], Measure(r[i].Text))
		}
	}
	fit(widths, width, t.Firm)
	var b strings.Builder
	head := make([]Cell, len(t.Head))
	for i, h := range t.Head {
		head[i] = Cell{h, Bold}
	}
	line(&b, head, widths, colours)
	for _, r := range t.Rows {
		line(&b, r, widths, colours)
	}
	return b.String()
}

func (t Table) withoutEmpty() Table {
	var keep []int
	for i := range t.Head {
		for _, r := range t.Rows {
			if r[i].Text != "" {
				keep = append(keep, i)
				break
			}
		}
	}
	out := Table{}
	for _, i := range keep {
		out.Head = append(out.Head, t.Head[i])
		if i < t.Firm {
			out.Firm++
		}
	}
	for _, r := range t.Rows {
		var cells []Cell
		for _, i := range keep {
			cells = append(cells, r[i])
		}
		out.Rows = append(out.Rows, cells)
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

func line(b *strings.Builder, cells []Cell, widths []int, colours bool) {
	blanks := 0 // due before the next text, so that no line ends in blanks
	for i, c := range cells {
		text := Cut(c.Text, widths[i])
		if text != "" {
			b.WriteString(strings.Repeat(" ", blanks) + Paint(colours, c.style, text))
			blanks = 0
		}
		blanks += widths[i] - Measure(text) + gap
	}
	b.WriteByte('\n')
}

// Cut shortens s to width columns.
func Cut(s string, width int) string {
	if Measure(s) <= width {
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

// Measure counts the columns a terminal gives s.
func Measure(s string) int {
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
