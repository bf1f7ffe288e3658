package memory

import (
	"fmt"

	"cordelia/internal/store"
)

// An agent that works from a brief alone is shown no lesson (INV-WITHHELD). The rule has the
// three forms below: for a row that was read, for an item known by its number, and for the
// index; the queries that rank take it as a parameter. For other agents it costs one query.

// WithoutLessons says to who works from a brief alone what it is not shown, and until
// when; whether there is any it does not say.
const WithoutLessons = "lessons of tasks show once your lease of R1, R3 or R4a is over"

// withholds reports whether words of this provenance are kept from the reader, whosever
// they are.
func (r readScope) withholds(provenance string) bool { return !r.lessons && ofTask(provenance) }

// withheldAmong tells which of the items are kept from the reader.
func (r readScope) withheldAmong(tx querier, ns []int64) (map[int64]bool, error) {
	if r.lessons || len(ns) == 0 {
		return nil, nil
	}
	lessons, err := idSet(tx.Query(selectLessons, store.List(ns)))
	if err != nil {
		return nil, fmt.Errorf("read lessons: %w", err)
	}
	return lessons, nil
}

// withheld is what the full-text index says of the audiences' items that are kept from the
// reader, "" if none are: a search leaves them out there, so that they take no other item's
// place.
func (r readScope) withheld(to audiences) string {
	if r.lessons {
		return ""
	}
	return ` NOT (` + to.match(entry(metaEntry, lessonToken)) + `)`
}
