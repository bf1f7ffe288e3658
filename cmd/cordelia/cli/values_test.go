package cli

import (
	"cordelia/schemas"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A schema is said in words: what may be one of several shapes names each, and an empty
// word of a choice is none.
func TestShapesAreSaidInWords(t *testing.T) {
	require.Equal(t, "list of string or object of (criterion: string)",
		ShapeOf(json.RawMessage(`{"type": "array", "items": {"anyOf": [{"type": "string"},
		{"type": "object", "properties": {"criterion": {"type": "string"}}, "required": ["criterion"]}]}}`)))
	require.Equal(t, "one of logical, environmental",
		ShapeOf(json.RawMessage(`{"enum": ["logical", "environmental", ""]}`)))
}

// What happened is shown without JSON, Go's maps, whole ids of agents and empty fields, and
// with names where they are known.
func TestPayloadsAreSaidInWords(t *testing.T) {
	ann, bob := strings.Repeat("a", 64), strings.Repeat("b", 64)
	a := &App{known: map[schemas.EntityID]string{schemas.EntityID(ann): "ann"}}
	said := Payload(a, json.RawMessage(`{"old": "", "members": [{"id": "`+ann+`", "role": "viewer"}, {"id": "`+
		bob+`"}],
		"group": "staging-`+bob+`-1", "right": {"tools": ["x", "y"]}, "count": 1000000}`))
	require.Equal(t, "count=1000000 group=staging-bbbbbbbbbbbb-1 members=(id ann, role viewer); (id bbbbbbbbbbbb) "+
		"right=tools (x; y)", said)
}
