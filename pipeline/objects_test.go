package pipeline

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// What stands around an object is passed over, and so are thoughts.
func TestObjectsAreFoundAmongProse(t *testing.T) {
	for answer, want := range map[string][]string{
		"":                                      nil,
		"no braces":                             nil,
		`{"a":1}`:                               {`{"a":1}`},
		"```json\n{\"a\":{\"b\":2}}\n``` Done.": {`{"a":{"b":2}}`},
		`<think>{"a":1}</think>{"a":2}`:         {`{"a":2}`},
		`{"a":1}</think>{"a":2}`:                {`{"a":2}`},
		`{"a":1} or {"a":2}`:                    {`{"a":1}`, `{"a":2}`},
		`func f() { return } {"a":1}`:           {`{"a":1}`},
		`{"a":1,"a":2}`:                         nil,
		`{"a":`:                                 nil,
		`[{"a":1}]`:                             {`{"a":1}`},
	} {
		var got []string
		for _, o := range Objects(answer) {
			require.True(t, json.Valid(o))
			got = append(got, string(o))
		}
		require.Equal(t, want, got, answer)
	}
}
