package pipeline

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// repairEffort bounds the search for ways to read the broken objects of an answer,
// in bytes looked at or copied.
const repairEffort = 8 << 20

// repair reads the broken object at the start of s whose strings hold quotes or
// line breaks that were not escaped. It gives the object as JSON and how much of
// s it took, and an error unless there is exactly one way to read it as a typ, or
// none at all and one to read it as JSON.
//
// A quote ends a string only where what follows could follow a string. A string
// that needed no mending ends at its first quote, as any parser reads it; one
// that did might end at any of them, except that it never runs over the start of
// a member whose name is known.
func repair(s string, typ reflect.Type, effort *int) (text []byte, length int, err error) {
	r := repairer{s: s, names: fieldNames(typ), left: effort}
	var read, matching []way
	for _, w := range r.value(0, 0) {
		if !valid(w.text) || slices.ContainsFunc(read, func(o way) bool { return bytes.Equal(o.text, w.text) }) {
			continue
		}
		if !r.spend(len(w.text)) {
			break
		}
		read = append(read, w)
		if _, bad := fit(w.text, typ); len(bad) == 0 {
			matching = append(matching, w)
		}
	}
	if len(matching) > 0 {
		read = matching
	}
	switch {
	case *effort < 0:
		return nil, 0, wrong("an object in the answer is broken in too many places")
	case len(read) == 0:
		return nil, 0, wrong("an object in the answer is not JSON: %s", brokenAt(s))
	case len(read) > 1:
		return nil, 0, wrong("an object in the answer has unescaped quotes and could be read in several ways")
	}
	return read[0].text, read[0].end, nil
}

func valid(text []byte) bool { _, _, err := leading(string(text)); return err == nil }

func brokenAt(s string) string {
	d := jsontext.NewDecoder(strings.NewReader(s))
	if _, err := d.ReadValue(); err != nil {
		return fmt.Sprintf("it breaks off or goes wrong after byte %d of it", d.InputOffset())
	}
	return "it is not as it should be"
}

// way is one way to read a value: what it says and where it ends.
type way struct {
	text []byte
	end  int
}

type repairer struct {
	s     string
	names map[string]bool
	left  *int
}

// spend takes from what is left, false when it is used up.
func (r *repairer) spend(n int) bool { *r.left -= n; return *r.left >= 0 }

// position is where a string stands, which decides what may follow it.
type position int

const (
	inArray position = iota
	asName
	asMember
)

func (r *repairer) space(i int) int {
	for i < len(r.s) && strings.IndexByte(" \t\r\n", r.s[i]) >= 0 {
		i++
	}
	return i
}

func (r *repairer) at(i int, c byte) bool { return i < len(r.s) && r.s[i] == c }

func (r *repairer) value(i, depth int) []way { return r.valueIn(i, depth, asMember) }

func (r *repairer) valueIn(i, depth int, in position) []way {
	if !r.spend(1) || depth > MaxDepth || i >= len(r.s) {
		return nil
	}
	switch r.s[i] {
	case '"':
		return r.str(i, in)
	case '{':
		return r.list(i, depth, '}')
	case '[':
		return r.list(i, depth, ']')
	}
	end := i
	for end < len(r.s) && strings.IndexByte(",]} \t\r\n\"", r.s[end]) < 0 {
		end++
	}
	if !valid([]byte(r.s[i:end])) {
		return nil
	}
	return []way{{[]byte(r.s[i:end]), end}}
}

// list reads an object or an array: every way to read an element goes on by
// itself.
func (r *repairer) list(i, depth int, closer byte) (done []way) {
	i0 := r.space(i + 1)
	open := []way{{[]byte{r.s[i]}, i0}}
	if r.at(i0, closer) {
		return []way{{append(open[0].text, closer), i0 + 1}}
	}
	for len(open) > 0 {
		var next []way
		for _, w := range open {
			for _, e := range r.element(w.end, depth+1, closer) {
				if !r.spend(len(w.text) + len(e.text)) {
					return nil
				}
				text := append(append([]byte{}, w.text...), e.text...)
				switch after := r.space(e.end); {
				case r.at(after, closer):
					done = append(done, way{append(text, closer), after + 1})
				case r.at(after, ','):
					next = append(next, way{append(text, ','), r.space(after + 1)})
				}
			}
		}
		open = next
	}
	return done
}

func (r *repairer) element(i, depth int, closer byte) (out []way) {
	if closer == ']' {
		return r.valueIn(i, depth, inArray)
	}
	if !r.at(i, '"') {
		return nil
	}
	for _, name := range r.str(i, asName) {
		colon := r.space(name.end)
		if !r.at(colon, ':') {
			continue
		}
		for _, v := range r.valueIn(r.space(colon+1), depth, asMember) {
			out = append(out, way{append(append(append([]byte{}, name.text...), ':'), v.text...), v.end})
		}
	}
	return out
}

// str gives the ways in which the string at i may end.
func (r *repairer) str(i int, in position) (out []way) {
	text := []byte{'"'}
	mended := false
	for j := i + 1; j < len(r.s); j++ {
		if !r.spend(1) {
			return nil
		}
		switch c := r.s[j]; {
		case c == '\\' && j+1 < len(r.s):
			text = append(text, c, r.s[j+1])
			j++
		case c == '"':
			ends, known := r.endsAt(j, in)
			if ends && !r.spend(len(text)) {
				return nil
			}
			if ends {
				out = append(out, way{append(append([]byte{}, text...), '"'), j + 1})
				if !mended || known || in == asName {
					return out
				}
			}
			mended = true
			text = append(text, '\\', '"')
		case c < 0x20:
			text = fmt.Appendf(text, `\u%04x`, c)
		default:
			text = append(text, c)
		}
	}
	return out
}

// endsAt reports whether a string could end with the quote at j, and whether it
// must, because a known member begins after it.
func (r *repairer) endsAt(j int, in position) (ends, known bool) {
	k := r.space(j + 1)
	switch {
	case in == asName:
		return r.at(k, ':'), false
	case in == inArray && r.at(k, ']'), in == asMember && r.at(k, '}'):
		return true, false
	case !r.at(k, ','):
		return false, false
	case in == inArray:
		return true, false
	}
	name := r.space(k + 1)
	if !r.at(name, '"') {
		return false, false
	}
	quote := strings.IndexByte(r.s[name+1:], '"')
	if quote < 0 {
		return false, false
	}
	after := r.space(name + 1 + quote + 1)
	return r.at(after, ':'), r.at(after, ':') && r.names[r.s[name+1:name+1+quote]]
}
