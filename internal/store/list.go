package store

import (
	"encoding/json"
	"fmt"
)

// SkipLocked is the end of a query that locks the rows it gives until the transaction ends, and
// passes by those that others have locked. SQLite, which has one writer, reads it as a comment.
const SkipLocked = " /*+ FOR UPDATE SKIP LOCKED */"

// List encodes ids or numbers for json_each; nil is the empty list.
func List[T any](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	text, err := json.Marshal(list)
	if err != nil { // ids and numbers always encode
		panic(fmt.Sprintf("store: encode list: %v", err))
	}
	return string(text)
}
