package schemas

import (
	"slices"
	"strings"
)

// Nearest gives the name that takes the fewest edits to reach from s, if it is
// near enough to be what was meant, and "" otherwise.
func Nearest(s string, names []string) string {
	best, name := len(s)/3+1, ""
	if len(s) > 64 {
		return ""
	}
	for _, n := range names {
		if e := edits(s, n); e < best {
			best, name = e, n
		}
	}
	return name
}

// Meant gives the names of words joined by _ that s may stand for: those that begin with it,
// else those of the same words in another order, else the nearest.
func Meant(s string, names []string) (meant []string) {
	for _, n := range names {
		if strings.HasPrefix(n, s+"_") {
			meant = append(meant, n)
		}
	}
	if meant != nil {
		return meant
	}
	words := slices.Sorted(strings.SplitSeq(s, "_"))
	for _, n := range names {
		if slices.Equal(slices.Sorted(strings.SplitSeq(n, "_")), words) {
			return []string{n}
		}
	}
	if near := Nearest(s, names); near != "" {
		return []string{near}
	}
	return nil
}

// DidYouMean words the nearest of the names, as the end of a sentence that says that s is unknown; "" if
// none is near.
func DidYouMean(s string, names []string) string {
	if near := Nearest(s, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// Strings is a list of names as plain strings.
func Strings[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// Joined is a list of names in one line, with commas between them.
func Joined[S ~string](list []S) string { return strings.Join(Strings(list), ", ") }

// edits counts the insertions, deletions and substitutions of bytes between a
// and b (Levenshtein 1966), one row at a time.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
