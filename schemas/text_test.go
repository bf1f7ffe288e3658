package schemas

import (
	"encoding/json"
	"fmt"
	"strings"
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

func TestJSONWithoutNUL(t *testing.T) {
	for in, want := range map[string]string{
		`{"a\u0000":"\u0000b\u0000"}`:  `{"a␀":"␀b␀"}`,
		`"\\u0000 \\\u0000 \\\\u0000"`: `"\\u0000 \\␀ \\\\u0000"`,
		`"\u0000\u0000\\u0000\u00001"`: `"␀␀\\u0000␀1"`,
		`"none\u0001"`:                 `"none\u0001"`,
	} {
		require.Equal(t, want, string(JSONWithoutNUL([]byte(in))))
		require.Equal(t, in != want, HasNUL([]byte(in)))
		var with, without any
		require.NoError(t, json.Unmarshal([]byte(in), &with))
		require.NoError(t, json.Unmarshal([]byte(want), &without))
		sign := strings.ReplaceAll(fmt.Sprint(with), "\x00", "␀")
		require.Equal(t, sign, fmt.Sprint(without))
	}
	e := NewEvidence("b\x00", "cat \x00", 0, strings.Repeat("\x00", 3*EvidenceEnd))
	require.Equal(t, "b␀", e.Tool)
	require.Equal(t, "cat ␀", e.Input)
	require.LessOrEqual(t, max(len(e.Head), len(e.Tail)), EvidenceEnd)
	require.NotContains(t, e.Head+e.Tail, "\x00")
}
