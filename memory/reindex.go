package memory

import (
	"fmt"

	"cordelia/access"
)

// reindexPage is how many items are read at a time.
const reindexPage = 200

// Reindex puts the words of all items into the index of a database that has the items and no
// index: the index is not copied with a state, for each engine has its own.
func Reindex(g access.Grant) error {
	if !g.IsNode() || g.Tx() == nil {
		return access.ErrNoGrant
	}
	for last := int64(0); ; {
		found, err := rowsOf(g.Tx(), selectIndexed, last, reindexPage)
		if err != nil {
			return err
		}
		for i := range found {
			r := &found[i]
			if _, err := g.Tx().Exec(insertWords, r.n, r.entries(rewords(r))); err != nil {
				return fmt.Errorf("index item: %w", err)
			}
			last = r.n
		}
		if len(found) < reindexPage {
			return nil
		}
	}
}
