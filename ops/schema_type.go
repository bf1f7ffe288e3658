package ops

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cordelia/schemas"
)

// schema is as much of JSON Schema as every client knows, and tools are published
// in: objects are closed, nothing may be null, and lists of choices are strings.
type schema struct {
	kind        string // the keyword type
	description string
	enum        []string
	any         bool       // kind object stands for every JSON value
	properties  []property // of an object whose members are known, in order
	required    []string
	closed      bool
	items       *schema  // of an array
	length      int      // of an array that has always the same
	text        string   // the member of an object that a mere text stands for, "" = none
	also        []string // other names that models give it, without signs between words
	hints       []string // names that models give for it, which mean something else, too: it is proposed
	free        string   // of a string of free words: lines, which a list may be, or json, which anything may
	commas      bool     // of an array of words: a text is split at its commas
	ref         ref      // what a string names by its id, "" = nothing
	patch       bool     // of such an object: null deletes, so its members stay as they are
	like        *schema  // of an object whose members are published in words: what they are; nil = anything

	members func(given map[string]any) []string // which of them it has, by the arguments given; nil = all
}

type property struct {
	name string
	*schema
}

// schemaOf gives the schema of what a type is as JSON. A field without omitempty is required,
// the tag jsonschema describes it, the tag enum closes it and the tag any opens it for every
// JSON value. A type of raw JSON without that tag stands for an object, since free JSON has no
// portable schema. Other types without a schema are an error.
func schemaOf(t reflect.Type) (*schema, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		if t == reflect.TypeFor[schemas.ItemID]() {
			return &schema{kind: "string", ref: refItem}, nil
		}
		return &schema{kind: "string"}, nil
	case reflect.Bool:
		return &schema{kind: "boolean"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &schema{kind: "integer"}, nil
	case reflect.Float32, reflect.Float64:
		return &schema{kind: "number"}, nil
	case reflect.Interface:
		return &schema{kind: "object"}, nil
	case reflect.Map: // its names are data
		if t.Key().Kind() == reflect.String {
			return &schema{kind: "object"}, nil
		}
	case reflect.Slice:
		switch t {
		case reflect.TypeFor[json.RawMessage]():
			return &schema{kind: "object"}, nil
		case reflect.TypeFor[schemas.Hint]():
			return &schema{kind: "string"}, nil // in the words for agents
		}
		if t.Elem().Kind() == reflect.Uint8 {
			break // base64 in a string
		}
		items, err := schemaOf(t.Elem())
		return &schema{kind: "array", items: items}, err
	case reflect.Array:
		items, err := schemaOf(t.Elem())
		return &schema{kind: "array", items: items, length: t.Len()}, err
	case reflect.Struct:
		if !t.Implements(reflect.TypeFor[json.Marshaler]()) {
			return objectOf(t)
		}
	}
	return nil, fmt.Errorf("%s has no portable schema", t)
}

func objectOf(t reflect.Type) (*schema, error) {
	s := &schema{kind: "object", closed: true}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			return nil, fmt.Errorf("the field %s of %s has no name in JSON", f.Name, t)
		}
		p, err := schemaOf(f.Type)
		if err != nil {
			return nil, err
		}
		if err := p.read(f.Tag); err != nil {
			return nil, err
		}
		s.properties = append(s.properties, property{name: name, schema: p})
		given := strings.Split(options, ",")
		if !slices.Contains(given, "omitempty") && !slices.Contains(given, "omitzero") && !throughPointer(t, f.Index) {
			s.required = append(s.required, name)
		}
	}
	return s, nil
}

// read takes in what the tags of a field say of its values; of a list some speak of each value.
func (s *schema) read(tag reflect.StructTag) (err error) {
	each := s
	if s.items != nil {
		each = s.items
	}
	s.description, s.text, s.free = tag.Get("jsonschema"), tag.Get("text"), tag.Get("free")
	s.commas = tag.Get("commas") != ""
	each.text = s.text
	if kind := ref(tag.Get("ref")); kind != "" {
		each.ref = kind
	}
	if also := tag.Get("also"); also != "" {
		s.also = strings.Split(also, ",")
	}
	if hints := tag.Get("hint"); hints != "" {
		s.hints = strings.Split(hints, ",")
	}
	if of := tag.Get("like"); of != "" {
		if s.like, err = schemaOf(likes[of].object); err != nil {
			return err
		}
		s.members = likes[of].members
		s.patch = tag.Get("patch") != ""
	}
	if tag.Get("any") != "" {
		s.any = true
	}
	if choices := tag.Get("enum"); choices != "" {
		each.enum = strings.Split(choices, ",")
	}
	return nil
}

// throughPointer reports whether a field stands in an embedded pointer, which may be nil.
func throughPointer(t reflect.Type, path []int) bool {
	for _, i := range path[:len(path)-1] {
		f := t.Field(i)
		if f.Type.Kind() == reflect.Pointer {
			return true
		}
		t = f.Type
	}
	return false
}

// append writes s as JSON, its members in a fixed order, since clients cache it. strict closes
// the objects, for the check of arguments. The published schema leaves that out to save bytes;
// the check names the nearest member where one is unknown. What may be any JSON value is an
// object unless strict, because some clients read no list of types.
func (s *schema) append(b []byte, strict bool) []byte {
	b = append(append(b, `{"type":`...), mustJSON(s.kind)...)
	if s.any && strict {
		b = append(b[:len(b)-len(mustJSON(s.kind))], `["object","array","string","number","boolean","null"]`...)
	}
	if len(s.properties) > 0 {
		b = append(b, `,"properties":`...)
		for i, p := range s.properties {
			b = append(append(b, "{,"[min(i, 1)]), mustJSON(p.name)...)
			b = p.append(append(b, ':'), strict)
		}
		b = append(b, '}')
	}
	if s.items != nil {
		b = s.items.append(append(b, `,"items":`...), strict)
	}
	for _, keyword := range []struct {
		name  string
		value any
		given bool
	}{
		{"minItems", s.length, s.length > 0},
		{"maxItems", s.length, s.length > 0},
		{"description", s.description, s.description != ""},
		{"enum", s.enum, len(s.enum) > 0},
		{"required", s.required, len(s.required) > 0},
		{"additionalProperties", false, s.closed && strict},
	} {
		if keyword.given {
			b = append(append(b, `,"`+keyword.name+`":`...), mustJSON(keyword.value)...)
		}
	}
	return append(b, '}')
}
