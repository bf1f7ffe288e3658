package rank

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"cordelia/memory/text"
	"cordelia/memory/wordvec"
)

// Each group is of at least two words, none of them twice, weak or a number: those stand for
// themselves alone.
func TestTheTradeIsWellFormed(t *testing.T) {
	groups := 0
	for line := range strings.Lines(trade) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		groups++
		var stems []string
		for _, w := range text.Words(line) {
			require.True(t, strings.ContainsFunc(w.Lower, unicode.IsLetter), line)
			require.Equal(t, w.Lower, strings.ToLower(w.Lower))
			stems = append(stems, w.Term)
		}
		require.Len(t, stems, len(strings.Fields(line)), "a stop word: %s", line)
		slices.Sort(stems)
		require.Len(t, slices.Compact(slices.Clone(stems)), len(stems), "twice: %s", line)
		require.GreaterOrEqual(t, len(stems), 2, line)
		require.False(t, slices.ContainsFunc(stems, text.Weak), line)
	}
	require.Greater(t, groups, 1000)
}

// A word finds those of its groups, nearest first, the more alike the fewer a group has, and each
// fetches candidates: it is as near as a word has to be for that.
func TestKin(t *testing.T) {
	stem := func(w string) string { return text.Words(w)[0].Term }
	near := related(stem("linter"))
	at := func(w string) float64 {
		i := slices.IndexFunc(near, func(n wordvec.Near) bool { return n.Stem == stem(w) })
		require.GreaterOrEqual(t, i, 0, w)
		return near[i].Cosine
	}
	require.Greater(t, at("detekt"), wordvec.LeastNear)
	require.Greater(t, at("shellcheck"), at("detekt"), "of a smaller group")
	require.True(t, slices.IsSortedFunc(near, func(a, b wordvec.Near) int { return int((b.Cosine - a.Cosine) * 1e6) }))
	for _, n := range near {
		require.NotEqual(t, stem("linter"), n.Stem)
		require.NotContains(t, n.Stem, "\n")
	}
	for _, none := range []string{"", "lint_config", "zzzz", "部署", "linte"} {
		require.Empty(t, related(none), none)
	}
}

// A word that is alone with another in a group of the trade counts nearly as much as that, the more
// there are the less; and that a text is short adds nothing to it.
func TestWhatAWordOfTheTradeIsWorth(t *testing.T) {
	worth := func(question, held string, filler int) float64 {
		asked, other := text.Words(question)[0].Term, text.Words(held)[0].Term
		scores := ordered(asked, asked, Reader{}, said("itself", asked+strings.Repeat(" filler", filler)),
			said("other", other))
		require.Positive(t, scores["itself"])
		return scores["other"] / scores["itself"]
	}
	require.InDelta(t, 0.9, worth("missing", "notfound", 0), 0.05, "of two")
	require.InDelta(t, 0.6, worth("linter", "detekt", 0), 0.1, "of more")
	require.Less(t, worth("missing", "notfound", 60), 1.3)
}

func BenchmarkKin(b *testing.B) {
	for b.Loop() {
		related("databas")
	}
}
