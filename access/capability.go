package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cordelia/schemas"
)

// Limits of one declaration. They bound the work an untrusted caller can ask for.
const (
	maxDeclarationBytes = 64 << 10
	maxListLen          = 256
	maxUnknownNames     = 16 // how many unknown fields of one object are named
)

// defaultParallelOps stands for an omitted max_parallel_ops: the bottom of the order.
const defaultParallelOps = 1

// Declared is a validated declaration as it was asked for. A nil number was
// omitted: as a plain int64 an omitted ttl would read as 0, the unlimited one.
// Lists hold each element once and are never nil; patterns have no repeated stars.
type Declared struct {
	MemoryRead         schemas.MemoryScope
	MemoryWrite        schemas.MemoryScope
	Tools              []string
	MaxParallelOps     *int
	TTLSeconds         *int64
	Autonomous         bool
	MaxDelegationDepth *int
}

// Resolve gives the record to store for an agent of type t under the last entity
// of chain (the human root first), with every omitted number filled in:
//
//   - max_parallel_ops: 1;
//   - ttl_seconds: the time left to the chain at now (UTC µs), at most 3600 and
//     at least 1, never the unlimited 0;
//   - max_delegation_depth: 1 for claude-code, else 0, and never more than the
//     chain may hand down.
//
// It does not hold the result against the chain; CheckRegistration does.
func (d Declared) Resolve(t schemas.AgentType, chain []ChainLink, now int64) schemas.Capabilities {
	c := schemas.Capabilities{
		MemoryRead:     d.MemoryRead,
		MemoryWrite:    d.MemoryWrite,
		Tools:          d.Tools,
		MaxParallelOps: defaultParallelOps,
		TTLSeconds:     schemas.DefaultTTLSeconds,
		Autonomous:     d.Autonomous,
	}
	if d.MaxParallelOps != nil {
		c.MaxParallelOps = *d.MaxParallelOps
	}
	if d.TTLSeconds != nil {
		c.TTLSeconds = *d.TTLSeconds
	} else if expiry := EffectiveExpiry(chain); expiry != 0 {
		c.TTLSeconds = max(1, min(c.TTLSeconds, (expiry-now)/1_000_000))
	}
	if d.MaxDelegationDepth != nil {
		c.MaxDelegationDepth = *d.MaxDelegationDepth
	} else if t == schemas.ClaudeCode {
		c.MaxDelegationDepth = 1
		for i, link := range chain {
			if caps, ok := link.Boundary.Capabilities(); ok {
				c.MaxDelegationDepth = max(0, min(c.MaxDelegationDepth, caps.MaxDelegationDepth-(len(chain)-i)))
			}
		}
	}
	return c
}

// ParseCapabilities decodes and validates an untrusted declaration; tools are
// the names of the tools that exist. The error is of code invalid and carries
// every violation in field order, each with a stable reason (see Refusal).
//
// Absent lists grant nothing. Names and values are case-sensitive. Null, unknown
// and repeated fields, unknown tools and wildcards among them are refused, and so
// is public in memory_write: no agent writes public memory (INV-PUBLIC).
func ParseCapabilities(raw []byte, tools []string) (Declared, error) {
	d := decoder{tools: tools}
	declared := d.capabilities(raw)
	if err := d.refusal(); err != nil {
		return Declared{}, err
	}
	return declared, nil
}

// ParseOver is ParseCapabilities of a declaration laid over another, present: a
// field that given leaves out keeps its value there, inside memory_read and
// memory_write, too, and an empty list grants nothing. Without given, present holds.
// Tools written +name and -name change the present list; plain names replace it.
func ParseOver(present, given json.RawMessage, tools []string) (Declared, error) {
	if len(given) == 0 {
		return ParseCapabilities(present, tools)
	}
	d := decoder{tools: tools, over: true}
	d.capabilities(given)
	if err := d.refusal(); err != nil {
		return Declared{}, err
	}
	whole, err := overlay(present, given, "memory_read", "memory_write")
	if err != nil {
		return Declared{}, err
	}
	if len(d.added)+len(d.dropped) > 0 {
		if whole, err = changeTools(present, whole, d.added, d.dropped); err != nil {
			return Declared{}, err
		}
	}
	return ParseCapabilities(whole, tools)
}

// changeTools gives whole the tool list of present, with added and without dropped.
func changeTools(present, whole json.RawMessage, added, dropped []string) (json.RawMessage, error) {
	var now struct {
		Tools []string `json:"tools"`
	}
	if err := json.Unmarshal(present, &now); err != nil {
		return nil, fmt.Errorf("read the present tools: %w", err)
	}
	for _, name := range added {
		now.Tools = insert(now.Tools, name)
	}
	list, err := json.Marshal(slices.DeleteFunc(now.Tools,
		func(name string) bool { return slices.Contains(dropped, name) }))
	if err != nil {
		return nil, err
	}
	return overlay(whole, json.RawMessage(`{"tools":`+string(list)+`}`))
}

// overlay lays the fields of one JSON object over those of another, in the objects
// named inside, too.
func overlay(present, given json.RawMessage, inside ...string) (json.RawMessage, error) {
	whole, changes := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := errors.Join(json.Unmarshal(present, &whole), json.Unmarshal(given, &changes)); err != nil {
		return nil, fmt.Errorf("lay capabilities over others: %w", err)
	}
	for name, value := range changes {
		if below, ok := whole[name]; ok && slices.Contains(inside, name) {
			var err error
			if value, err = overlay(below, value); err != nil {
				return nil, err
			}
		}
		whole[name] = value
	}
	return json.Marshal(whole)
}

// decoder collects violations while it walks a declaration in field order.
type decoder struct {
	tools          []string
	over           bool     // +name and -name may stand among the tools
	added, dropped []string // those that did
	found          []Violation
}

func (d *decoder) refusal() error {
	if len(d.found) == 0 {
		return nil
	}
	return refuse(schemas.CodeInvalid, "the capabilities are not valid", d.found).
		Try("correct what is listed and repeat the call; %s shows the rights of an agent",
			schemas.Tool("agent_capabilities"))
}

func (d *decoder) report(reason, path, format string, args ...any) {
	d.found = append(d.found, Violation{reason, path, fmt.Sprintf(format, args...)})
}

func (d *decoder) capabilities(raw []byte) (c Declared) {
	switch {
	case len(raw) > maxDeclarationBytes:
		d.report("too_large", "", "a declaration holds at most %d bytes", maxDeclarationBytes)
		return c
	case !utf8.Valid(raw) || !json.Valid(raw):
		d.report("invalid_json", "", "not a JSON text in UTF-8")
		return c
	}
	o := d.object(raw, "", "memory_read", "memory_write", "tools",
		"max_parallel_ops", "ttl_seconds", "autonomous", "max_delegation_depth")
	c.MemoryRead = d.scope(o, "memory_read")
	c.MemoryWrite = d.scope(o, "memory_write")
	c.Tools = d.toolNames(o)
	if n := d.integer(o, "max_parallel_ops", 1, schemas.MaxParallelOpsLimit); n != nil {
		c.MaxParallelOps = new(int(*n))
	}
	c.TTLSeconds = d.integer(o, "ttl_seconds", 0, schemas.MaxTTLSeconds)
	c.Autonomous = d.boolean(o, "autonomous")
	if n := d.integer(o, "max_delegation_depth", 0, schemas.MaxTreeDepth); n != nil {
		c.MaxDelegationDepth = new(int(*n))
	}
	d.strays(o)
	return c
}

func (d *decoder) scope(o object, field string) schemas.MemoryScope {
	in := object{}
	if raw, ok := o.fields[field]; ok {
		in = d.object(raw, field, "layers", "groups", "visibility")
	}
	s := schemas.MemoryScope{Layers: []schemas.Layer{}, Groups: []string{}, Visibility: []schemas.Visibility{}}
	for _, e := range d.list(in, "layers") {
		if l := schemas.Layer(e.text); l == schemas.L1 || l == schemas.L2 {
			s.Layers = insert(s.Layers, l)
			continue
		}
		d.report("invalid_layer:"+field+":"+e.text, e.path, "%.40q is no layer: l1 or l2", e.text)
	}
	for _, e := range d.list(in, "groups") {
		if CheckPattern(e.text) != nil {
			d.report("invalid_pattern:"+field+":"+e.text, e.path, "a group pattern is %s", patternGrammar)
			continue
		}
		s.Groups = insert(s.Groups, collapseStars(e.text))
	}
	for _, e := range d.list(in, "visibility") {
		v := schemas.Visibility(e.text)
		switch {
		case v != schemas.Private && v != schemas.Group && v != schemas.Public:
			d.report("invalid_visibility:"+field+":"+e.text, e.path, "%.40q is no visibility: private, group or public",
				e.text)
		case v == schemas.Public && field == "memory_write":
			d.report("public_write_forbidden", e.path, "no agent writes public memory; share it through a person")
		default:
			s.Visibility = insert(s.Visibility, v)
		}
	}
	d.strays(in)
	return s
}

func (d *decoder) toolNames(o object) []string {
	names := []string{}
	for _, e := range d.list(o, "tools") {
		into, name := &names, e.text
		switch {
		case d.over && strings.HasPrefix(name, "+"):
			into, name = &d.added, name[1:]
		case d.over && strings.HasPrefix(name, "-"):
			into, name = &d.dropped, name[1:]
		}
		if slices.Contains(d.tools, name) {
			*into = insert(*into, name)
			continue
		}
		msg := fmt.Sprintf("there is no tool %.64q", name)
		if meant := schemas.Meant(name, d.tools); meant != nil {
			msg += fmt.Sprintf("; did you mean %s?", strings.Join(meant, " or "))
		} else if strings.Contains(e.text, "*") {
			msg += "; tools are named one by one, so that a new one is never granted silently"
		}
		d.report("invalid_tool:"+e.text, e.path, "%s", msg)
	}
	if len(names) > 0 && len(d.added)+len(d.dropped) > 0 {
		d.report("mixed_tools", o.pointer("tools"),
			"either +name and -name, which change the list, or plain names, which replace it")
	}
	return names
}

func insert[T comparable](set []T, e T) []T {
	if slices.Contains(set, e) {
		return set
	}
	return append(set, e)
}

// object is a JSON object with its known fields apart from what it should not hold.
type object struct {
	known    []string
	name     string // dotted, "" for the whole
	fields   map[string]json.RawMessage
	unknown  []string
	repeated []string
}

func (o object) dotted(field string) string { return strings.TrimPrefix(o.name+"."+field, ".") }

// pointer gives the JSON pointer of a field.
func (o object) pointer(field string) string {
	if o.name == "" {
		return schemas.Pointer(field)
	}
	return schemas.Pointer(o.name, field)
}

// object splits raw, valid JSON, into the known fields. Keys compare exactly:
// decoding into a struct would fold their case and keep the last of two.
func (d *decoder) object(raw json.RawMessage, name string, known ...string) object {
	o := object{name: name, known: known, fields: map[string]json.RawMessage{}}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		path := ""
		if name != "" {
			path = "/" + name
		}
		d.report(strings.TrimSuffix("invalid_type:"+name, ":"), path, "must be an object of %s",
			strings.Join(known, ", "))
		return o
	}
	for dec.More() {
		var value json.RawMessage
		key, err := dec.Token()
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil { // json.Valid has seen it: cannot happen, and must not pass
			d.report("invalid_json", "", "%v", err)
			return o
		}
		field := key.(string)
		_, seen := o.fields[field]
		switch {
		case !slices.Contains(known, field):
			o.unknown = append(o.unknown, field)
		case seen:
			o.repeated = append(o.repeated, field)
		default:
			o.fields[field] = value
		}
	}
	return o
}

// strays reports the fields that should not be there, after those that should.
func (d *decoder) strays(o object) {
	for _, f := range slices.Compact(slices.Sorted(slices.Values(o.repeated))) {
		d.report("duplicate_field:"+o.dotted(f), o.pointer(f), "the field occurs more than once")
	}
	for _, f := range o.unknown[:min(len(o.unknown), maxUnknownNames)] {
		d.report("unknown_field:"+o.dotted(f), o.pointer(f), "is not a known field; there are %s",
			strings.Join(o.known, ", "))
	}
}

type element struct{ text, path string }

// list gives the strings of a field; absent is empty.
func (d *decoder) list(o object, field string) []element {
	raw, ok := o.fields[field]
	if !ok {
		return nil
	}
	var values []any
	if err := json.Unmarshal(raw, &values); err != nil || values == nil {
		d.report("invalid_type:"+o.dotted(field), o.pointer(field), "must be a list of strings")
		return nil
	}
	if len(values) > maxListLen {
		d.report("too_many:"+o.dotted(field), o.pointer(field), "at most %d elements", maxListLen)
		return nil
	}
	elements := make([]element, 0, len(values))
	for i, v := range values {
		path := o.pointer(field) + "/" + strconv.Itoa(i)
		if s, ok := v.(string); ok {
			elements = append(elements, element{s, path})
			continue
		}
		d.report("invalid_type:"+o.dotted(field), path, "must be a string")
	}
	return elements
}

// integer gives a field written as a plain integer within low..high; absent is nil.
func (d *decoder) integer(o object, field string, low, high int64) *int64 {
	raw, ok := o.fields[field]
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < low || n > high {
		d.report("invalid_range:"+o.dotted(field), o.pointer(field), "must be an integer from %d to %d", low, high)
		return nil
	}
	return &n
}

// boolean gives a field that is true or false; absent is false.
func (d *decoder) boolean(o object, field string) bool {
	raw, ok := o.fields[field]
	if ok && string(raw) != "true" && string(raw) != "false" {
		d.report("invalid_type:"+o.dotted(field), o.pointer(field), "must be true or false")
	}
	return string(raw) == "true"
}
