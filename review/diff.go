package review

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cordelia/memory"
)

// Line is one line of a difference: Op is "+" for what an approval adds, "-" for
// what the item it is compared with says instead, " " for both.
type Line struct {
	Op   string `json:"op"`
	Text string `json:"text"`
}

// most cells of the table that finds what two texts have in common.
const maxCells = 1 << 20

// difference compares two texts line by line: a longest common subsequence between
// what is alike at both ends.
func difference(before, after []string) []Line {
	var head, tail int
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	a, b := before[head:len(before)-tail], after[head:len(after)-tail]
	out := lines(" ", before[:head])
	if len(a)*len(b) > maxCells {
		out = append(append(out, lines("-", a)...), lines("+", b)...)
	} else {
		out = append(out, subsequence(a, b)...)
	}
	return append(out, lines(" ", before[len(before)-tail:])...)
}

func subsequence(a, b []string) (out []Line) {
	width := len(b) + 1
	common := make([]int, (len(a)+1)*width) // of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out, i, j = append(out, Line{" ", a[i]}), i+1, j+1
		case j == len(b) || i < len(a) && common[(i+1)*width+j] >= common[i*width+j+1]:
			out, i = append(out, Line{"-", a[i]}), i+1
		default:
			out, j = append(out, Line{"+", b[j]}), j+1
		}
	}
	return out
}

func lines(op string, texts []string) []Line {
	out := make([]Line, len(texts))
	for i, t := range texts {
		out[i] = Line{op, t}
	}
	return out
}

// shownLine is how much of a line a list shows, in runes.
const shownLine = 160

// changed is the first lines of d that differ, at most n and one of each side
// first, shortened.
func changed(d []Line, n int) (out []Line) {
	for _, op := range []string{"-", "+", "+"} {
		for _, l := range d {
			if l.Op != op || len(out) == n || slices.Contains(out, short(l)) {
				continue
			}
			out = append(out, short(l))
			break
		}
	}
	return out
}

// showsAll reports whether the lines shown hold all of what full says is new. What
// is the same as before is not shown in a list.
func showsAll(shown, full []Line) bool {
	gone := func(l Line) bool { return l.Op == "-" }
	return slices.Equal(slices.DeleteFunc(slices.Clone(shown), gone), slices.DeleteFunc(slices.Clone(full), gone))
}

func short(l Line) Line {
	if runes := []rune(l.Text); len(runes) > shownLine {
		l.Text = string(runes[:shownLine]) + "…"
	}
	return l
}

// shownLines lays out all that an item says, what it says that is about, and how sure
// of it its author is, if not as usual: what is sure comes first in searches.
func shownLines(i memory.Item) []string {
	out := readableLines(i.Data)
	if i.Confidence*1000 != memory.DefaultConfidence {
		out = append(out, fieldLines("held with confidence", i.Confidence)...)
	}
	for _, field := range [][2]string{{"for subject", i.Subject}, {"for key", i.Key}, {"valid from", i.ValidFrom},
		{"valid to", i.ValidTo}} {
		if field[1] != "" {
			out = append(out, fieldLines(field[0], field[1])...)
		}
	}
	return out
}

// readableLines lays the data of an item out in lines, its fields in order.
func readableLines(data json.RawMessage) []string {
	var value map[string]any
	if json.Unmarshal(data, &value) != nil {
		return []string{string(data)}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(value)) {
		out = append(out, fieldLines(name, value[name])...)
	}
	return out
}

func fieldLines(name string, value any) (out []string) {
	switch v := value.(type) {
	case string:
		for i, line := range strings.Split(v, "\n") {
			if i > 0 {
				name = strings.Repeat(" ", len(name)-1) + "|"
			}
			out = append(out, name+": "+line)
		}
	case []any:
		for _, element := range v {
			out = append(out, fieldLines(name, element)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, fieldLines(name+"."+key, v[key])...)
		}
	default:
		out = append(out, fmt.Sprintf("%s: %v", name, v))
	}
	return out
}
