package cli

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// FormOf lays out what a JSON Schema asks for as JSON to copy and fill in, a line for each field; what
// stands in place of a value says in words what belongs there. Nothing if it asks for nothing.
func FormOf(schema json.RawMessage) []string {
	if len(schema) == 0 || ShapeOf(schema) == "" {
		return nil
	}
	return formLines(schema, "")
}

// formLines is the form of one value, the lines after the first behind indent.
func formLines(raw json.RawMessage, indent string) []string {
	var s struct {
		Items      json.RawMessage            `json:"items"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	inner := indent + "  "
	switch {
	case json.Unmarshal(raw, &s) != nil:
	case len(s.Items) > 0:
		lines := []string{"["}
		element := formLines(s.Items, inner)
		lines = append(append(lines, inner+element[0]), element[1:]...)
		return append(lines, indent+"]")
	case len(s.Properties) > 0:
		lines := []string{"{"}
		names := SortedKeys(s.Properties)
		for i, name := range names {
			value := formLines(s.Properties[name], inner)
			switch needed := slices.Contains(s.Required, name); {
			case !needed && len(value) == 1:
				value[0] = strings.TrimSuffix(value[0], ">") + ", optional>"
			case !needed: // a list or an object
				value[0] = "<optional> " + value[0]
			}
			if i < len(names)-1 {
				value[len(value)-1] += ","
			}
			lines = append(append(lines, inner+string(RawOf(name))+": "+value[0]), value[1:]...)
		}
		return append(lines, indent+"}")
	}
	return []string{"<" + cmp.Or(ShapeOf(raw), "any JSON") + ">"}
}
