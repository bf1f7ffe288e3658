package schemas

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Boundary moves at, an index of s, back to where a character begins.
func Boundary(s string, at int) int {
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}

// Shorten is s in at most limit bytes, cut between two characters; what is cut ends
// with a mark, which has three.
func Shorten(s string, limit int) string {
	const mark = "…"
	if len(s) <= limit {
		return s
	}
	return s[:Boundary(s, max(limit-len(mark), 0))] + mark
}

// WithoutNUL is s with a sign in the place of each character NUL, which PostgreSQL keeps in no text.
// Programs print it, and what they print is kept on every engine.
func WithoutNUL(s string) string { return strings.ReplaceAll(s, "\x00", "␀") }

// JSONWithoutNUL is WithoutNUL of JSON, which can only write the character as \u0000; behind an
// odd number of backslashes that is text.
func JSONWithoutNUL(text []byte) []byte {
	sign := []byte(`\u0000`)
	var out []byte
	for {
		at := bytes.Index(text, sign)
		if at < 0 {
			return append(out, text...)
		}
		before := at
		for before > 0 && text[before-1] == '\\' {
			before--
		}
		if out = append(out, text[:at]...); (at-before)%2 == 0 {
			out = append(out, "␀"...)
		} else {
			out = append(out, sign...)
		}
		text = text[at+len(sign):]
	}
}

// HasNUL reports whether JSON holds the character NUL.
func HasNUL(text []byte) bool { return len(JSONWithoutNUL(text)) != len(text) }

// Count says how many there are, in the words for one or for any other number, which
// carry their verb with them where there is one.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
