package ops

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Models slip in the form of arguments: "1" for 1, a text for a list of one, JSON in a
// text, workId for work_id. Where only one thing can be meant, it is taken; the answer
// says nothing of it. What could mean two things is refused, with what was expected.

// coerced gives value, an argument as decoded with numbers kept as text, in the form
// that the schema wants. What it cannot read so stays as it is, for the check to refuse.
func (s *schema) coerced(value any) any {
	if s.any {
		return value // in any form it is what was meant: a text stays this text
	}
	switch s.kind {
	case "object":
		return s.coercedObject(value)
	case "array":
		return s.coercedList(value)
	case "string":
		return s.coercedText(value)
	case "boolean":
		if text, ok := value.(string); ok {
			switch strings.ToLower(text) {
			case "true", "yes", "on":
				return true
			case "false", "no", "off":
				return false
			}
		}
	case "integer", "number":
		return s.coercedNumber(value)
	}
	return value
}

func (s *schema) coercedNumber(value any) any {
	switch v := value.(type) {
	case string:
		text := strings.TrimSpace(v)
		if _, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) {
			return s.coercedNumber(json.Number(text))
		}
	case json.Number:
		if whole, found := strings.CutSuffix(string(v), ".0"); found && s.kind == "integer" {
			return json.Number(whole)
		}
	}
	return value
}

// coercedText takes a number or a truth for its text, and a choice in any case and with
// any sign between its words. Free words may come in lines, or as JSON.
func (s *schema) coercedText(value any) any {
	text := ""
	if s.free != "" {
		value = s.oneText(value)
	}
	switch v := value.(type) {
	case string:
		text = v
	case json.Number:
		text = string(v)
	case bool:
		text = strconv.FormatBool(v)
	case []any:
		if len(v) != 1 {
			return value
		}
		return s.coercedText(v[0])
	default:
		return value
	}
	if len(s.enum) > 0 && !slices.Contains(s.enum, text) {
		for _, choice := range s.enum {
			if plainName(choice) == plainName(text) {
				return choice
			}
		}
	}
	return text
}

// coercedList takes JSON in a text for the list, and one element for a list of it; of words
// that hold no comma, a text has several.
func (s *schema) coercedList(value any) any {
	list, ok := value.([]any)
	if !ok {
		if parsed, isJSON := parsedText(value, '['); isJSON {
			list, ok = parsed.([]any)
		}
	}
	if !ok {
		if value == nil {
			return value
		}
		list = []any{value}
		if text, isText := value.(string); isText && s.commas {
			list = list[:0]
			for word := range strings.SplitSeq(text, ",") {
				if word = strings.TrimSpace(word); word != "" {
					list = append(list, word)
				}
			}
		}
	}
	if s.items != nil {
		for i, v := range list {
			list[i] = s.items.coerced(v)
		}
	}
	return list
}

// coercedObject takes JSON in a text for the object, and a text that is none as the one
// member that its tag text names. Its members may be named in any case, and null is not given.
func (s *schema) coercedObject(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		if parsed, isJSON := parsedText(value, '{'); isJSON {
			object, ok = parsed.(map[string]any)
		}
	}
	if !ok {
		if text, isText := value.(string); isText && s.text != "" {
			return map[string]any{s.text: text}
		}
		return value
	}
	if s.like != nil && !s.patch {
		return s.like.coercedObject(object)
	}
	if len(s.properties) == 0 {
		return object
	}
	s.wrap(object)
	for _, given := range slices.Sorted(maps.Keys(object)) {
		v := object[given]
		if p := s.property(given); p != nil {
			if v == nil && !slices.Contains(s.required, given) {
				delete(object, given)
				continue
			}
			object[given] = p.coerced(v)
			continue
		}
		if p := s.meant(given, v); p != nil && object[p.name] == nil {
			delete(object, given)
			object[p.name] = p.coerced(v)
		}
	}
	return object
}

// wrap takes an object for the one element of the list of objects that it is to hold, where all that
// it has is members of such an element.
func (s *schema) wrap(object map[string]any) {
	for _, p := range s.properties {
		if p.items == nil || len(p.items.properties) == 0 {
			continue
		}
		one := map[string]any{}
		for name, v := range object {
			switch {
			case name == "as" || name == "idempotency_key":
			case s.property(name) == nil && p.items.property(name) != nil:
				one[name] = v
			default:
				return
			}
		}
		if len(one) > 0 {
			for name := range one {
				delete(object, name)
			}
			object[p.name] = []any{one}
		}
		return
	}
}

// meant is the member that a name stands for which none has: its own in another form, one
// that its tag also lists, the name with _id, or the other of singular and plural. It is
// nil if there is none or more than one.
func (s *schema) meant(given string, v any) (found *property) {
	name := plainName(given)
	list, isList := v.([]any)
	for i, p := range s.properties {
		own := plainName(p.name)
		switch {
		case own == name:
			return &s.properties[i]
		case slices.Contains(p.also, name), name == own+"id", own == name+"s", name == own+"s" &&
			(!isList || len(list) == 1):
			if found != nil {
				return nil
			}
			found = &s.properties[i]
		}
	}
	return found
}

// oneText gives a list of texts as the lines of one and, where JSON is free text too, any
// list or object as its JSON; else value.
func (s *schema) oneText(value any) any {
	list, isList := value.([]any)
	lines := make([]string, 0, len(list))
	for _, v := range list {
		if line, ok := v.(string); ok {
			lines = append(lines, line)
		}
	}
	_, isObject := value.(map[string]any)
	switch {
	case len(lines) > 0 && len(lines) == len(list):
		return strings.Join(lines, "\n")
	case s.free == "json" && (isList || isObject):
		if text, err := plainJSON(value); err == nil {
			return string(text)
		}
	}
	return value
}

// property is the member of that name, nil if there is none.
func (s *schema) property(name string) *schema {
	for _, p := range s.properties {
		if p.name == name {
			return p.schema
		}
	}
	return nil
}

// parsedText is what a text holds as JSON that begins so.
func parsedText(value any, begins byte) (parsed any, ok bool) {
	text, isText := value.(string)
	text = strings.TrimSpace(text)
	if !isText || text == "" || text[0] != begins {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&parsed) != nil || d.More() {
		return nil, false
	}
	return parsed, true
}

// plainName is a name without its case and the signs between its words.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// plainJSON encodes arguments with their characters as they were sent.
func plainJSON(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}
