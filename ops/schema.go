package ops

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"cordelia/access"
	"cordelia/internal/conform"
	"cordelia/schemas"
)

// compiled are the published schemas of an operation and what checks them.
type compiled struct {
	arguments     *schema
	input, output json.RawMessage
	check         func() (conform.Schema, error) // compiled when first needed
	names         []string                       // arguments there are
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
	c.check = sync.OnceValues(func() (conform.Schema, error) { return compileCheck(o.Name, c.input) })
	for _, p := range c.arguments.properties {
		c.names = append(c.names, p.name)
	}
	slices.Sort(c.names)
	return c, nil
}

func compileCheck(tool string, text json.RawMessage) (conform.Schema, error) {
	name := "urn:cordelia:tool:" + tool
	all, err := conform.Compile(map[string][]byte{name: text})
	return all[name], err
}

// validate holds args against the published schema and words every violation.
func (c compiled) validate(o *Operation, args json.RawMessage) error {
	doc, err := conform.Decode(args)
	if err != nil {
		return schemas.Invalidf("the arguments of %s are not JSON", o.Name).
			Expecting("a JSON object").Try("call %s again with a JSON object", o.Name).Because(err)
	}
	check, err := c.check()
	if err != nil {
		return err
	}
	found, err := check.Check(doc)
	if err != nil || len(found) == 0 {
		return err
	}
	for i, v := range found {
		if v.Msg == conform.Unknown {
			found[i].Msg += c.meant(v.Path)
		}
	}
	return schemas.Invalidf("the arguments of %s are not valid", o.Name).
		Expecting("only %s", strings.Join(c.names, ", ")).
		Try("correct what is listed and call %s again", o.Name).With(found...)
}

// meant asks whether a nearby argument was meant at path, "" if there is none.
func (c compiled) meant(path string) string {
	if near := schemas.Nearest(strings.TrimPrefix(path, "/"), c.names); near != "" && strings.Count(path, "/") == 1 {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// Describe makes the schemas of all operations, which otherwise wait for the first
// who needs them.
func Describe() {
	for _, o := range Catalogue() {
		o.schemas() //nolint:errcheck // whoever asks gets the error
	}
}

// HasText reports whether the answers of the operation word themselves.
func (o *Operation) HasText() bool {
	return o.out.Implements(reflect.TypeFor[interface{ Text() string }]())
}
