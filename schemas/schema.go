package schemas

import (
	"embed"
	"strings"
)

//go:embed *.schema.json
var schemaFiles embed.FS

const schemaSuffix = ".schema.json"

// SchemaURN is the $id of the published JSON Schema of that name; references
// between the schemas use it, so none needs a network.
func SchemaURN(name string) string { return "urn:cordelia:schema:" + name }

// SchemaNames lists the published JSON Schemas (draft 2020-12) by name, sorted:
// the agent record (identity), capabilities, the L1 context, the L2 items, the
// records of the task pipeline, the manifest of a swarm, the trust score, and the event
// envelope with every payload.
func SchemaNames() []string {
	entries, err := schemaFiles.ReadDir(".")
	if err != nil { // the folder is part of the binary
		panic("schemas: " + err.Error())
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), schemaSuffix)
	}
	return names
}

// Schema gives the published JSON Schema of that name. Error: CodeNotFound.
func Schema(name string) ([]byte, error) {
	text, err := schemaFiles.ReadFile(name + schemaSuffix)
	if err != nil {
		return nil, NotFoundf("there is no schema %q", name).
			Expecting("one of %s", strings.Join(SchemaNames(), ", "))
	}
	return text, nil
}
