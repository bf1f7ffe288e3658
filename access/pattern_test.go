package access

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func TestCheckPattern(t *testing.T) {
	tests := []struct {
		name, pattern string
		ok            bool
	}{
		{"plain id", "seed-drill", true},
		{"star alone", "*", true},
		{"every symbol", "a.b_c-9*", true},
		{"eight stars", "*a*b*c*d*e*f*g*", true},
		{"repeated stars count once", strings.Repeat("*", 128), true},
		{"longest", strings.Repeat("a", 128), true},
		{"empty", "", false},
		{"too long", strings.Repeat("a", 129), false},
		{"nine stars", "*a*b*c*d*e*f*g*h*", false},
		{"starts with a dash", "-a", false},
		{"starts with a dot", ".a", false},
		{"starts with an underscore", "_a", false},
		{"upper case", "Swarm", false},
		{"homoglyph", "sw\u0430rm", false},
		{"trailing newline", "swarm\n", false},
		{"question mark", "swarm-?", false},
		{"slash", "a/b", false},
		{"invalid UTF-8", "a\xff", false},
		{"nul", "a\x00", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckPattern(tt.pattern)
			require.Equal(t, tt.ok, err == nil, "%v", err)
			if err != nil {
				require.ErrorIs(t, err, schemas.ErrInvalid)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	tests := []struct {
		q, p string
		want bool
	}{
		{"swarm-*", "swarm-1", true},
		{"swarm-*", "swarm-", true},
		{"swarm-*", "swarm", false},
		{"swarm-1", "swarm-1*", false},
		{"ab*ba", "aba", false},
		{"ab*ba", "abba", true},
		{"*a*b*", "*ab*", true},
		{"*ab*", "*a*b*", false},
		{"team.a*", "teamxa1", false},
		{"*", "", true},
		{"", "", true},
		{"", "a", false},
		{"a**b", "a*b", true},
		{"a*b", "a**b", true},
		{"*b", "*b*", false},
		{"a*b*c", "a*b*b*c", true},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, Covers(tt.q, tt.p), "Covers(%q, %q)", tt.q, tt.p)
	}
}

func TestPatternsNeverReachStagingOrSystemGroups_INV_RESERVED(t *testing.T) {
	tests := []struct {
		patterns []string
		group    schemas.GroupID
		kind     string
		want     bool
	}{
		{[]string{"*"}, "staging-a", GroupStaging, false},
		{[]string{"*"}, "staging-a", "", false},
		{[]string{"*"}, "system-a", "", false},
		{[]string{"staging-*"}, "staging-a", GroupStaging, false},
		{[]string{"*"}, "odd-name", GroupStaging, false},
		{[]string{"*"}, "odd-name", GroupSystem, false},
		{[]string{"*", "staging-a"}, "staging-a", GroupStaging, true},
		{[]string{"odd-name"}, "odd-name", GroupSystem, true},
		{[]string{"*"}, "staging", "", true}, // the name alone is not reserved
		{[]string{"*"}, "team", "", true},
		{[]string{"*"}, "", "", false},
		{[]string{"*"}, "Team", "", false},
		{[]string{"a*"}, "a*", "", false}, // no group id
		{nil, "team", "", false},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, MatchesGroup(tt.patterns, tt.group, tt.kind), "%+v", tt)
	}
	require.False(t, CoveredBy([]string{"*"}, "staging-a"), "a star must not hand down a reserved name")
	require.True(t, CoveredBy([]string{"staging-a"}, "staging-a"))
	require.True(t, CoveredBy([]string{"*"}, "staging-*"), "a pattern that reaches nothing may be handed down")
}

// FuzzCovers checks Covers against regular expressions: q covers p exactly when q
// matches p with a letter for its stars that is no literal of q.
func FuzzCovers(f *testing.F) {
	for _, pair := range [][2]string{
		{"ab*ba", "aba"}, {"*a*b*", "*ab*"}, {"swarm-1", "swarm-1*"}, {"swarm-*", "swarm-a*"},
		{"team.a*", "teamxa1"}, {"**", "*"}, {"a*b", "a**b"}, {"s*m-*", "swarm-*"}, {"*", "a"},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, q, p string) {
		if CheckPattern(q) != nil || CheckPattern(p) != nil {
			t.Skip()
		}
		const letters = "abcdefghijklmnopqrstuvwxyz0123456789._-"
		fresh := strings.IndexFunc(letters, func(r rune) bool { return !strings.ContainsRune(q, r) })
		if fresh < 0 {
			t.Skip()
		}
		language := regexp.MustCompile(`\A` + strings.ReplaceAll(regexp.QuoteMeta(q), `\*`, `[a-z0-9._-]*`) + `\z`)
		covers := Covers(q, p)
		witness := strings.ReplaceAll(p, "*", letters[fresh:fresh+1])
		require.Equal(t, language.MatchString(witness), covers, "Covers(%q, %q), witness %q", q, p, witness)
		if covers {
			for _, run := range []string{"", "a", "z-9", q} {
				member := strings.ReplaceAll(p, "*", strings.ReplaceAll(run, "*", ""))
				require.True(t, language.MatchString(member), "%q covers %q but not its member %q", q, p, member)
			}
		}
	})
}

// TestCoversExhaustively runs every pair of short patterns through the check of
// FuzzCovers, so that it does not hang on what a fuzzer happens to find.
func TestCoversExhaustively(t *testing.T) {
	patterns := []string{""}
	for start := 0; len(patterns[len(patterns)-1]) < 4; {
		end := len(patterns)
		for _, p := range patterns[start:end] {
			patterns = append(patterns, p+"a", p+"b", p+"*")
		}
		start = end
	}
	for _, q := range patterns {
		language := regexp.MustCompile(`\A` + strings.ReplaceAll(q, "*", "[abz]*") + `\z`)
		for _, p := range patterns {
			witness := strings.ReplaceAll(p, "*", "z")
			if language.MatchString(witness) != Covers(q, p) {
				t.Fatalf("Covers(%q, %q) = %t", q, p, Covers(q, p))
			}
		}
	}
}
