package ops

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSchemaOfTypes(t *testing.T) {
	type inner struct {
		N uint8 `json:"n,omitzero"`
	}
	type all struct {
		inner
		Text   *string         `json:"text" jsonschema:"a < b"`
		Choice []string        `json:"choice,omitempty" enum:"x,y" jsonschema:"which"`
		Pair   [2]float64      `json:"pair"`
		Yes    bool            `json:"yes,omitempty"`
		Any    any             `json:"any,omitempty"`
		Raw    json.RawMessage `json:"raw,omitempty"`
		Many   []inner         `json:"many"`
		Names  map[string]int  `json:"names,omitempty"`
		Left   string          `json:"-"`
		_      int             // not exported
	}
	s, err := schemaOf(reflect.TypeFor[*all]())
	require.NoError(t, err)
	require.Equal(t, `{"type":"object","properties":{"n":{"type":"integer"},"text":{"type":"string","description":"a \u003c b"},`+
		`"choice":{"type":"array","items":{"type":"string","enum":["x","y"]},"description":"which"},`+
		`"pair":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2},"yes":{"type":"boolean"},`+
		`"any":{"type":"object"},"raw":{"type":"object"},`+
		`"many":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}},"names":{"type":"object"}},`+
		`"required":["text","pair","many"],"additionalProperties":false}`, string(s.append(nil, true)))

	for _, bad := range []reflect.Type{
		reflect.TypeFor[map[int]int](), reflect.TypeFor[[]byte](), reflect.TypeFor[time.Time](),
		reflect.TypeFor[chan int](),
		reflect.TypeFor[struct{ Nameless int }](), reflect.TypeFor[struct {
			A []complex128 `json:"a"`
		}](),
	} {
		_, err := schemaOf(bad)
		require.Error(t, err, bad)
	}
}

// The command line takes what the schema says.
func TestArgumentsAreTheSchemas(t *testing.T) {
	for _, o := range Catalogue() {
		raw, err := o.InputSchema()
		require.NoError(t, err)
		var published struct {
			Properties map[string]struct {
				Type        any
				Description string
				Enum        []string
				Items       *struct {
					Type string
					Enum []string
				}
			}
		}
		require.NoError(t, json.Unmarshal(raw, &published))
		list, err := o.Arguments()
		require.NoError(t, err)
		require.Len(t, list, len(published.Properties), o.Name)
		for _, a := range list {
			p := published.Properties[a.Name]
			if _, any := p.Type.([]any); any { // on the command line JSON, as an object is
				p.Type = "object"
			}
			if p.Items != nil {
				require.Equal(t, p.Items.Type, a.Elements)
				p.Enum = p.Items.Enum
			}
			require.Equal(t, []any{p.Type, p.Description, p.Enum}, []any{a.Type, a.Description, a.Choices}, "%s %s",
				o.Name, a.Name)
		}
	}
}
