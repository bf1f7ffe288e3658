package scenario

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
)

// property is the part of a JSON Schema that arguments use.
type property struct {
	Type       string              `json:"type"`
	Enum       []any               `json:"enum"`
	Items      *property           `json:"items"`
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

func argumentsOf(t testing.TB, o *ops.Operation) property {
	raw, err := o.InputSchema()
	require.NoError(t, err)
	var p property
	require.NoError(t, json.Unmarshal(raw, &p))
	return p
}

func (p property) names() []string { return slices.Sorted(maps.Keys(p.Properties)) }

// known is what a generator picks from for an argument of a name, before it
// makes something up by type.
type known map[string][]any

// make makes a value for the argument name.
func (k known) make(random *rand.Rand, name string, p property) any {
	if values := k[name]; len(values) > 0 && p.Type != "array" {
		return values[random.IntN(len(values))]
	}
	if len(p.Enum) > 0 {
		return p.Enum[random.IntN(len(p.Enum))]
	}
	switch p.Type {
	case "integer", "number":
		return 1
	case "boolean":
		return random.IntN(2) == 0
	case "array":
		item := property{Type: "string"}
		if p.Items != nil {
			item = *p.Items
		}
		return []any{k.make(random, name, item)}
	case "object":
		out := map[string]any{}
		for _, inner := range p.names() {
			if slices.Contains(p.Required, inner) || random.IntN(3) == 0 {
				out[inner] = k.make(random, inner, p.Properties[inner])
			}
		}
		return out
	}
	return "word"
}

// arguments makes arguments for a call: everything required, and each of the
// rest with the chance of one in odds (0 = never).
func (k known) arguments(random *rand.Rand, p property, odds int) map[string]any {
	out := map[string]any{}
	for _, name := range p.names() {
		if slices.Contains(p.Required, name) || odds > 0 && random.IntN(odds) == 0 {
			out[name] = k.make(random, name, p.Properties[name])
		}
	}
	return out
}
