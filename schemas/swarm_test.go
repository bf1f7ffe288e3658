package schemas

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// The published schema of a manifest is that of the record: run with
// UPDATE_GOLDEN=1 after changing it.
func TestSwarmSchemaFitsTheManifest(t *testing.T) {
	defs := map[string]any{}
	top := describe(t, reflect.TypeFor[SwarmManifest](), defs)
	slot := defs["SwarmSlot"].(map[string]any)["properties"].(map[string]any)
	slot["capabilities"] = map[string]any{"$ref": SchemaURN("capabilities")}
	slot["count"] = map[string]any{"type": "integer", "minimum": 1, "maximum": MaxSwarmAgents}
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	require.NoError(t, e.Encode(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SchemaURN("swarm"),
		"title":       "Swarm manifest",
		"description": "A swarm to be made: what for, how its agents work together, and which there are.",
		"$ref":        top["$ref"], "$defs": defs,
	}))
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile("swarm"+schemaSuffix, want.Bytes(), 0o600))
	}
	got, err := os.ReadFile("swarm" + schemaSuffix)
	require.NoError(t, err)
	require.Equal(t, want.String(), string(got), "run UPDATE_GOLDEN=1 go test ./schemas and read the change")
}
