package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// part is a field of an object.
type part struct {
	Name  string
	Value json.RawMessage
}

// PartsOf lists the fields of an object in the order they have there; ok is false for
// anything else.
func PartsOf(raw json.RawMessage) (parts []part, ok bool) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return nil, false
		}
		parts = append(parts, part{fmt.Sprint(name), value})
	}
	return parts, true
}

// RawOf is a value as JSON, nothing if it has none.
func RawOf(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return raw
}

// InWords writes a JSON value for people: a text without its quotes, a list with ; between
// its elements, an object as names and values; one inside of another in parentheses.
func InWords(raw json.RawMessage) string { return wordsOf(raw, false) }

func wordsOf(raw json.RawMessage, inside bool) string {
	var single string
	if len(raw) == 0 || json.Unmarshal(raw, &single) == nil {
		return single
	}
	var list []json.RawMessage
	parts, isObject := PartsOf(raw)
	isList := !isObject && json.Unmarshal(raw, &list) == nil
	var out []string
	for _, p := range parts {
		out = append(out, strings.TrimSpace(p.Name+" "+wordsOf(p.Value, true)))
	}
	for _, element := range list {
		out = append(out, wordsOf(element, true))
	}
	text := strings.Join(out, map[bool]string{true: ", ", false: "; "}[isObject])
	switch {
	case string(raw) == "null":
		return ""
	case !isObject && !isList:
		return string(raw) // a number, true or false
	case inside && text != "":
		return "(" + text + ")"
	}
	return text
}

// ShapeOf says in words what a JSON Schema asks for.
func ShapeOf(raw json.RawMessage) string {
	var s struct {
		Type       json.RawMessage            `json:"type"`
		Enum       []json.RawMessage          `json:"enum"`
		AnyOf      []json.RawMessage          `json:"anyOf"`
		Items      json.RawMessage            `json:"items"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	switch {
	case len(s.Enum) > 0:
		var list []string
		for _, v := range s.Enum {
			if text := InWords(v); text != "" {
				list = append(list, text)
			}
		}
		return "one of " + strings.Join(list, ", ")
	case len(s.AnyOf) > 0:
		var list []string
		for _, one := range s.AnyOf {
			list = append(list, ShapeOf(one))
		}
		return strings.Join(list, " or ")
	case len(s.Items) > 0:
		return strings.TrimSpace("list of " + ShapeOf(s.Items))
	case len(s.Properties) > 0:
		var list []string
		for _, name := range SortedKeys(s.Properties) {
			need := ""
			if !slices.Contains(s.Required, name) {
				need = "optional "
			}
			list = append(list, strings.TrimSpace(name+": "+need+ShapeOf(s.Properties[name])))
		}
		return "object of (" + strings.Join(list, ", ") + ")"
	}
	return strings.ReplaceAll(InWords(s.Type), "; ", " or ")
}

// Data prints the fields of an item or a context, each with its name; lists and objects
// inside of them one element to a line.
func (a *App) Data(raw json.RawMessage) {
	for _, l := range dataLines(raw, "") {
		a.Say("%s", l)
	}
}

// Data appends the fields of an item, each beside its name; lists and objects inside of them one element
// to a line.
func (f *Fields) Data(raw json.RawMessage) {
	parts, ok := PartsOf(raw)
	if !ok {
		parts = []part{{"data", raw}}
	}
	for _, p := range parts {
		name := Clean(strings.ReplaceAll(p.Name, "_", " "))
		for _, l := range dataLines(p.Value, "") {
			f.Add(name, l)
			name = ""
		}
	}
}

func dataLines(raw json.RawMessage, indent string) (out []string) {
	var list []json.RawMessage
	parts, isObject := PartsOf(raw)
	if !isObject && json.Unmarshal(raw, &list) != nil {
		for l := range strings.SplitSeq(InWords(raw), "\n") {
			out = append(out, indent+Clean(l))
		}
		return out
	}
	for _, p := range parts {
		inner := dataLines(p.Value, indent+"  ")
		if isScalar(p.Value) && len(inner) == 1 {
			out = append(out, indent+Clean(p.Name)+": "+strings.TrimPrefix(inner[0], indent+"  "))
			continue
		}
		out = append(append(out, indent+Clean(p.Name)+":"), inner...)
	}
	for _, element := range list {
		inner := dataLines(element, indent+"  ")
		if len(inner) > 0 {
			inner[0] = indent + "- " + strings.TrimPrefix(inner[0], indent+"  ")
		}
		out = append(out, inner...)
	}
	return out
}

func isScalar(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] != '{' && raw[0] != '[' }

// Payload renders the fields of an event or an audit entry as name=value, in words and
// with names and short ids; empty fields are left out.
func Payload(a *App, of any) string {
	raw, err := json.Marshal(of)
	var in map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &in) != nil {
		return Clean(string(raw))
	}
	var parts []string
	for _, name := range SortedKeys(in) {
		if text := InWords(in[name]); text != "" {
			parts = append(parts, name+"="+text)
		}
	}
	return a.Named(strings.Join(parts, " "))
}
