package ops

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// hidden reports whether r can change how text reads without being seen: C0 and
// C1 controls, bidi and zero-width marks, and the tag characters that can carry
// a message no person sees.
func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r == 0x061c:
		return true
	case r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
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
