package access

import (
	"slices"
	"strings"

	"cordelia/schemas"
)

const (
	maxPatternLen   = 128
	maxPatternStars = 8 // bounds the cost of one match
	patternGrammar  = "1–128 characters of a-z 0-9 . _ - *, starting with a letter, digit or *, with at most 8 stars"
)

// CheckPattern returns an error unless s is a well-formed group pattern: 1–128
// of a-z 0-9 . _ - *, starting with a letter, digit or star, with at most 8
// stars once repeated ones are collapsed. Text is never folded or normalised.
func CheckPattern(s string) error {
	if s == "" || len(s) > maxPatternLen || strings.IndexByte("._-", s[0]) >= 0 ||
		strings.ContainsFunc(s, outsideGrammar) ||
		strings.Count(collapseStars(s), "*") > maxPatternStars {
		return schemas.Invalidf("group pattern %.140q is not well formed", s).
			Expecting("%s", patternGrammar)
	}
	return nil
}

func outsideGrammar(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("._-*", r)
}

// collapseStars turns every run of stars into one; both match the same groups.
func collapseStars(s string) string {
	for strings.Contains(s, "**") {
		s = strings.ReplaceAll(s, "**", "*")
	}
	return s
}

// Covers reports whether every group id matched by p is matched by q. It is
// also the membership test when p is a group id.
//
// It matches q against the text of p, where a star of p is a symbol that only a star of q can
// absorb. That is sound for any q and p: a star of q still absorbs the same part after p's
// stars are substituted. It is complete, also for unions, while some letter is no literal of q:
// put that letter for p's stars, and only stars of q can have absorbed it.
func Covers(q, p string) bool {
	i, j := 0, 0
	star, mark := -1, 0 // the last star of q seen, and where in p it began to absorb
	for j < len(p) {
		switch {
		case i < len(q) && q[i] == '*':
			star, mark = i, j
			i++
		case i < len(q) && q[i] == p[j]: // p[j] is no star here: q[i] is not one
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(q[i:], "*") == ""
}

// CoveredBy reports whether p lies inside the union of patterns. No reasoning
// over the union is needed: if p lies inside it, it lies inside one member (see
// Covers). The exact name of a reserved group is inside that same name only.
func CoveredBy(patterns []string, p string) bool {
	if reservedName(p) && !strings.Contains(p, "*") {
		return slices.Contains(patterns, p)
	}
	return slices.ContainsFunc(patterns, func(q string) bool { return Covers(q, p) })
}

// Kinds of groups this package tells apart; every other kind is treated alike.
const (
	GroupSwarm   = "swarm"
	GroupStaging = "staging"
	GroupSystem  = "system"
)

// Reserved reports whether no pattern may reach the group (INV-RESERVED). Kind
// and name are both looked at, so that neither a missing kind nor an odd name
// opens a staging area.
func Reserved(group schemas.GroupID, kind string) bool {
	return kind == GroupStaging || kind == GroupSystem || reservedName(string(group))
}

func reservedName(s string) bool {
	return strings.HasPrefix(s, GroupStaging+"-") || strings.HasPrefix(s, GroupSystem+"-")
}

// MatchesGroup reports whether patterns reach the group: by matching it, or,
// when it is reserved, by naming it exactly. A malformed id is never reached.
func MatchesGroup(patterns []string, group schemas.GroupID, kind string) bool {
	if schemas.CheckGroupID(string(group)) != nil {
		return false
	}
	if Reserved(group, kind) {
		return slices.Contains(patterns, string(group))
	}
	return CoveredBy(patterns, string(group))
}
