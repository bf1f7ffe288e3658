package ops

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	inference "github.com/google/jsonschema-go/jsonschema"
	validation "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"cordelia/access"
	"cordelia/schemas"
)

// compiled are the published schemas of an operation and what checks them.
type compiled struct {
	input, output json.RawMessage
	check         func() (*validation.Schema, error) // compiled when first needed
	names         []string                           // arguments there are
}

// InputSchema is the JSON Schema of the arguments.
func (o *Operation) InputSchema() (json.RawMessage, error) {
	s, err := o.schemas()
	return s.input, err
}

// OutputSchema is the JSON Schema of the structured result.
func (o *Operation) OutputSchema() (json.RawMessage, error) {
	s, err := o.schemas()
	return s.output, err
}

func (o *Operation) compile() (compiled, error) {
	fail := func(err error) (compiled, error) { return compiled{}, fmt.Errorf("schema of %s: %w", o.Name, err) }
	in, err := infer(o.in)
	if err != nil {
		return fail(err)
	}
	addArgument := func(name string) {
		in.Properties[name] = &inference.Schema{Type: "string"}
		in.PropertyOrder = append(in.PropertyOrder, name)
	}
	if in.Properties == nil {
		in.Properties = map[string]*inference.Schema{}
	}
	if !o.InPerson {
		addArgument("as")
	}
	if o.Effect != access.Read {
		addArgument("idempotency_key")
	}
	out, err := infer(o.out)
	if err != nil {
		return fail(err)
	}
	var c compiled
	if c.input, err = json.Marshal(in); err != nil {
		return fail(err)
	}
	if c.output, err = json.Marshal(out); err != nil {
		return fail(err)
	}
	c.check = sync.OnceValues(func() (*validation.Schema, error) { return compileCheck(o.Name, c.input) })
	for name := range in.Properties {
		c.names = append(c.names, name)
	}
	slices.Sort(c.names)
	return c, nil
}

func compileCheck(name string, schema json.RawMessage) (*validation.Schema, error) {
	doc, err := validation.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	compiler := validation.NewCompiler()
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	return compiler.Compile(name)
}

// infer makes the schema of a struct type, portable to clients that know only
// the basic keywords: no null unions, closed objects, enums from the enum tag.
func infer(t reflect.Type) (*inference.Schema, error) {
	s, err := inference.ForType(t, &inference.ForOptions{TypeSchemas: map[reflect.Type]*inference.Schema{
		reflect.TypeFor[json.RawMessage](): {Type: "object"},
		reflect.TypeFor[any]():             {Type: "object"}, // a bare true is not portable
	}})
	if err != nil {
		return nil, err
	}
	shape(s, t)
	return s, nil
}

// shape walks s beside the Go type it came from.
func shape(s *inference.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(s.Types) > 0 { // ["null", "array"]: absent is absent, never null
		s.Types = slices.DeleteFunc(s.Types, func(name string) bool { return name == "null" })
		if len(s.Types) == 1 {
			s.Type, s.Types = s.Types[0], nil
		}
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if s.Items != nil {
			shape(s.Items, t.Elem())
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := s.Properties[name]
			if p == nil {
				continue
			}
			shape(p, f.Type)
			if values := f.Tag.Get("enum"); values != "" {
				target := p
				if p.Items != nil {
					target = p.Items
				}
				for v := range strings.SplitSeq(values, ",") {
					target.Enum = append(target.Enum, v)
				}
			}
		}
	}
}

// validate holds args against the published schema and words every violation.
func (c compiled) validate(o *Operation, args json.RawMessage) error {
	doc, err := validation.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return schemas.Invalidf("the arguments of %s are not JSON", o.Name).
			Expecting("a JSON object").Try("call %s again with a JSON object", o.Name).Because(err)
	}
	check, err := c.check()
	if err != nil {
		return err
	}
	err = check.Validate(doc)
	if err == nil {
		return nil
	}
	var bad *validation.ValidationError
	if !errors.As(err, &bad) {
		return schemas.Invalidf("the arguments of %s are not valid", o.Name).Because(err)
	}
	var found []schemas.Violation
	c.collect(bad, &found)
	return schemas.Invalidf("the arguments of %s are not valid", o.Name).
		Expecting("only %s", strings.Join(c.names, ", ")).
		Try("correct what is listed and call %s again", o.Name).With(found...)
}

// collect flattens the validator's tree to its leaves.
func (c compiled) collect(e *validation.ValidationError, out *[]schemas.Violation) {
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			c.collect(cause, out)
		}
		return
	}
	path := schemas.Pointer(e.InstanceLocation...)
	for _, msg := range c.word(e) {
		*out = append(*out, schemas.Violation{Path: path, Msg: msg})
	}
}

// word says in plain words what is wrong, for each thing that is.
func (c compiled) word(e *validation.ValidationError) []string {
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return each(k.Missing, func(name string) string { return fmt.Sprintf("%s is missing", name) })
	case *kind.AdditionalProperties:
		return each(k.Properties, func(name string) string {
			if near := schemas.Nearest(name, c.names); near != "" && len(e.InstanceLocation) == 0 {
				return fmt.Sprintf("there is no argument %q; did you mean %s?", name, near)
			}
			return fmt.Sprintf("there is no argument %q", name)
		})
	case *kind.Type:
		return []string{fmt.Sprintf("is %s, not %s", article(k.Got), article(strings.Join(k.Want, " or ")))}
	case *kind.Enum:
		return []string{"must be one of " + strings.Join(each(k.Want, func(v any) string { return fmt.Sprint(v) }), ", ")}
	case *kind.Minimum:
		n, _ := k.Want.Float64()
		return []string{fmt.Sprintf("must be at least %v", n)}
	case *kind.Maximum:
		n, _ := k.Want.Float64()
		return []string{fmt.Sprintf("must be at most %v", n)}
	case *kind.MaxItems:
		return []string{fmt.Sprintf("must have at most %d elements", k.Want)}
	case *kind.MinItems:
		return []string{fmt.Sprintf("must have at least %d elements", k.Want)}
	}
	return []string{"does not satisfy " + strings.Join(e.ErrorKind.KeywordPath(), " ")}
}

func article(typeName string) string {
	if strings.ContainsAny(typeName[:1], "aeiou") {
		return "an " + typeName
	}
	return "a " + typeName
}

func each[T any](list []T, f func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}
