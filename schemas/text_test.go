package schemas

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		s     string
		limit int
		want  string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcdef", 5, "ab…"},
		{"aéüö", 6, "aé…"}, // é has two bytes: the cut falls before ü
		{"日本語", 8, "日…"},
		{"日本語", 1, "…"}, // never less than the mark
	} {
		got := Shorten(c.s, c.limit)
		require.Equal(t, c.want, got)
		require.True(t, utf8.ValidString(got))
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 memories wait", 1: "1 memory waits", 2: "2 memories wait"} {
		require.Equal(t, want, Count(n, "memory waits", "memories wait"))
	}
}
