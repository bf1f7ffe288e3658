package text

import "strings"

// stem reduces an English word in lower case to its stem by the algorithm of
// M. F. Porter, "An algorithm for suffix stripping" (1980). Words with anything
// but a–z in them are returned as they are.
func stem(w string) string {
	if len(w) <= 2 || strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return w
	}
	w = regular(w)
	if len(w) <= 2 {
		return w
	}
	w = plural(w)
	w = pastAndGerund(w)
	if base, ok := strings.CutSuffix(w, "y"); ok && hasVowel(base) {
		w = base + "i"
	}
	w = replaceSuffix(w, suffixes2())
	w = replaceSuffix(w, suffixes3())
	w = dropSuffix(w)
	if base, ok := strings.CutSuffix(w, "e"); ok {
		if m := measure(base); m > 1 || m == 1 && !endsShort(base) {
			w = base
		}
	}
	if strings.HasSuffix(w, "ll") && measure(w) > 1 {
		w = w[:len(w)-1]
	}
	return w
}

// plural is step 1a.
func plural(w string) string {
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"):
		return w
	case strings.HasSuffix(w, "s"):
		return w[:len(w)-1]
	}
	return w
}

// pastAndGerund is step 1b.
func pastAndGerund(w string) string {
	if base, ok := strings.CutSuffix(w, "eed"); ok {
		if measure(base) > 0 {
			return w[:len(w)-1]
		}
		return w
	}
	base, ok := strings.CutSuffix(w, "ed")
	if !ok {
		base, ok = strings.CutSuffix(w, "ing")
	}
	if !ok || !hasVowel(base) {
		return w
	}
	switch {
	case strings.HasSuffix(base, "at"), strings.HasSuffix(base, "bl"), strings.HasSuffix(base, "iz"):
		return base + "e"
	case endsDouble(base) && strings.IndexByte("lsz", base[len(base)-1]) < 0:
		return base[:len(base)-1]
	case measure(base) == 1 && endsShort(base):
		return base + "e"
	}
	return base
}

// suffixes2 are the endings of step 2, each with what stands for it.
func suffixes2() []string {
	return []string{"ational", "ate", "tional", "tion", "enci", "ence", "anci", "ance", "izer", "ize",
		"abli", "able", "alli", "al", "entli", "ent", "eli", "e", "ousli", "ous", "ization", "ize", "ation", "ate",
		"ator", "ate", "alism", "al", "iveness", "ive", "fulness", "ful", "ousness", "ous", "aliti", "al",
		"iviti", "ive", "biliti", "ble"}
}

// suffixes3 are those of step 3.
func suffixes3() []string {
	return []string{"icate", "ic", "ative", "", "alize", "al", "iciti", "ic", "ical", "ic", "ful", "", "ness", ""}
}

// replaceSuffix exchanges the first ending of pairs that w has, if it leaves a stem
// with a measure.
func replaceSuffix(w string, pairs []string) string {
	for i := 0; i < len(pairs); i += 2 {
		if base, ok := strings.CutSuffix(w, pairs[i]); ok {
			if measure(base) > 0 {
				return base + pairs[i+1]
			}
			return w
		}
	}
	return w
}

// dropSuffix is step 4.
func dropSuffix(w string) string {
	for _, s := range []string{"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent",
		"ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"} {
		base, ok := strings.CutSuffix(w, s)
		if !ok {
			continue
		}
		if measure(base) > 1 && (s != "ion" || strings.HasSuffix(base, "s") || strings.HasSuffix(base, "t")) {
			return base
		}
		return w
	}
	return w
}

// consonant reports whether the i-th letter is one; y is after a vowel.
func consonant(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !consonant(w, i-1)
	}
	return true
}

// measure counts the runs of vowels that a consonant follows.
func measure(w string) int {
	m, vowel := 0, false
	for i := range len(w) {
		c := consonant(w, i)
		if c && vowel {
			m++
		}
		vowel = !c
	}
	return m
}

func hasVowel(w string) bool {
	for i := range len(w) {
		if !consonant(w, i) {
			return true
		}
	}
	return false
}

func endsDouble(w string) bool {
	n := len(w)
	return n >= 2 && w[n-1] == w[n-2] && consonant(w, n-1)
}

// endsShort reports whether w ends consonant, vowel, consonant other than w, x, y.
func endsShort(w string) bool {
	n := len(w)
	return n >= 3 && consonant(w, n-3) && !consonant(w, n-2) && consonant(w, n-1) &&
		strings.IndexByte("wxy", w[n-1]) < 0
}
