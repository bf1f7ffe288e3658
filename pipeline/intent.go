package pipeline

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what keeps the user's words.
const (
	leastShared = 0.5 // of the content words
	// shortRequest is how many content words an intent can carry over whole: of a longer
	// request it may leave most of them out.
	shortRequest = 40
	leastStem    = 4 // letters that two forms of a word begin with
)

// Departure is how an intent departs from what the user said.
type Departure struct {
	Added   []string // content words of the intent that the user did not say
	Missing []string // content words of the user that the intent lacks
}

// Depart compares an intent with the user's words: the request, and the answers to
// questions. ok is false if less than half of the content words of the intent are the
// user's or, of a request short enough to be carried over, less than half of the user's
// are in the intent. Two forms of a word count as one. Scripts without spaces are
// compared by pairs of neighbouring characters. What cannot be compared, because one
// side has no content words, is ok. A translation shares few words: the submitter is
// asked, and an empty answer confirms it.
func Depart(intent string, userWords ...string) (d Departure, ok bool) {
	mine, theirs := terms(intent), terms(strings.Join(userWords, "\n"))
	if len(mine) == 0 || len(theirs) == 0 {
		return d, true
	}
	d.Added, d.Missing = absent(mine, theirs), absent(theirs, mine)
	shared := func(left []string, of map[string]bool) bool {
		return atLeast(1-float64(len(left))/float64(len(of)), leastShared)
	}
	return d, shared(d.Added, mine) && (len(theirs) > shortRequest || shared(d.Missing, theirs))
}

// absent lists, in order, the terms of a set that have no form in another.
func absent(of, in map[string]bool) (list []string) {
	for _, t := range slices.Sorted(maps.Keys(of)) {
		if !in[t] && !anyForm(t, in) {
			list = append(list, t)
		}
	}
	return list
}

// anyForm reports whether a set has another form of a word: one that shares its
// beginning, at least four letters and two thirds of the longer of both.
func anyForm(word string, in map[string]bool) bool {
	for other := range in {
		longer := max(utf8.RuneCountInString(word), utf8.RuneCountInString(other))
		if n := sharedPrefix(word, other); n >= leastStem && 3*n >= 2*longer {
			return true
		}
	}
	return false
}

// sharedPrefix counts the letters that two words begin with.
func sharedPrefix(a, b string) (n int) {
	for a != "" && b != "" {
		x, size := utf8.DecodeRuneInString(a)
		y, other := utf8.DecodeRuneInString(b)
		if x != y {
			break
		}
		a, b = a[size:], b[other:]
		n++
	}
	return n
}
