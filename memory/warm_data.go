package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"cordelia/memory/canonical"
	"cordelia/schemas"
)

// Limits of an item's data.
const (
	maxData    = 24 << 10 // bytes of canonical JSON: one item fits into one answer
	maxContent = 16 << 10 // bytes of one text
	maxLine    = 1000     // bytes of one line or list element
	maxTitle   = 200
	maxList    = 100
	maxTag     = 64
)

// shape is what a field of an item's data must be.
type shape struct {
	kind     string // text, line, title, lines, tags, map, number, flag, count, date, prediction, or a|b|c
	required bool
}

// fields lists the fields of each type, as the ecosystem names them.
func fields(t ItemType) map[string]shape {
	switch t {
	case EntityItem:
		return map[string]shape{
			"type": {"person|org|project|concept", true}, "name": {"title", true}, "aliases": {"lines", false},
			"tags": {"tags", false}, "summary": {"text", false}, "details": {"map", false}, "refs": {"lines", false},
		}
	case SessionItem:
		return map[string]shape{
			"date": {"date", true}, "focus": {"line", true}, "highlights": {"lines", false},
			"decisions":          {"lines", false},
			"entities_mentioned": {"lines", false}, "tags": {"tags", false}, "duration_minutes": {"count", false},
		}
	case LearningItem:
		return map[string]shape{
			"type":    {"pattern|insight|principle|" + strings.Join(schemas.InstructionKinds(), "|"), true},
			"content": {"text", true}, "context": {"text", false},
			"tools": {"tags", false}, "tags": {"tags", false}, "source_session": {"title", false},
			"prediction": {"prediction", false},
			"confidence": {"number", false}, "validated": {"flag", false},
		}
	}
	return nil
}

// Fields lists the fields that the data of a type may have, none of a type that there is not.
func Fields(t ItemType) []string { return slices.Sorted(maps.Keys(fields(t))) }

// content is an item's data, checked: what is hashed and indexed.
type content struct {
	data       []byte // canonical JSON, without confidence and validated
	value      map[string]any
	confidence *int // a learning may carry its own, in thousandths
	validated  *bool
}

// typeOf is the one type whose fields data has, empty if none or several fit. Data that says its
// own type is of the item type that has it, even if other fields are wrong.
func typeOf(data json.RawMessage) (t ItemType) {
	if t := typeNamed(data); t != "" {
		return t
	}
	for _, typ := range ItemTypes() {
		if _, found := parseContent(typ, data, ""); len(found) > 0 {
			continue
		}
		if t != "" {
			return ""
		}
		t = typ
	}
	return t
}

// typeNamed is the type of item that takes what data has as its own type, empty if there is none.
func typeNamed(data json.RawMessage) ItemType {
	var of struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(data, &of) != nil || of.Type == "" {
		return ""
	}
	for _, typ := range ItemTypes() {
		if slices.Contains(strings.Split(fields(typ)["type"].kind, "|"), of.Type) {
			return typ
		}
	}
	return ""
}

// parseContent checks data against the fields of t and reports every violation,
// with paths below at.
func parseContent(t ItemType, data json.RawMessage, at string) (content, []schemas.Violation) {
	var c content
	known := fields(t)
	if known == nil {
		return c, []schemas.Violation{{Path: strings.TrimSuffix(at, "/data") + "/type",
			Msg: "must be one of entity, session, learning: its data fits none of them, or several"}}
	}
	value, err := canonical.Object(data)
	if err != nil {
		return c, violations(err, at)
	}
	check := checker{}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		s, ok := known[name]
		if !ok {
			check.add(at+schemas.Pointer(name), "there is no such field in %s; there are %s", t,
				strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			continue
		}
		check.field(at+"/"+name, s.kind, value[name])
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if _, ok := value[name]; !ok && known[name].required {
			missing := "is missing"
			if kind := known[name].kind; strings.Contains(kind, "|") {
				missing += ", one of " + strings.ReplaceAll(kind, "|", ", ")
			}
			check.add(at+"/"+name, "%s", missing)
		}
	}
	if len(check.found) > 0 {
		return c, check.found
	}
	if f, ok := value["confidence"].(float64); ok {
		n := thousandths(f)
		c.confidence = &n
		delete(value, "confidence")
	}
	if b, ok := value["validated"].(bool); ok {
		c.validated = &b
		delete(value, "validated")
	}
	c.value = value
	if c.data, err = canonical.Of(value); err != nil {
		return c, []schemas.Violation{{Path: at, Msg: "cannot be stored: " + err.Error()}}
	}
	if len(c.data) > maxData {
		return c, []schemas.Violation{{Path: at, Msg: fmt.Sprintf("is %d bytes, more than %d", len(c.data), maxData)}}
	}
	return c, nil
}

// violations turns an error of decoding into violations below at.
func violations(err error, at string) []schemas.Violation {
	var e *schemas.Error
	if ok := errors.As(err, &e); ok && len(e.Violations) > 0 {
		found := slices.Clone(e.Violations)
		for i := range found {
			found[i].Path = at + found[i].Path
		}
		return found
	} else if ok {
		return []schemas.Violation{{Path: at, Msg: e.Msg}}
	}
	return []schemas.Violation{{Path: at, Msg: err.Error()}}
}

func thousandths(f float64) int { return int(f*1000 + 0.5) }

// checker collects violations.
type checker struct{ found []schemas.Violation }

func (c *checker) add(path, format string, args ...any) {
	c.found = append(c.found, schemas.Violation{Path: path, Msg: fmt.Sprintf(format, args...)})
}

func (c *checker) field(path, kind string, v any) {
	switch kind {
	case "text":
		c.text(path, v, maxContent)
	case "line":
		c.text(path, v, maxLine)
	case "title":
		c.text(path, v, maxTitle)
	case "lines":
		c.list(path, v, maxLine)
	case "tags":
		c.list(path, v, maxTag)
	case "map":
		if _, ok := v.(map[string]any); !ok {
			c.add(path, "must be an object")
		}
	case "number":
		if f, ok := v.(float64); !ok || f < 0 || f > 1 {
			c.add(path, "must be a number from 0 to 1")
		}
	case "count":
		if f, ok := v.(float64); !ok || f < 0 || f > 1e6 {
			c.add(path, "must be a number from 0 to 1000000")
		}
	case "flag":
		if _, ok := v.(bool); !ok {
			c.add(path, "must be true or false")
		}
	case "date":
		if s, ok := v.(string); !ok || schemas.DateOf(s).IsZero() {
			c.add(path, "%s", schemas.NoDate(s))
		}
	case "prediction":
		c.prediction(path, v)
	default:
		s, _ := v.(string)
		if allowed := strings.Split(kind, "|"); !slices.Contains(allowed, s) {
			c.add(path, "must be one of %s", strings.Join(allowed, ", "))
		}
	}
}

func (c *checker) text(path string, v any, limit int) {
	s, ok := v.(string)
	switch {
	case !ok:
		c.add(path, "must be text")
	case strings.TrimSpace(s) == "":
		c.add(path, "must not be empty")
	case len(s) > limit:
		c.add(path, "is %d bytes long, more than %d", len(s), limit)
	}
}

func (c *checker) list(path string, v any, limit int) {
	elements, ok := v.([]any)
	if !ok {
		c.add(path, "must be a list of texts")
		return
	}
	if len(elements) > maxList {
		c.add(path, "has %d elements, more than %d", len(elements), maxList)
		return
	}
	for i, e := range elements {
		c.text(fmt.Sprintf("%s/%d", path, i), e, limit)
	}
}

func (c *checker) prediction(path string, v any) {
	p, ok := v.(map[string]any)
	if !ok {
		c.add(path, "must be an object with due and check")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if name != "due" && name != "check" {
			c.add(path+schemas.Pointer(name), "there is no such field; there are check, due")
		}
	}
	c.field(path+"/due", "date", p["due"])
	if _, machine := p["check"].(map[string]any); !machine {
		c.field(path+"/check", "line", p["check"])
		return
	}
	_, wrong := checkOf(p["check"], path+"/check")
	c.found = append(c.found, wrong...)
}

// checkOf is what a prediction names for the node to check.
func checkOf(v any, at string) (schemas.Check, []schemas.Violation) {
	raw, err := canonical.Of(v)
	if err != nil {
		return schemas.Check{}, violations(err, at)
	}
	return schemas.ParseCheck(raw, at, schemas.ForesightKinds())
}

// Foretold is what a learning says will be so and when it is due, in UTC µs; ok
// is false for everything the node cannot check.
func (d *Draft) Foretold() (c schemas.Check, due int64, ok bool) {
	if d.content == nil {
		return c, 0, false
	}
	p, _ := d.content.value["prediction"].(map[string]any)
	if _, machine := p["check"].(map[string]any); !machine {
		return c, 0, false
	}
	c, wrong := checkOf(p["check"], "")
	day, _ := p["due"].(string)
	return c, micros(day), len(wrong) == 0
}

// micros is the stored form of an optional time, 0 for none.
func micros(s string) int64 {
	if t := schemas.DateOf(s); !t.IsZero() {
		return t.UnixMicro()
	}
	return 0
}

// name is the line an item is listed under.
func (c content) name() string {
	for _, field := range []string{"name", "focus", "content"} {
		if s, ok := c.value[field].(string); ok {
			return oneLine(s, 120)
		}
	}
	return ""
}

// oneLine is the beginning of s on one line, at most limit bytes.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= limit {
		return s
	}
	cut := schemas.Boundary(s, limit)
	if i := strings.LastIndexByte(s[:cut], ' '); i > cut/2 {
		cut = i
	}
	return s[:cut] + "…"
}

// Title is the beginning of s on one line, no longer than a title.
func Title(s string) string { return oneLine(s, maxTitle) }

// tags are the tags in lower case, sorted, each once.
func (c content) tags() []string {
	tags := []string{}
	for _, t := range canonical.Strings(c.value["tags"]) {
		tags = append(tags, strings.ToLower(strings.TrimSpace(t)))
	}
	sort.Strings(tags)
	return slices.Compact(tags)
}

// prose is everything of the item that can be searched.
func (c content) prose() string {
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v)
			b.WriteByte('\n')
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				b.WriteString(k)
				b.WriteByte(' ')
				walk(v[k])
			}
		case float64, bool:
			fmt.Fprintf(&b, "%v\n", v)
		}
	}
	for _, field := range []string{"name", "focus", "content", "aliases", "summary", "context", "highlights",
		"decisions", "entities_mentioned", "details", "prediction", "tools", "tags", "refs", "date"} {
		if v, ok := c.value[field]; ok {
			walk(v)
		}
	}
	return b.String()
}

// body is the running text of an item, for snippets.
func (c content) body() string {
	var parts []string
	for _, field := range []string{"content", "summary", "context"} {
		if s, ok := c.value[field].(string); ok {
			parts = append(parts, s)
		}
	}
	for _, field := range []string{"highlights", "decisions", "entities_mentioned", "aliases"} {
		parts = append(parts, canonical.Strings(c.value[field])...)
	}
	if d, ok := c.value["details"].(map[string]any); ok {
		for _, k := range slices.Sorted(maps.Keys(d)) {
			parts = append(parts, fmt.Sprintf("%s: %v", k, d[k]))
		}
	}
	return strings.Join(parts, "\n")
}
