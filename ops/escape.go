package ops

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
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
	return r != 0xfe0e && r != 0xfe0f && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) &&
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
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

// Line is agents' text in one line, with what is hidden in it made visible.
func Line(s string) string { return Escape(strings.Join(strings.Fields(s), " ")) }

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

// ShowJSON makes the hidden characters of the texts inside a JSON text visible, as
// Escape does, however they are written there. For readers that show a model the
// decoded values; what must stay exact takes EscapeJSON.
func ShowJSON(raw []byte) []byte {
	s := string(raw)
	if strings.IndexFunc(s, hidden) < 0 && !strings.Contains(s, `\`) {
		return raw
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := decodeJSON(s)
		if hidden(r) {
			fmt.Fprintf(&b, `\\u{%x}`, r)
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return []byte(b.String())
}

// decodeJSON gives the character that s, within valid JSON, begins with, and how many
// bytes it takes there.
func decodeJSON(s string) (r rune, size int) {
	if s[0] != '\\' || len(s) < 2 {
		return utf8.DecodeRuneInString(s)
	}
	if at := strings.IndexByte("bfr", s[1]); at >= 0 {
		return rune("\b\f\r"[at]), 2
	} else if s[1] != 'u' {
		return ' ', 2 // nothing hidden
	}
	unit := func(at int) rune {
		if len(s) < at+6 || s[at:at+2] != `\u` {
			return utf8.RuneError
		}
		n, err := strconv.ParseUint(s[at+2:at+6], 16, 16)
		if err != nil {
			return utf8.RuneError
		}
		return rune(n)
	}
	first := unit(0)
	if pair := utf16.DecodeRune(first, unit(6)); utf16.IsSurrogate(first) && pair != utf8.RuneError {
		return pair, 12
	}
	return first, min(6, len(s))
}
