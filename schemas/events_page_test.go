package schemas

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const eventsHead = `# Events

<!-- This page is made from schemas/event_kinds.go and the payloads there: UPDATE_GOLDEN=1 go test ./schemas -->

After this page you know what each event tells, and who gets it.

An event is written in the same transaction as the change. It has an ` + "`id`, a `type`, a `source`" + ` (the
entity that caused it, or ` + "`node`" + `), a ` + "`domain`" + ` (the group or entity it concerns), a ` +
	"`timestamp`" + `
and a ` + "`payload`" + `: ids, names made by the node, and enums, never text that another agent wrote.

Where an event goes to a group, its members get it while they may read its memory. An event for
one entity goes to that entity alone. No reader gets an event that it caused. The culture of a group
can hold events back: ` + "`broadcast_eagerness: taciturn`" + ` leaves out those of memories and of work,
and of a group with ` + "`notification_policy: silent`" + ` members get none. ` + "`push`" + ` wakes a member that
listens; with ` + "`notify`" + ` the event waits in its mailbox.

An agent reads its events with [events_poll](tools.md#events_poll) and chooses among them with
[events_subscribe](tools.md#events_subscribe); a person with ` + "`cordelia events poll`" + `. Other systems
get those of groups over [NATS](scale.md#events-for-other-systems).
`

// docs/events.md lists every event type: when it comes, to whom, and with what.
func TestEventsPage(t *testing.T) {
	words := fieldComments(t)
	var b strings.Builder
	b.WriteString(eventsHead)
	var families, described []string
	for i, k := range EventKinds() {
		require.NotEmpty(t, k.When, k.Type)
		require.NotEmpty(t, k.Readers, k.Type)
		family, _, _ := strings.Cut(string(k.Type), ".")
		if last := len(families) - 1; last < 0 || families[last] != family {
			require.NotContains(t, families, family, "types of one kind stand together")
			families = append(families, family)
			fmt.Fprintf(&b, "\n## %s\n\n| event | when | who gets it |\n|---|---|---|\n", family)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Type, k.When, k.Readers)
		rest := EventKinds()[i+1:]
		if len(rest) == 0 || !strings.HasPrefix(string(rest[0].Type), family+".") {
			described = describePayloads(t, &b, family, described, words)
		}
	}
	path := filepath.Join("..", "docs", "events.md")
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
		return
	}
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(page), "run UPDATE_GOLDEN=1 go test ./schemas and read the change")
}

// describePayloads writes the fields of each payload of a family once, below the types that carry it.
func describePayloads(t *testing.T, b *strings.Builder, family string, done []string,
	words map[string]string) []string {
	t.Helper()
	defs := readSchema(t, "events").Defs
	for _, k := range EventKinds() {
		payload := reflect.TypeOf(k.Payload)
		if !strings.HasPrefix(string(k.Type), family+".") || strings.Contains(strings.Join(done, " "), payload.Name()+" ") {
			continue
		}
		done = append(done, payload.Name()+" ")
		var carry []string
		for _, other := range EventKinds() {
			if reflect.TypeOf(other.Payload) == payload {
				carry = append(carry, "`"+string(other.Type)+"`")
			}
		}
		fmt.Fprintf(b, "\n%s:\n\n| field | type | |\n|---|---|---|\n", strings.Join(carry, ", "))
		shape := parseSchema(t, defs[string(k.Type)])
		var types map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(propertiesOf(t, defs[string(k.Type)]), &types))
		for f := range payload.Fields() {
			f := f
			name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
			require.Contains(t, shape.Properties, name)
			says := words[payload.Name()+"."+f.Name]
			require.NotEmpty(t, says, "%s.%s has no comment that explains it", payload.Name(), f.Name)
			if rest == "omitempty" {
				says += "; may be absent"
			}
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, typeInDocs(t, defs, types[name]), says)
		}
	}
	return done
}

func propertiesOf(t *testing.T, shape json.RawMessage) json.RawMessage {
	t.Helper()
	var s struct{ Properties json.RawMessage }
	require.NoError(t, json.Unmarshal(shape, &s))
	return s.Properties
}

// typeInDocs words the schema of a field: its choices, a number, or an id.
func typeInDocs(t *testing.T, defs map[string]json.RawMessage, shape json.RawMessage) string {
	t.Helper()
	var s struct {
		Ref  string `json:"$ref"`
		Type string
		Enum []string
	}
	require.NoError(t, json.Unmarshal(shape, &s))
	if s.Ref != "" {
		in, name, found := strings.Cut(s.Ref, "#/$defs/")
		require.True(t, found, s.Ref)
		if schema := strings.TrimPrefix(in, SchemaURN("")); schema != "" {
			defs = readSchema(t, schema).Defs
		}
		return typeInDocs(t, defs, defs[name])
	}
	switch {
	case len(s.Enum) > 0:
		return "one of `" + strings.Join(s.Enum, "` `") + "`"
	case s.Type == "string":
		return "id"
	case s.Type == "boolean":
		return "true or false"
	}
	return "number"
}

// fieldComments are the comments of the fields of the payloads, by Struct.Field.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	words := map[string]string{}
	for _, name := range []string{"event.go", "swarm.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if body, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range body.Fields.List {
					for _, field := range f.Names {
						words[spec.Name.Name+"."+field.Name] = strings.TrimSpace(f.Comment.Text())
					}
				}
			}
			return true
		})
	}
	return words
}
