package ops

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	validation "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"cordelia/access"
	"cordelia/schemas"
)

// compiled are the published schemas of an operation and what checks them.
type compiled struct {
	arguments     *schema
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

// Argument is one argument of an operation.
type Argument struct {
	Name, Description string
	Type              string   // as JSON Schema names it
	Elements          string   // the type of an array's elements
	Choices           []string // of a string, or of the elements
}

// Arguments lists what an operation takes, as its input schema says it.
func (o *Operation) Arguments() ([]Argument, error) {
	s, err := o.schemas()
	if err != nil {
		return nil, err
	}
	list := make([]Argument, len(s.arguments.properties))
	for i, p := range s.arguments.properties {
		list[i] = Argument{Name: p.name, Description: p.description, Type: p.kind, Choices: p.enum}
		if p.items != nil {
			list[i].Elements, list[i].Choices = p.items.kind, p.items.enum
		}
	}
	return list, nil
}

func (o *Operation) compile() (c compiled, err error) {
	if c.arguments, err = schemaOf(o.in); err != nil {
		return compiled{}, fmt.Errorf("schema of %s: %w", o.Name, err)
	}
	addArgument := func(name string) {
		c.arguments.properties = append(c.arguments.properties, property{name: name, schema: &schema{kind: "string"}})
	}
	if !o.InPerson {
		addArgument("as")
	}
	if o.Effect != access.Read {
		addArgument("idempotency_key")
	}
	out, err := schemaOf(o.out)
	if err != nil {
		return compiled{}, fmt.Errorf("schema of %s: %w", o.Name, err)
	}
	c.input, c.output = c.arguments.append(nil), out.append(nil)
	c.check = sync.OnceValues(func() (*validation.Schema, error) { return compileCheck(o.Name, c.input) })
	for _, p := range c.arguments.properties {
		c.names = append(c.names, p.name)
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
