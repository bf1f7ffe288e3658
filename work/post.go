package work

import (
	"database/sql"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Post puts an item into the queue that follows from what an agent decided: as if on had
// submitted it for itself and all below it, its result checked against its answer schema and
// looked at as any other's. It is for the node, which asks whether on may.
func Post(g access.Grant, on schemas.EntityID, task string, d Draft) (n int64, id string, err error) {
	return put(g, on, task, "", d, 0)
}

// CancelPosted ends those of these items that are open; the node does it when who they were
// posted for has ended.
func CancelPosted(g access.Grant, ids []string) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	rows, err := g.Tx().Query(selectByIDs, store.List(ids))
	found, err := store.Collect(rows, err, scanRow[*sql.Rows])
	if err != nil {
		return fmt.Errorf("read work: %w", err)
	}
	_, err = cancel(g, found)
	return err
}

// ResultOf is the result of an item that is done, as JSON, "" for none. It is for the node,
// which posted the item.
func ResultOf(g access.Grant, id string) (result string, err error) {
	if !g.IsNode() {
		return "", access.ErrNoGrant
	}
	if err := g.Tx().QueryRow(selectResult, id).Scan(&result); err != nil {
		return "", fmt.Errorf("read result: %w", err)
	}
	return result, nil
}
