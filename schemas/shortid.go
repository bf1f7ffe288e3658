package schemas

import (
	"fmt"
	"regexp"
	"strings"
)

// ShortIDLength is how many characters the short form of an id has: the last ones, which
// are random in a UUIDv7. The first ones are a clock and equal for a minute.
const ShortIDLength = 8

// uuidLength is the length of an id in its usual form.
const uuidLength = 36

// ShortID is the short form of an id: its last 8 hex digits. What is no UUID stays as it
// is.
func ShortID(id string) string {
	if len(id) != uuidLength || strings.Count(id, "-") != 4 {
		return id
	}
	return id[uuidLength-ShortIDLength:]
}

var uuids = regexp.MustCompile(`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)

// ShortIDs is a text with the short form of each id in it.
func ShortIDs(text string) string { return uuids.ReplaceAllStringFunc(text, ShortID) }

// IsShortID reports whether ref may stand for a UUID by its beginning or its end: 8 or
// more of its characters, and not all of them.
func IsShortID(ref string) bool {
	return len(ref) >= ShortIDLength && len(ref) < uuidLength && strings.Trim(ref, "0123456789abcdef-") == ""
}

// Distinct shortens ids to ends of one length, ShortIDLength or more, that tell them from
// each other and are short forms themselves.
func Distinct(ids []string) []string {
	for n := ShortIDLength; n < uuidLength; n++ {
		ends, seen := make([]string, len(ids)), map[string]bool{}
		for i, id := range ids {
			ends[i] = id
			if len(id) == uuidLength {
				ends[i] = id[uuidLength-n:]
			}
			seen[ends[i]] = true
		}
		if len(seen) == len(ids) {
			return ends
		}
	}
	return ids
}

// MaxShortMatches is how many ids a lookup by a short form gives at most.
const MaxShortMatches = 5

// MatchesShortID is the SQL condition that column is the id which the parameter, given
// as ?N, stands for. The end is looked up in an index of substr(column, -8), the
// beginning in that of the column.
func MatchesShortID(column, parameter string) string {
	return strings.NewReplacer("COLUMN", column, "REF", parameter).Replace(fmt.Sprintf(
		`(substr(COLUMN, -%[1]d) = substr(REF, -%[1]d) AND substr(COLUMN, -length(REF)) = REF
			OR COLUMN > REF AND COLUMN < REF || '~')`, ShortIDLength))
}
