package access

import (
	"fmt"
	"slices"
	"strings"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Lookup gives the ids of one kind that a short form may stand for, of what the actor
// may see.
type Lookup func(g Grant, short string) ([]string, error)

// IDsNamed gives the ids that the query of a Lookup finds for a short form. The parameters of the query
// are those, then the short form, then how many ids it gives at most.
func IDsNamed(g Grant, query, short string, those ...any) ([]string, error) {
	rows, err := g.Tx().Query(query, append(those, short, schemas.MaxShortMatches)...)
	ids, err := store.Collect(rows, err, store.Column[string])
	if err != nil {
		return nil, fmt.Errorf("look up a short id: %w", err)
	}
	return ids, nil
}

// OneID gives the id that a short form of a kind of thing stands for; a short form of
// nothing stays as it is. Errors: CodeInvalid, with the candidates, if there are several.
func OneID(g Grant, kind, short string, lookups ...Lookup) (string, error) {
	var found []string
	for _, look := range lookups {
		ids, err := look(g, short)
		if err != nil {
			return "", err
		}
		found = append(found, ids...)
	}
	slices.Sort(found)
	switch found = slices.Compact(found); len(found) {
	case 0:
		return short, nil
	case 1:
		return found[0], nil
	}
	return "", schemas.Invalidf("%q stands for more than one %s", short, kind).
		Expecting("one of %s", strings.Join(schemas.Distinct(found), ", ")).Try("repeat it with one of these")
}
