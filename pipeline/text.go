package pipeline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// exact is a text without case, width, outer punctuation and extra spacing. What
// stands within, such as the sign of a number, makes a difference.
func exact(s string) string {
	return strings.TrimFunc(strings.Join(strings.Fields(strings.Map(fold, s)), " "), unicode.IsPunct)
}

// normal is a text without what does not change its meaning: case, width,
// punctuation and spacing, of which there is none within a script that has none.
func normal(s string) string {
	var out []byte
	for _, w := range wordsIn(s) {
		before, _ := utf8.DecodeLastRune(out)
		after, _ := utf8.DecodeRuneInString(w)
		if len(out) > 0 && !(unspaced(before) && unspaced(after)) {
			out = append(out, ' ')
		}
		out = append(out, w...)
	}
	return string(out)
}

func fold(r rune) rune {
	if r >= '！' && r <= '～' { // full width
		r -= '！' - '!'
	}
	return unicode.ToLower(r)
}

// wordsIn splits at characters that are neither letter, mark nor digit.
func wordsIn(s string) []string {
	return strings.FieldsFunc(strings.Map(fold, s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '_'
	})
}

// unspaced reports scripts that are written without spaces between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar) || r == 'ー'
}

// fillers are words that texts on any subject share.
const fillers = " a an and any are as at be by for from has have in into is it its not of on or so that the then " +
	"these this to use using was were which with "

// terms are the words of a text, without fillers; runs of a script without spaces give each pair
// of neighbouring characters, or the one there is.
func terms(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range wordsIn(s) {
		var run, word []rune
		flush := func() {
			if len(word) > 0 && !strings.Contains(fillers, " "+string(word)+" ") {
				out[string(word)] = true
			}
			if len(run) == 1 {
				out[string(run)] = true
			}
			for i := range len(run) - 1 {
				out[string(run[i:i+2])] = true
			}
			run, word = run[:0], word[:0]
		}
		for _, r := range w {
			switch {
			case unspaced(r) && len(word) > 0, !unspaced(r) && len(run) > 0:
				flush()
			}
			if unspaced(r) {
				run = append(run, r)
			} else {
				word = append(word, r)
			}
		}
		flush()
	}
	return out
}

// jaccard is how much of two sets is in both, 0–1; two empty ones are alike.
func jaccard(a, b map[string]bool) float64 {
	both := common(a, b)
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 1
}

func common(a, b map[string]bool) (n int) {
	for t := range a {
		if b[t] {
			n++
		}
	}
	return n
}
