package ops

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The schemas of every tool are published, as clients get them: that of its arguments,
// and that of its result for programs that ask for fields.
func TestPublishedSchemas(t *testing.T) {
	for _, o := range Catalogue() {
		in, err := o.InputSchema()
		require.NoError(t, err)
		out, err := o.OutputSchema()
		require.NoError(t, err)
		raw, err := json.Marshal(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema",
			"title": o.Name, "description": o.Description,
			"$defs": map[string]json.RawMessage{"arguments": in, "result": out}})
		require.NoError(t, err)
		var text bytes.Buffer
		require.NoError(t, json.Indent(&text, raw, "", "  "))
		golden(t, filepath.Join("..", "schemas", "tools", o.Name+".schema.json"), whole, text.String()+"\n")
	}
}
