package memory

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"cordelia/schemas"
)

// published compiles every published schema, once.
var published = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	names := schemas.SchemaNames()
	for _, name := range names {
		text, err := schemas.Schema(name)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		if err := compiler.AddResource(schemas.SchemaURN(name), doc); err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
	}
	compiled := map[string]*jsonschema.Schema{}
	for _, name := range names {
		s, err := compiler.Compile(schemas.SchemaURN(name))
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		compiled[name] = s
	}
	return compiled, nil
})

// Validate holds a decoded JSON value (maps, slices, strings, float64) against
// the published schema of that name and returns everything that is wrong with
// it, by path; none if it is valid. The error is a defect here, not the value's.
func Validate(schema string, value any) ([]schemas.Violation, error) {
	all, err := published()
	if err != nil {
		return nil, err
	}
	s := all[schema]
	if s == nil {
		return nil, fmt.Errorf("validate: there is no schema %q", schema)
	}
	err = s.Validate(value)
	if err == nil {
		return nil, nil
	}
	var bad *jsonschema.ValidationError
	if !errors.As(err, &bad) {
		return nil, fmt.Errorf("validate: %w", err)
	}
	found := leaves(bad, nil)
	slices.SortFunc(found, func(a, b schemas.Violation) int {
		return strings.Compare(a.Path+"\x00"+a.Msg, b.Path+"\x00"+b.Msg)
	})
	return slices.Compact(found), nil
}

// leaves flattens the validator's tree.
func leaves(e *jsonschema.ValidationError, found []schemas.Violation) []schemas.Violation {
	for _, cause := range e.Causes {
		found = leaves(cause, found)
	}
	if len(e.Causes) > 0 {
		return found
	}
	at := schemas.Pointer(e.InstanceLocation...)
	add := func(path, format string, args ...any) {
		found = append(found, schemas.Violation{Path: path, Msg: fmt.Sprintf(format, args...)})
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(at+schemas.Pointer(name), "is not a known field")
		}
	case *kind.Required:
		for _, name := range k.Missing {
			add(at+schemas.Pointer(name), "is missing")
		}
	case *kind.Type:
		add(at, "must be %s, not %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		add(at, "must be one of %s", list(k.Want))
	case *kind.Const:
		add(at, "must be %v", k.Want)
	case *kind.Pattern:
		add(at, "must match %s", k.Want)
	case *kind.Format:
		add(at, "must be a %s", k.Want)
	case *kind.Minimum:
		add(at, "must be at least %s", k.Want.RatString())
	case *kind.Maximum:
		add(at, "must be at most %s", k.Want.RatString())
	case *kind.MinLength:
		add(at, "must have at least %d characters", k.Want)
	case *kind.MaxLength:
		add(at, "must have at most %d characters", k.Want)
	default:
		add(at, "does not satisfy %s", strings.Join(e.ErrorKind.KeywordPath(), " "))
	}
	return found
}

func list(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}
