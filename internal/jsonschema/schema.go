package jsonschema

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"cordelia/schemas"
)

// Schema is a compiled schema.
type Schema struct {
	compiled *jsonschema.Schema
	size     int // values in one of an agent, 0 for ours
}

// Compile compiles schemas that may refer to each other by the names they are
// given, and to nothing else. The names are URNs: any other would be one of a file,
// and fail where the working directory is gone.
func Compile(texts map[string][]byte) (map[string]Schema, error) {
	compiler := newCompiler()
	for name, text := range texts {
		doc, err := Decode(text)
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
		compiled[name] = Schema{compiled: s}
	}
	return compiled, nil
}

func newCompiler() *jsonschema.Compiler {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.UseLoader(nowhere{})
	return compiler
}

// nowhere loads nothing: the default loader reads any file a schema names.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) {
	return nil, errors.New("a schema cannot refer to another document")
}

// MaxForeign is how many bytes a schema of an agent may have.
const MaxForeign = 8 << 10

// Foreign compiles a schema that an agent wrote, which has to be plain. The error
// says what is wrong with it.
func Foreign(text []byte) (Schema, error) {
	if len(text) > MaxForeign {
		return Schema{}, fmt.Errorf("has %d bytes; at most %d are taken", len(text), MaxForeign)
	}
	doc, err := Decode(text)
	if err != nil {
		return Schema{}, errors.New("is not JSON")
	}
	if large := tooLarge(doc, nil, nil); len(large) > 0 {
		return Schema{}, fmt.Errorf("%s %s", large[0].Path, large[0].Msg)
	}
	if _, ok := doc.(map[string]any); !ok {
		return Schema{}, errors.New("must be an object")
	}
	if word := notPlain(doc); word != "" {
		return Schema{}, fmt.Errorf(
			"uses %s, which is not taken: only type, properties, required, items, enum, const, bounds and plain formats", word)
	}
	const name = "urn:answer"
	compiler := newCompiler()
	if err := compiler.AddResource(name, doc); err != nil {
		return Schema{}, errors.New("is not a JSON Schema")
	}
	s, err := compiler.Compile(name)
	if bad, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if inner, ok := errors.AsType[*jsonschema.ValidationError](bad.Err); ok {
			if found := words(inner); len(found) > 0 {
				if strings.HasSuffix(found[0].Path, "/type") {
					found[0].Msg = "must be one of array, boolean, integer, null, number, object, string"
				}
				return Schema{}, fmt.Errorf("is not a JSON Schema: %s %s", found[0].Path, found[0].Msg)
			}
		}
	}
	if err != nil {
		return Schema{}, errors.New("is not a JSON Schema")
	}
	return Schema{s, size(doc)}, nil
}

// Decode decodes JSON for Check: numbers keep their text.
func Decode(text []byte) (any, error) {
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// Check gives everything that is wrong with a decoded value (maps, slices,
// strings, float64 or json.Number), by path; none if it is valid. The error is a
// defect here, not the value's.
func (s Schema) Check(value any) ([]schemas.Violation, error) {
	if s.size > 0 && size(value) > maxWork/s.size {
		return []schemas.Violation{{Msg: fmt.Sprintf("has too many values (%d) to be held against a schema of %d",
			size(value), s.size)}}, nil
	}
	if large := tooLarge(value, nil, nil); len(large) > 0 {
		return inOrder(large), nil
	}
	err := s.compiled.Validate(value)
	if err == nil {
		return nil, nil
	}
	bad, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return nil, fmt.Errorf("validate: %w", err)
	}
	return words(bad), nil
}

// CheckText is Check of a value in JSON.
func (s Schema) CheckText(text []byte) ([]schemas.Violation, error) {
	value, err := Decode(text)
	if err != nil {
		return []schemas.Violation{{Path: "", Msg: "is not JSON"}}, nil //nolint:nilerr // that is the finding
	}
	return s.Check(value)
}

// Unknown is what Check says of a field that the schema does not have.
const Unknown = "is not a known field"

func words(e *jsonschema.ValidationError) []schemas.Violation {
	return inOrder(leaves(e, nil))
}

func inOrder(found []schemas.Violation) []schemas.Violation {
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
			add(at+schemas.Pointer(name), Unknown)
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
		add(at, "must be at least %s", decimal(k.Want))
	case *kind.Maximum:
		add(at, "must be at most %s", decimal(k.Want))
	case *kind.MinLength:
		add(at, "must have at least %d characters", k.Want)
	case *kind.MaxLength:
		add(at, "must have at most %d characters", k.Want)
	case *kind.MinItems:
		add(at, "must have at least %d elements", k.Want)
	case *kind.MaxItems:
		add(at, "must have at most %d elements", k.Want)
	default:
		add(at, "does not satisfy %s", strings.Join(e.ErrorKind.KeywordPath(), " "))
	}
	return found
}

func decimal(n *big.Rat) string { return new(big.Float).SetRat(n).Text('g', 15) }

func list(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}
