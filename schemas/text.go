package schemas

import (
	"fmt"
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

// Count says how many there are, in the words for one or for any other number, which
// carry their verb with them where there is one.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
