package store

import (
	"encoding/json"
	"fmt"
)

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
