package ops

import (
	"bytes"
	"encoding/json"
)

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // constant data of this package
	}
	return raw
}

// hasNUL reports whether JSON holds the character NUL, which no engine of the store keeps
// everywhere. JSON can only write it as \u0000; behind an odd number of backslashes that is text.
func hasNUL(text []byte) bool {
	sign := []byte(`\u0000`)
	for rest := text; ; {
		at := bytes.Index(rest, sign)
		if at < 0 {
			return false
		}
		before := at
		for before > 0 && rest[before-1] == '\\' {
			before--
		}
		if (at-before)%2 == 0 {
			return true
		}
		rest = rest[at+len(sign):]
	}
}
