package conform

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"cordelia/schemas"
)

// Schema is a compiled schema.
type Schema struct{ compiled *jsonschema.Schema }

// Compile compiles schemas that may refer to each other by the names they are
// given, and to nothing else.
func Compile(texts map[string][]byte) (map[string]Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.UseLoader(nowhere{})
	for name, text := range texts {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		if err := compiler.AddResource(name, doc); err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
	}
	compiled := map[string]Schema{}
	for name := range texts {
		s, err := compiler.Compile(name)
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		compiled[name] = Schema{s}
	}
	return compiled, nil
}

// nowhere loads nothing: the default loader reads any file a schema names.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) {
	return nil, errors.New("a schema cannot refer to another document")
}

// MaxForeign is how many bytes a schema of an agent may have.
const MaxForeign = 8 << 10

// Foreign compiles a schema that an agent wrote. Such a one refers to nothing,
// not to itself either: a few references in a row make a check that never ends.
// The error says what is wrong with the schema.
func Foreign(text []byte) (Schema, error) {
	if len(text) > MaxForeign {
		return Schema{}, fmt.Errorf("has %d bytes; at most %d are taken", len(text), MaxForeign)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return Schema{}, errors.New("is not JSON")
	}
	if _, ok := doc.(map[string]any); !ok {
		return Schema{}, errors.New("must be an object")
	}
	if key := reference(doc); key != "" {
		return Schema{}, fmt.Errorf("must be written out: %s is not taken", key)
	}
	const name = "urn:answer"
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nowhere{})
	if err := compiler.AddResource(name, doc); err != nil {
		return Schema{}, errors.New("is not a JSON Schema")
	}
	s, err := compiler.Compile(name)
	var bad *jsonschema.SchemaValidationError
	if errors.As(err, &bad) {
		var inner *jsonschema.ValidationError
		if errors.As(bad.Err, &inner) {
			if found := words(inner); len(found) > 0 {
				return Schema{}, fmt.Errorf("is not a JSON Schema: %s %s", found[0].Path, found[0].Msg)
			}
		}
	}
	if err != nil {
		return Schema{}, errors.New("is not a JSON Schema")
	}
	return Schema{s}, nil
}

// reference finds a keyword that points elsewhere, "" if there is none. A
// property or an enumerated value of that name counts as one: nothing is lost.
func reference(doc any) string {
	switch v := doc.(type) {
	case map[string]any:
		for key, value := range v {
			if strings.HasPrefix(key, "$") && key != "$schema" && key != "$comment" {
				return key
			}
			if found := reference(value); found != "" {
				return found
			}
		}
	case []any:
		for _, value := range v {
			if found := reference(value); found != "" {
				return found
			}
		}
	}
	return ""
}

// Check gives everything that is wrong with a decoded value (maps, slices,
// strings, float64 or json.Number), by path; none if it is valid. The error is a
// defect here, not the value's.
func (s Schema) Check(value any) ([]schemas.Violation, error) {
	err := s.compiled.Validate(value)
	if err == nil {
		return nil, nil
	}
	var bad *jsonschema.ValidationError
	if !errors.As(err, &bad) {
		return nil, fmt.Errorf("validate: %w", err)
	}
	return words(bad), nil
}

// CheckText is Check of a value in JSON.
func (s Schema) CheckText(text []byte) ([]schemas.Violation, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return []schemas.Violation{{Path: "", Msg: "is not JSON"}}, nil //nolint:nilerr // that is the finding
	}
	return s.Check(value)
}

func words(e *jsonschema.ValidationError) []schemas.Violation {
	found := leaves(e, nil)
	slices.SortFunc(found, func(a, b schemas.Violation) int {
		return strings.Compare(a.Path+"\x00"+a.Msg, b.Path+"\x00"+b.Msg)
	})
	return slices.Compact(found)
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
