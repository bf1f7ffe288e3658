package ops

import "encoding/json"

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // constant data of this package
	}
	return raw
}
