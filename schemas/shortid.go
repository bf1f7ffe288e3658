package schemas

import (
	"fmt"
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

// IsShortID reports whether ref may stand for a UUID by its beginning or its end: 8 or
// more of its characters, and not all of them.
func IsShortID(ref string) bool {
	return len(ref) >= ShortIDLength && len(ref) < uuidLength && strings.Trim(ref, "0123456789abcdef-") == ""
}

// MaxShortMatches is how many ids a lookup by a short form gives at most.
const MaxShortMatches = 5

// MatchesShortID is the SQL condition that column is the id which the parameter, given
// as ?N, stands for. The end is looked up in an index of substr(column, -8), the
// beginning in that of the column.
func MatchesShortID(column, parameter string) string {
	return strings.NewReplacer("COLUMN", column, "REF", parameter).Replace(fmt.Sprintf(
		`(substr(COLUMN, -%[1]d) = substr(REF, -%[1]d) AND substr(COLUMN, -length(REF)) = REF OR COLUMN > REF AND COLUMN < REF || '~')`, ShortIDLength))
}
