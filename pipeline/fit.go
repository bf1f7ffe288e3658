package pipeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"cordelia/schemas"
)

// Bounds of what an answer holds.
const (
	maxElements = 100
	maxText     = 100_000 // bytes of a string
)

// reading is an object that fits, without what was dropped.
type reading struct {
	text     []byte
	notes    []string
	repaired bool
}

// fit checks an object against a type and names all that is wrong with it.
func fit(text []byte, typ reflect.Type) (reading, []schemas.Violation) {
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return reading{}, []schemas.Violation{{Msg: "is not JSON"}}
	}
	f := fitting{}
	value = f.value(value, typ, "")
	if len(f.bad) > 0 {
		return reading{}, f.bad
	}
	out, err := json.Marshal(value)
	if err != nil {
		return reading{}, []schemas.Violation{{Msg: "is not JSON"}}
	}
	if f.plausible != nil {
		f.notes = append(f.notes, "plausible, judged by evidence as text, for want of a mode, a check or a command: "+
			strings.Join(f.plausible, ", "))
	}
	return reading{text: out, notes: f.notes}, nil
}

type fitting struct {
	bad       []schemas.Violation
	notes     []string
	plausible []string // criteria that name no proof
}

func (f *fitting) wrong(at, format string, args ...any) {
	f.bad = append(f.bad, schemas.Violation{Path: at, Msg: fmt.Sprintf(format, args...)})
}

// value checks v against typ and gives what remains of it.
func (f *fitting) value(v any, typ reflect.Type, at string) any {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ == reflect.TypeFor[json.RawMessage]():
		return v
	case typ == reflect.TypeFor[schemas.Check]():
		raw, err := json.Marshal(v)
		if err == nil {
			_, bad := schemas.ParseCheck(raw, at, schemas.CheckKinds())
			f.bad = append(f.bad, bad...)
		}
		return v
	case typ == reflect.TypeFor[schemas.Criterion]():
		f.noteMode(v, at)
		if s, ok := v.(string); ok {
			return f.text(s, at)
		}
	}
	switch typ.Kind() {
	case reflect.Struct:
		m, ok := v.(map[string]any)
		if !ok {
			f.wrong(at, "must be an object")
			return v
		}
		return f.members(m, typ, at)
	case reflect.Slice:
		return f.array(v, typ.Elem(), at)
	case reflect.Int:
		n, _ := v.(json.Number)
		if _, err := strconv.ParseInt(n.String(), 10, 32); err != nil {
			f.wrong(at, "must be a whole number")
		}
		return v
	}
	return f.word(v, typ, at)
}

// array checks each element of a list.
func (f *fitting) array(v any, of reflect.Type, at string) any {
	list, ok := v.([]any)
	if !ok {
		f.wrong(at, "must be an array")
		return v
	}
	if len(list) > maxElements {
		f.wrong(at, "has %d elements, more than %d", len(list), maxElements)
		return v
	}
	for i := range list {
		list[i] = f.value(list[i], of, at+"/"+strconv.Itoa(i))
	}
	return list
}

// word checks a text, which may have to be one of some words or a time.
func (f *fitting) word(v any, typ reflect.Type, at string) any {
	s, ok := v.(string)
	if !ok {
		f.wrong(at, "must be a string")
		return v
	}
	if words := wordsOf(typ); words != nil && !slices.Contains(words, s) {
		f.wrong(at, "must be one of %s", strings.Join(words, ", "))
	}
	if strings.HasSuffix(at, "/deadline") {
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			f.wrong(at, "must be a time like 2026-11-20T15:04:05Z")
		}
	}
	return f.text(s, at)
}

// noteMode collects a criterion that is plausible because nothing in it says how to prove
// it.
func (f *fitting) noteMode(v any, at string) {
	raw, err := json.Marshal(v)
	var c schemas.Criterion
	if m, ok := v.(map[string]any); ok && m["mode"] != nil || err != nil || json.Unmarshal(raw, &c) != nil {
		return
	}
	if c.Mode == schemas.Plausible {
		f.plausible = append(f.plausible, at)
	}
}

func (f *fitting) text(s, at string) string {
	if len(s) > maxText {
		f.wrong(at, "is %d bytes long, more than %d", len(s), maxText)
	}
	return s
}

func (f *fitting) members(m map[string]any, typ reflect.Type, at string) map[string]any {
	fields := members(typ)
	names := slices.Sorted(maps.Keys(fields))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		path := at + schemas.Pointer(name)
		field, known := fields[name]
		switch {
		case known && m[name] == nil && field.optional:
			delete(m, name)
		case known:
			m[name] = f.value(m[name], field.typ, path)
		case notTheirs(typ, name) != "":
			delete(m, name)
			f.notes = append(f.notes, path+" was dropped: "+notTheirs(typ, name))
		default:
			f.wrong(path, "there is no such member%s",
				cmp.Or(schemas.DidYouMean(name, names), ", only "+strings.Join(names, ", ")))
		}
	}
	for _, name := range names {
		if _, given := m[name]; !given && !fields[name].optional {
			f.wrong(at+schemas.Pointer(name), "is missing")
		}
	}
	return m
}

// notTheirs says why a member is not the answerer's to say, "" if nothing is
// known against it. Ids and rounds are made by the node (INV-IDS).
func notTheirs(typ reflect.Type, name string) string {
	switch {
	case name == "id", name == "ids", name == "uuid", name == "round", strings.HasSuffix(name,
		"_id"), strings.HasSuffix(name, "_ids"):
		return "ids are made by the node"
	case typ == reflect.TypeFor[schemas.Perception]() && name == "success_criteria":
		return "criteria are the planner's to derive"
	case typ == reflect.TypeFor[schemas.Perception]() && name == "raw_input":
		return "the node keeps what was asked"
	case typ == reflect.TypeFor[schemas.JudgedCriterion]() && name == "mode":
		return "the mode was set when it was planned"
	}
	return ""
}

type member struct {
	typ      reflect.Type
	optional bool
}

// members are those of a struct's JSON.
func members(typ reflect.Type) map[string]member {
	out := map[string]member{}
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous {
			continue
		}
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		out[name] = member{f.Type, rest != "" || typ == reflect.TypeFor[schemas.Criterion]() && name == "mode"}
	}
	return out
}

func memberNames(typ reflect.Type) []string { return slices.Sorted(maps.Keys(members(typ))) }

// fieldNames are the names of all members of a type and of what it holds.
func fieldNames(typ reflect.Type) map[string]bool {
	out := map[string]bool{}
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Slice, reflect.Pointer:
			walk(t.Elem())
		case reflect.Struct:
			for name, m := range members(t) {
				out[name] = true
				walk(m.typ)
			}
		}
	}
	walk(typ)
	return out
}

// wordsOf lists what a string of that type may be, nil = anything.
func wordsOf(typ reflect.Type) []string {
	switch typ {
	case reflect.TypeFor[schemas.CriterionMode]():
		return schemas.Strings(schemas.CriterionModes())
	case reflect.TypeFor[schemas.ExecutionStatus]():
		return schemas.Strings(schemas.ExecutionStatuses())
	case reflect.TypeFor[schemas.Verdict]():
		return schemas.Strings(schemas.Verdicts())
	case reflect.TypeFor[schemas.FailureClass]():
		return schemas.Strings(schemas.FailureClasses())
	}
	return nil
}
