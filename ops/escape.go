package ops

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden reports whether r can change how text reads without being seen:
// controls, marks of direction and width, fillers, and the tags and variation
// selectors that can carry a message no person sees. The two selectors that
// choose how an emoji looks stay, and the number signs that are seen.
func hidden(r rune) bool {
	if r < 0x7f {
		return r < 0x20 && r != '\n' && r != '\t'
	}
	return r != 0xfe0e && r != 0xfe0f && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Escape makes hidden characters of agents' text visible, as \u{…}.
func Escape(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, `\u{%x}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// EscapeJSON writes the hidden characters inside a JSON text as JSON escapes:
// the value stays the same, the bytes hide nothing.
func EscapeJSON(raw []byte) []byte {
	s := string(raw)
	if strings.IndexFunc(s, hidden) < 0 {
		return raw
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}
