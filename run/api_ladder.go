package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cordelia/pipeline"
	"cordelia/schemas"
)

// step is a way to have a server keep a reply to a schema, the strictest first. Each way's
// reply is checked against the schema here.
type step int

const (
	strictly step = iota // the server holds the model to the schema
	asObject             // to a JSON object, or to one tool
	inWords              // none of these: the schema is in the prompt
	freely               // no schema: the model has tools
)

// ladder remembers of an endpoint and its model how far down the ways it takes begin.
type ladder struct {
	mu sync.Mutex
	at step
}

func (l *ladder) step() step {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// down notes that a way and those above it are of no use.
func (l *ladder) down(to step) step {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = min(max(l.at, to), inWords)
	return l.at
}

// maxRepairs is how often an answer that does not fit is sent back, also that of a model with tools.
const maxRepairs = 2

// unfit counts an answer that does not fit, and is the fault that ends the order after too many.
func (c *conversation) unfit(wrong, text string) error {
	if c.repairs++; c.repairs <= maxRepairs {
		return nil
	}
	return faultf(NoAnswer, "%d answers do not fit, the last %s; it said: %s", c.repairs, wrong, c.Key.Hide(text))
}

// judge asks for a structured answer without tools. A server that refuses a way to ask for
// it is asked in the next one; one whose answer does not fit has ignored the schema.
func (c *conversation) judge(ctx context.Context) (json.RawMessage, error) {
	at := c.ladder.step()
	c.turns = []turn{{user: c.asked(at)}}
	for {
		r, f := c.say(ctx, c.judging(at))
		if f != nil && f.rejected() && at < inWords {
			at = c.ladder.down(at + 1)
			c.turns = []turn{{user: c.asked(at)}}
			continue
		}
		if f != nil {
			return nil, f.fault
		}
		text := r.text
		for _, call := range r.calls {
			if call.name == answerTool {
				text = string(call.input)
			}
		}
		answer, wrong := c.parse(text)
		if wrong == "" {
			return answer, nil
		}
		if err := c.unfit(wrong, text); err != nil {
			return nil, err
		}
		if at = inWords; !r.cut { // a reply that was cut says nothing about the schema
			c.ladder.down(at)
		}
		c.turns = []turn{{user: c.asked(at)}, {answer: &reply{text: text}}, {user: "That " + wrong +
			"\nAnswer again with one JSON object and nothing else."}}
	}
}

// judging is a request for a structured answer.
func (c *conversation) judging(at step) talk {
	return talk{system: strings.ReplaceAll(c.order.System, "with StructuredOutput", "as one JSON object"), shape: at,
		schema: c.order.Schema}
}

// asked is the prompt with the parts of the schema that the server does not get.
func (c *conversation) asked(at step) string {
	if at == strictly || at == asObject && c.Kind == Messages { // there it is the input of a tool
		return c.order.Prompt
	}
	return c.order.Prompt + "\n\nYour answer is one JSON object and nothing else, which fits this schema:\n" +
		string(c.order.Schema)
}

// parse finds the one object of a text that fits the schema, among prose and thoughts; wrong
// words why there is none.
func (c *conversation) parse(text string) (answer json.RawMessage, wrong string) {
	found := pipeline.Objects(text)
	var fit []json.RawMessage
	var nearest []schemas.Violation
	for _, one := range found {
		one = withoutNulls(one, c.order.Schema)
		bad, err := c.schema.CheckText(one)
		switch {
		case err != nil:
			return nil, "cannot be held against the schema: " + err.Error()
		case len(bad) == 0 && !slices.ContainsFunc(fit, func(o json.RawMessage) bool { return bytes.Equal(o, one) }):
			fit = append(fit, one)
		case len(bad) > 0 && (nearest == nil || len(bad) < len(nearest)):
			nearest = bad
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], ""
	case len(fit) > 1:
		return nil, fmt.Sprintf("holds %d different objects that could be meant", len(fit))
	case len(found) == 0:
		return nil, "holds no JSON object"
	}
	var b strings.Builder
	b.WriteString("does not fit the schema:")
	for _, v := range nearest[:min(len(nearest), 10)] {
		fmt.Fprintf(&b, "\n- %s %s", v.Path, v.Msg)
	}
	return nil, b.String()
}

// node is a part of a JSON Schema, as far as answers use it.
type node = map[string]any

// strictSchema is a schema as strict modes take it: objects without other members and no
// bounds, which are checked here; with all, each member is required and may be null.
// Any JSON becomes a text.
func strictSchema(raw json.RawMessage, all bool) json.RawMessage {
	var schema node
	if json.Unmarshal(raw, &schema) != nil {
		return raw
	}
	out, err := json.Marshal(strictNode(schema, all))
	if err != nil {
		return raw
	}
	return out
}

func strictNode(s node, all bool) node {
	out := node{}
	for _, key := range []string{"type", "description", "enum", "const"} {
		if v, ok := s[key]; ok {
			out[key] = v
		}
	}
	if items, ok := s["items"].(node); ok {
		out["items"] = strictNode(items, all)
	}
	if list, ok := s["anyOf"].([]any); ok {
		var parts []node
		for _, one := range list {
			if part, ok := one.(node); ok {
				parts = append(parts, strictNode(part, all))
			}
		}
		out["anyOf"] = parts
	}
	if properties, ok := s["properties"].(node); ok {
		required := namesOf(s["required"])
		inner := node{}
		for name, v := range properties {
			part, _ := v.(node)
			part = strictNode(part, all)
			if all && !slices.Contains(required, name) {
				part = node{"anyOf": []node{part, {"type": "null"}}}
				required = append(required, name)
			}
			inner[name] = part
		}
		slices.Sort(required)
		out["properties"], out["required"], out["additionalProperties"] = inner, required, false
	}
	if list, ok := s["enum"].([]any); ok && slices.Contains(list, nil) {
		out["type"] = []string{"string", "null"}
	} else if out["type"] == nil && out["anyOf"] == nil {
		out["type"] = "string"
	}
	return out
}

func namesOf(list any) (names []string) {
	all, _ := list.([]any)
	for _, one := range all {
		if name, ok := one.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// withoutNulls leaves out the members of an object that are null and need not be there:
// strict modes make models write each one.
func withoutNulls(value, schema json.RawMessage) json.RawMessage {
	var s node
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if json.Unmarshal(schema, &s) != nil || d.Decode(&v) != nil {
		return value
	}
	prune(v, s)
	out, err := json.Marshal(v)
	if err != nil {
		return value
	}
	return out
}

func prune(v any, s node) {
	if list, ok := s["anyOf"].([]any); ok {
		for _, one := range list {
			if part, ok := one.(node); ok {
				prune(v, part)
			}
		}
	}
	switch v := v.(type) {
	case []any:
		items, _ := s["items"].(node)
		for _, one := range v {
			prune(one, items)
		}
	case node:
		properties, _ := s["properties"].(node)
		required := namesOf(s["required"])
		for name, part := range properties {
			if inner, there := v[name]; there && inner == nil && !slices.Contains(required, name) {
				delete(v, name)
			} else if part, ok := part.(node); ok {
				prune(inner, part)
			}
		}
	}
}
