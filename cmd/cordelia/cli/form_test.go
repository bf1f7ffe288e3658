package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A form says of each field that may be left out that it may, of lists and objects, too.
func TestAFormSaysWhatIsOptional(t *testing.T) {
	form := FormOf(json.RawMessage(`{"type": "object", "required": ["must", "all"], "properties": {
		"all": {"type": "array", "items": {"type": "string"}},
		"less": {"type": "array", "items": {"type": "object", "properties": {"note": {"type": "string"}}}},
		"may": {"type": "string"},
		"must": {"type": "string"},
		"part": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}}`))
	require.Equal(t, `{
  "all": [
    <string>
  ],
  "less": <optional> [
    {
      "note": <string, optional>
    }
  ],
  "may": <string, optional>,
  "must": <string>,
  "part": <optional> {
    "name": <string>
  }
}`, strings.Join(form, "\n"))
}
