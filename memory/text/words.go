package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what one item puts into the index.
const (
	maxTermBytes = 64   // longer words are cut; hashes and data stay findable by their start
	maxTerms     = 4000 // of one item, in order
	maxGrams     = 2000 // distinct, of one item
)

// Word is one word of a text.
type Word struct {
	Lower string // as written, in lower case
	Term  string // its stem: what the index holds
}

// Words cuts s into words. Runs of letters and digits are words; an identifier
// is a word and so are its parts; scripts without blanks give overlapping pairs.
// Stop words are left out. It needs no language but English, and loses nothing
// but comfort in others.
func Words(s string) []Word {
	var out []Word
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return !wordRune(r) }) {
		out = appendRun(out, run)
		if len(out) >= maxTerms {
			return out[:maxTerms]
		}
	}
	return out
}

func wordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// appendRun appends the words of one run of word runes.
func appendRun(out []Word, run string) []Word {
	for run != "" {
		cut := strings.IndexFunc(run, unspaced)
		if cut < 0 {
			return appendSpaced(out, run)
		}
		out = appendSpaced(out, run[:cut])
		run = run[cut:]
		end := strings.IndexFunc(run, func(r rune) bool { return !unspaced(r) })
		if end < 0 {
			end = len(run)
		}
		out = appendPairs(out, run[:end])
		run = run[end:]
	}
	return out
}

// unspaced reports whether r belongs to a script written without blanks.
func unspaced(r rune) bool {
	return r > 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai,
		unicode.Khmer, unicode.Lao, unicode.Myanmar)
}

func appendPairs(out []Word, run string) []Word {
	runes := []rune(run)
	if len(runes) == 1 {
		return append(out, Word{run, run})
	}
	for i := range len(runes) - 1 {
		pair := string(runes[i : i+2])
		out = append(out, Word{pair, pair})
	}
	return out
}

func appendSpaced(out []Word, run string) []Word {
	run = strings.Trim(run, "_")
	if run == "" {
		return out
	}
	lower := clip(strings.ToLower(run))
	if !stopWord(lower) {
		out = append(out, Word{lower, stem(lower)})
	}
	if parts := identifierParts(run); len(parts) > 1 {
		for _, p := range parts {
			if p = clip(strings.ToLower(p)); len(p) > 1 && !stopWord(p) {
				out = append(out, Word{p, stem(p)})
			}
		}
	}
	return out
}

// clip cuts s to maxTermBytes at a rune border.
func clip(s string) string {
	if len(s) <= maxTermBytes {
		return s
	}
	return strings.ToValidUTF8(s[:maxTermBytes], "")
}

// identifierParts splits snake_case, camelCase and HTTPServer.
func identifierParts(s string) []string {
	var parts []string
	runes := []rune(s)
	start := 0
	flush := func(end int) {
		if end > start {
			parts = append(parts, string(runes[start:end]))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case r == '_':
			flush(i)
			start = i + 1
		case i > 0 && unicode.IsUpper(r) && unicode.IsLower(runes[i-1]),
			i > 0 && i+1 < len(runes) && unicode.IsUpper(r) && unicode.IsUpper(runes[i-1]) &&
				unicode.IsLower(runes[i+1]):
			flush(i)
		}
	}
	flush(len(runes))
	return parts
}

// Grams gives the distinct letter triples of the words, for what is misspelt or
// only part of a word; the ends of a word count as a letter.
func Grams(words []Word) []string {
	likely := min(6*len(words), maxGrams) // a word has some six
	seen, out := make(map[string]bool, likely), make([]string, 0, likely)
	for _, w := range words {
		for _, g := range WordGrams(w.Lower) {
			if !seen[g] {
				seen[g] = true
				out = append(out, g)
			}
			if len(out) >= maxGrams {
				return out
			}
		}
	}
	return out
}

// WordGrams gives the triples of one word, none for short words and for those
// of scripts whose pairs are in the index already.
func WordGrams(w string) []string {
	s := "0" + strings.ReplaceAll(w, "_", "") + "0"
	n := utf8.RuneCountInString(s)
	if first, _ := utf8.DecodeRuneInString(s[1:]); n < 6 || unspaced(first) {
		return nil
	}
	starts := make([]int, 0, n+1) // of its runes, and its end
	for i := range s {
		starts = append(starts, i)
	}
	starts = append(starts, len(s))
	out := make([]string, n-2)
	for i := range out {
		out[i] = s[starts[i]:starts[i+3]]
	}
	return out
}

// Spelling is the triples of a word, and which of 256 kinds of triples are among them: most
// comparisons are decided by the kinds alone.
type Spelling struct {
	grams [][3]rune
	kinds [4]uint64
}

// SpellingOf makes the spelling of a word from its groups of three letters.
func SpellingOf(grams []string) Spelling {
	var s Spelling
	for _, g := range grams {
		if r := []rune(g); len(r) == 3 {
			s.grams = append(s.grams, [3]rune(r))
			kind := gramKind([3]rune(r))
			s.kinds[kind/64] |= 1 << (kind % 64)
		}
	}
	return s
}

func gramKind(g [3]rune) uint32 {
	return (uint32(g[0])*961 + uint32(g[1])*31 + uint32(g[2])) % 251
}

func (s *Spelling) has(g [3]rune) bool {
	kind := gramKind(g)
	return s.kinds[kind/64]&(1<<(kind%64)) != 0 && slices.Contains(s.grams, g)
}

// Alike is the share of triples s has in common with a word (Dice), 0 to 1; 0
// for words too short to have triples.
func (s *Spelling) Alike(word string) float64 {
	if r, _ := utf8.DecodeRuneInString(word); len(word) < 4 || unspaced(r) {
		return 0
	}
	common, all := 0, 0
	last := [3]rune{0, 0, '0'}
	for _, r := range word {
		if r == '_' {
			continue
		}
		last = [3]rune{last[1], last[2], r}
		if last[0] != 0 {
			if all++; s.has(last) {
				common++
			}
		}
	}
	if all++; s.has([3]rune{last[1], last[2], '0'}) {
		common++
	}
	if all < 4 {
		return 0
	}
	return 2 * float64(common) / float64(len(s.grams)+all)
}

// Typo reports whether two words differ by one letter, or by two that changed places.
// Short words do not count: there one letter makes another word.
func Typo(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > utf8.UTFMax || utf8.RuneCountInString(a) < 5 {
		return false
	}
	for len(a) > 0 {
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if x != y {
			x2, n2 := utf8.DecodeRuneInString(a[n:])
			y2, m2 := utf8.DecodeRuneInString(b[m:])
			return a == b[m:] || a[n:] == b[m:] || x == y2 && y == x2 && a[n+n2:] == b[m+m2:]
		}
		a, b = a[n:], b[m:]
	}
	return utf8.RuneCountInString(b) == 1
}

// JoinTerms is the stored form of the words' stems.
func JoinTerms(words []Word) string {
	terms := make([]string, len(words))
	for i, w := range words {
		terms[i] = w.Term
	}
	return strings.Join(terms, " ")
}
