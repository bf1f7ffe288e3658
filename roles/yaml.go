package roles

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"cordelia/schemas"
)

// maxFile bounds a workspace's file, in bytes.
const maxFile = 1 << 20

// Parse reads a workspace's file. CodeInvalid lists everything that is wrong, each with its
// line and, for an unknown key, the nearest that is known.
func Parse(raw []byte) (schemas.Workspace, error) {
	var w schemas.Workspace
	r := &reader{}
	if err := r.into(raw, reflect.ValueOf(&w).Elem()); err != nil {
		return w, err
	}
	if len(r.found) == 0 {
		check(&w, func(path, format string, args ...any) { r.say(r.line(path), path, format, args...) })
	}
	return w, r.refusal("the workspace's file is not valid")
}

// ParseTemplate reads a role template from YAML or JSON.
func ParseTemplate(raw []byte) (schemas.RoleTemplate, error) {
	var t schemas.RoleTemplate
	r := &reader{}
	if err := r.into(raw, reflect.ValueOf(&t).Elem()); err != nil {
		return t, err
	}
	if len(r.found) == 0 {
		checkTemplate(t, "", func(path, format string, args ...any) { r.say(r.line(path), path, format, args...) })
	}
	return t, r.refusal("the template is not valid")
}

// ParseEvent reads an event from JSON. CodeInvalid names each key that an event does not have, and
// one whose value is of another kind.
func ParseEvent(raw []byte) (e Event, err error) {
	refused := schemas.Invalidf("this is no event").
		Expecting(`JSON, as {"type": "lead.created", "domain": "revenue", "payload": {}}`)
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return e, refused.Because(err)
	}
	known, unknown := keysOf(reflect.TypeFor[Event]()), []schemas.Violation(nil)
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, key) {
			unknown = append(unknown, schemas.Violation{Path: schemas.Pointer(key), Msg: "is no key of an event" +
				among(key, known)})
		}
	}
	if unknown != nil {
		return e, refused.With(unknown...)
	}
	err = json.Unmarshal(raw, &e)
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return e, refused.With(schemas.Violation{Path: schemas.Pointer(bad.Field),
			Msg: fmt.Sprintf("is a JSON %s, which does not fit", bad.Value)})
	}
	return e, err
}

// among names the known key that may be meant, else all.
func among(key string, known []string) string {
	return cmp.Or(schemas.DidYouMean(key, known), "; there are "+strings.Join(known, ", "))
}

// reader decodes YAML into structs by their json tags, and notes what does not fit.
type reader struct {
	found []schemas.Violation
	lines map[string]int // path → line
}

func (r *reader) into(raw []byte, to reflect.Value) error {
	if len(raw) > maxFile {
		return schemas.Invalidf("the file has %d bytes", len(raw)).Expecting("at most %d", maxFile)
	}
	var doc yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&doc); err != nil {
		return notYAML(raw, err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return schemas.Invalidf("the file holds more than one document").Expecting("one workspace").
			Try("take out the line --- and what follows it, or apply it as a file of its own")
	}
	r.lines = map[string]int{}
	if len(doc.Content) == 1 {
		r.value(doc.Content[0], "", to)
	}
	return nil
}

// notYAML words what the parser found, with what it most often comes of.
func notYAML(raw []byte, err error) error {
	if errors.Is(err, io.EOF) {
		return schemas.Invalidf("the file is empty").Expecting("a workspace: cordelia role example triager prints one")
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		n++
		if strings.HasPrefix(strings.TrimLeft(line, " "), "\t") && !strings.HasPrefix(string(raw), "{") {
			return schemas.Invalidf("the file is not YAML: line %d begins with a tab", n).Expecting("spaces").
				Try("mend that line and call again")
		}
	}
	return schemas.Invalidf("the file is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: ")).
		Expecting("the keys of one block indented alike, and texts with a colon or a brace in quotes").
		Try("look at that line and the block that begins there, and call again")
}

// line is that of a path or, where the file leaves it out, of what it would stand in; 0 is none.
func (r *reader) line(path string) int {
	for path != "" && r.lines[path] == 0 {
		path = path[:strings.LastIndex(path, "/")]
	}
	return r.lines[path]
}

func (r *reader) refusal(what string) error {
	if len(r.found) == 0 {
		return nil
	}
	return schemas.Invalidf("%s", what).With(r.found...).Try("mend what is listed and call again")
}

func (r *reader) say(line int, path, format string, args ...any) {
	at := ""
	if line > 0 {
		at = fmt.Sprintf("line %d: ", line)
	}
	r.found = append(r.found, schemas.Violation{Path: path, Msg: at + fmt.Sprintf(format, args...)})
}

// value decodes one node.
func (r *reader) value(n *yaml.Node, path string, to reflect.Value) {
	r.lines[path] = n.Line
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		r.say(n.Line, path, "is an alias or an anchor; write it out")
		return
	}
	if n.Tag == "!!null" {
		return
	}
	if to.Type() == reflect.TypeFor[schemas.OneOrMore]() && n.Kind == yaml.ScalarNode {
		to.Set(reflect.ValueOf(schemas.OneOrMore{n.Value}))
		return
	}
	if to.Type() == reflect.TypeFor[schemas.RoleCriterion]() && n.Kind == yaml.ScalarNode {
		to.Set(reflect.ValueOf(schemas.NewRoleCriterion(n.Value)))
		return
	}
	switch to.Kind() {
	case reflect.Pointer:
		v := reflect.New(to.Type().Elem())
		r.value(n, path, v.Elem())
		to.Set(v)
	case reflect.Struct:
		r.object(n, path, to)
	case reflect.Map:
		r.table(n, path, to)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			form := "[a, b]"
			if to.Type().Elem().Kind() == reflect.Struct {
				form = "[{" + strings.Join(keysOf(to.Type().Elem()), ": …, ") + ": …}]"
			}
			r.say(n.Line, path, "must be a list, as %s", form)
			return
		}
		list := reflect.MakeSlice(to.Type(), len(n.Content), len(n.Content))
		for i, c := range n.Content {
			r.value(c, path+"/"+strconv.Itoa(i), list.Index(i))
		}
		to.Set(list)
	default:
		r.scalar(n, path, to)
	}
}

// pairs calls f with each key of a mapping once.
func (r *reader) pairs(n *yaml.Node, path string, f func(key string, k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.say(n.Line, path, "must be keys with values")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if seen[k.Value] {
			r.say(k.Line, path+schemas.Pointer(k.Value), "stands here twice")
			continue
		}
		seen[k.Value] = true
		f(k.Value, k, v)
	}
}

func (r *reader) object(n *yaml.Node, path string, to reflect.Value) {
	known := keysOf(to.Type())
	if n.Kind != yaml.MappingNode {
		r.say(n.Line, path, "must be keys with values; there are %s", strings.Join(known, ", "))
		return
	}
	r.pairs(n, path, func(key string, k, v *yaml.Node) {
		at := slices.Index(known, key)
		if at < 0 {
			r.say(k.Line, path+schemas.Pointer(key), "there is no key %q here%s", schemas.Shorten(key, 64), among(key, known))
			return
		}
		r.value(v, path+schemas.Pointer(key), to.Field(at))
	})
}

func (r *reader) table(n *yaml.Node, path string, to reflect.Value) {
	table := reflect.MakeMap(to.Type())
	r.pairs(n, path, func(key string, _, v *yaml.Node) {
		one := reflect.New(to.Type().Elem()).Elem()
		r.value(v, path+schemas.Pointer(key), one)
		table.SetMapIndex(reflect.ValueOf(key).Convert(to.Type().Key()), one)
	})
	to.Set(table)
}

func (r *reader) scalar(n *yaml.Node, path string, to reflect.Value) {
	if n.Kind != yaml.ScalarNode {
		r.say(n.Line, path, "must be a single value")
		return
	}
	switch to.Kind() {
	case reflect.String:
		to.SetString(n.Value)
	case reflect.Bool:
		v, err := strconv.ParseBool(n.Value)
		if err != nil || n.Tag != "!!bool" {
			r.say(n.Line, path, "must be true or false")
		}
		to.SetBool(v)
	case reflect.Int, reflect.Int64:
		v, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil {
			r.say(n.Line, path, "must be a whole number")
		}
		to.SetInt(v)
	case reflect.Float64:
		v, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			r.say(n.Line, path, "must be a number")
			return
		}
		to.SetFloat(v)
	}
}

// keysOf lists the keys of a struct, in the order of its fields.
func keysOf(t reflect.Type) []string {
	keys := make([]string, t.NumField())
	for i := range keys {
		keys[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return keys
}

// Format writes a workspace as YAML that Parse reads back.
func Format(w schemas.Workspace) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(nodeOf(reflect.ValueOf(w))); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return b.Bytes(), e.Close()
}

// nodeOf is a value as YAML: structs with the keys that are set, in order, tables by key.
func nodeOf(v reflect.Value) *yaml.Node {
	n := &yaml.Node{}
	switch v.Kind() {
	case reflect.Pointer:
		return nodeOf(v.Elem())
	case reflect.Struct:
		n.Kind = yaml.MappingNode
		for i, key := range keysOf(v.Type()) {
			if !v.Field(i).IsZero() {
				n.Content = append(n.Content, textNode(key), nodeOf(v.Field(i)))
			}
		}
	case reflect.Map:
		n.Kind = yaml.MappingNode
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			n.Content = append(n.Content, textNode(k.String()), nodeOf(v.MapIndex(k)))
		}
	case reflect.Slice:
		n.Kind = yaml.SequenceNode
		for i := range v.Len() {
			n.Content = append(n.Content, nodeOf(v.Index(i)))
		}
	case reflect.String:
		return textNode(v.String())
	default:
		n.Kind, n.Value = yaml.ScalarNode, fmt.Sprint(v.Interface())
	}
	return n
}

// textNode is a text, quoted where YAML would read it as something else.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

// Souls puts the text of the files that souls name in their place; read gives a file beside
// the workspace's.
func Souls(w *schemas.Workspace, read func(name string) ([]byte, error)) error {
	r := &reader{}
	for i := range w.Roles {
		name := strings.TrimSpace(w.Roles[i].Soul)
		if !strings.HasSuffix(name, ".md") || strings.ContainsAny(name, " \n") {
			continue
		}
		at := fmt.Sprintf("/roles/%d/soul", i)
		text, err := read(name)
		if err != nil {
			r.say(0, at, "the file %s cannot be read", name)
			continue
		}
		if w.Roles[i].Soul = strings.TrimSpace(string(text)); w.Roles[i].Soul == "" || len(text) > maxSoul {
			r.say(0, at, "the file %s has %d bytes; a soul is a paragraph of 1 to %d", name, len(text), maxSoul)
		}
	}
	return r.refusal("a soul cannot be used")
}
