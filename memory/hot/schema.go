package hot

import (
	"fmt"
	"sync"

	"cordelia/internal/jsonschema"
	"cordelia/schemas"
)

// published compiles every published schema, once.
var published = sync.OnceValues(func() (map[string]jsonschema.Schema, error) {
	texts := map[string][]byte{}
	for _, name := range schemas.SchemaNames() {
		text, err := schemas.Schema(name)
		if err != nil {
			return nil, err
		}
		texts[schemas.SchemaURN(name)] = text
	}
	return jsonschema.Compile(texts)
})

// validate checks a decoded JSON value (maps, slices, strings, float64) against
// the published schema of that name and returns everything that is wrong with
// it, by path; none if it is valid. The error is a defect here, not the value's.
func validate(schema string, value any) ([]schemas.Violation, error) {
	all, err := published()
	if err != nil {
		return nil, err
	}
	s, ok := all[schemas.SchemaURN(schema)]
	if !ok {
		return nil, fmt.Errorf("validate: there is no schema %q", schema)
	}
	return s.Check(value)
}
