package ops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"cordelia/access"
	"cordelia/internal/jsonschema"
	"cordelia/schemas"
)

// compiled are the published schemas of an operation and what checks them.
type compiled struct {
	arguments     *schema
	input, output json.RawMessage
	check         func() (jsonschema.Schema, error) // compiled when first needed
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
	addArgument := func(name, description string, hints ...string) {
		c.arguments.properties = append(c.arguments.properties,
			property{name: name, schema: &schema{kind: "string", description: description, hints: hints}})
	}
	if !o.InPerson {
		addArgument("as", "agent below you", "agent", "agent_id", "agent_name", "worker")
	}
	if o.Effect != access.Read {
		addArgument("idempotency_key", "for retries")
	}
	out, err := schemaOf(o.out)
	if err != nil {
		return compiled{}, fmt.Errorf("schema of %s: %w", o.Name, err)
	}
	c.input, c.output = c.arguments.append(nil, false), out.append(nil, true)
	c.check = sync.OnceValues(func() (jsonschema.Schema, error) {
		return compileCheck(o.Name,
			c.arguments.append(nil, true))
	})
	return c, nil
}

func compileCheck(tool string, text json.RawMessage) (jsonschema.Schema, error) {
	name := "urn:cordelia:tool:" + tool
	all, err := jsonschema.Compile(map[string][]byte{name: text})
	return all[name], err
}

// validate checks args against the published schema, once what has one meaning alone is in
// the form it wants, and words every violation by its path, with the names known there.
func (c compiled) validate(o *Operation, args json.RawMessage) (json.RawMessage, error) {
	doc, err := jsonschema.Decode(args)
	if err != nil {
		return nil, schemas.Invalidf("the arguments of %s are not JSON", o.Name).
			Expecting("a JSON object").Try("%s again with a JSON object", schemas.Do(o.Name)).Because(err)
	}
	if schemas.HasNUL(args) {
		return nil, schemas.Invalidf("the arguments of %s hold the character NUL (\\u0000)", o.Name).
			Expecting("text without it").Try("%s again without that character", schemas.Do(o.Name))
	}
	check, err := c.check()
	if err != nil {
		return nil, err
	}
	found, err := check.Check(doc)
	if err != nil || len(found) == 0 && !c.arguments.loose(doc) &&
		!bytes.Contains(args, []byte(".0")) { // 3.0 is whole, and no Go integer
		return args, err
	}
	doc = c.arguments.coerced(doc)
	if given, ok := doc.(map[string]any); ok && !o.Mutates() {
		delete(given, "idempotency_key") // a read may be repeated anyway
	}
	if found, err = check.Check(doc); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return plainJSON(doc)
	}
	return nil, c.invalid(o, doc, found)
}

// invalid words violations, with the values known there, and with the names where one is unknown.
func (c compiled) invalid(o *Operation, doc any, found []schemas.Violation) error {
	var expected []string
	for i, v := range found {
		steps := strings.Split(strings.TrimPrefix(v.Path, "/"), "/")
		parent, at := c.arguments.at(steps[:len(steps)-1])
		if v.Path == "" {
			parent, at = c.arguments, ""
		}
		if parent == nil {
			continue
		}
		name := steps[len(steps)-1]
		if v.Msg == jsonschema.Unknown && v.Path == "/as" && o.InPerson {
			found[i].Msg = "is not taken here: this is done in person, never as another agent"
		} else if v.Msg == jsonschema.Unknown {
			given, _ := doc.(map[string]any) // only members of arguments are published in words
			found[i].Msg += parent.correction(name, given)
		} else if p, _ := c.arguments.at(steps); p != nil && v.Path != "" {
			if len(p.enum) == 0 || !strings.Contains(v.Msg, "one of ") { // else it lists the values already
				found[i].Msg += p.wants()
			}
			continue
		}
		if takes := parent.takes(at); !slices.Contains(expected, takes) {
			expected = append(expected, takes)
		}
	}
	e := schemas.Invalidf("the arguments of %s are not valid", o.Name).
		Try("correct what is listed and %s again", schemas.Do(o.Name)).With(found...)
	return e.Expecting("%s", strings.Join(expected, "; "))
}

// at is the schema of what steps lead to, nil if there is none, and its path as a field.
func (s *schema) at(steps []string) (*schema, string) {
	here := s
	for _, step := range steps {
		if here.items != nil {
			here = here.items
		} else {
			here = here.property(step)
		}
		if here == nil {
			return nil, ""
		}
	}
	return here, schemas.FieldPath("/" + strings.Join(steps, "/"))
}

func (s *schema) names() []string {
	list := make([]string, len(s.properties))
	for i, p := range s.properties {
		list[i] = p.name
	}
	slices.Sort(list)
	return list
}

// correction is the end of a message about a name that no member has: the member that may be meant, or, where
// it is one of an object that has it with other arguments only, what that takes with those given.
func (s *schema) correction(name string, given map[string]any) string {
	near := s.near(name)
	for _, p := range s.properties {
		if p.items != nil && near == p.name+"[0]."+name {
			doubled := slices.DeleteFunc(p.items.among(given), func(n string) bool { return s.property(n) == nil })
			if len(doubled) > 0 {
				return fmt.Sprintf("; it goes into %s, with %s", near[:strings.LastIndex(near, ".")],
					strings.Join(doubled, " and "))
			}
		}
		if near != p.name+"."+name || p.members == nil {
			continue
		}
		if has := p.members(given); len(has) > 0 && !slices.Contains(has, name) {
			return fmt.Sprintf("; here %s takes %s", p.name, strings.Join(has, ", "))
		}
	}
	return when(near != "", "; did you mean %s?", near)
}

// among gives the names of given that are members of s.
func (s *schema) among(given map[string]any) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(given)), func(name string) bool { return s.property(name) == nil })
}

// near is what a name that no member has may mean: those it is a hint for, the nearest name, one or two that
// end with it, that name with its unit, or where a member of a member has it.
func (s *schema) near(name string) string {
	var meant []string
	for _, p := range s.properties {
		if slices.Contains(p.hints, name) {
			meant = append(meant, p.name)
		}
	}
	if meant != nil {
		return strings.Join(meant, " or ")
	}
	if near := schemas.Nearest(name, s.names()); near != "" {
		return near
	}
	var ends []string
	for _, p := range s.properties {
		switch {
		case p.name == name+"_seconds":
			return p.name
		case strings.HasSuffix(p.name, "_"+name):
			ends = append(ends, p.name)
		case p.items != nil && p.items.property(name) != nil:
			return fmt.Sprintf("%s[0].%s", p.name, name)
		case p.property(name) != nil:
			return p.name + "." + name
		case p.like != nil && p.like.property(name) != nil:
			return p.name + "." + name
		}
	}
	if len(ends) < 3 {
		return strings.Join(ends, " or ")
	}
	return ""
}

// takes says which members an object has.
func (s *schema) takes(at string) string {
	text := when(at != "", "%s takes ", at) + "only " + strings.Join(s.names(), ", ")
	return text + when(len(s.required) > 0, " (required: %s)", strings.Join(s.required, ", "))
}

// wants says what a value is for, where the check says only what it is not.
func (s *schema) wants() string {
	switch {
	case len(s.enum) > 0:
		return ": one of " + strings.Join(s.enum, ", ")
	case s.description != "":
		return ": " + s.description
	case s.kind == "array" && s.items != nil:
		return ": a list of " + s.items.kind + "s"
	case len(s.properties) > 0:
		return ": " + s.form()
	}
	return ""
}

// form is an object of the schema with all its members, a choice by its values.
func (s *schema) form() string {
	members := make([]string, len(s.properties))
	for i, p := range s.properties {
		value := "…"
		switch {
		case len(p.enum) > 0:
			value = `"` + strings.Join(p.enum, `" or "`) + `"`
		case p.kind == "string":
			value = `"…"`
		}
		members[i] = fmt.Sprintf("%q: %s", p.name, value)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// HasText reports whether the answers of the operation word themselves.
func (o *Operation) HasText() bool {
	return o.out.Implements(reflect.TypeFor[interface{ Text() string }]())
}
