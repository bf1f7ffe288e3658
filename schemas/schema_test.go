package schemas

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// object is the part of a JSON Schema these tests look at.
type object struct {
	ID         string                     `json:"$id"`
	Draft      string                     `json:"$schema"`
	Properties map[string]object          `json:"properties"`
	Required   []string                   `json:"required"`
	Enum       []string                   `json:"enum"`
	Additional json.RawMessage            `json:"additionalProperties"`
	Defs       map[string]json.RawMessage `json:"$defs"`
}

func readSchema(t *testing.T, name string) object {
	t.Helper()
	text, err := Schema(name)
	require.NoError(t, err)
	return parseSchema(t, text)
}

func parseSchema(t *testing.T, text []byte) (o object) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, &o))
	return o
}

func TestSchemasArePublished(t *testing.T) {
	require.Equal(t, []string{"capabilities", "entity", "events", "identity", "l1", "learning", "pipeline", "session",
		"swarm", "trust"}, SchemaNames())
	for _, name := range SchemaNames() {
		s := readSchema(t, name)
		require.Equal(t, SchemaURN(name), s.ID)
		require.Equal(t, "https://json-schema.org/draft/2020-12/schema", s.Draft)
	}
	_, err := Schema("nonsense")
	require.ErrorIs(t, err, ErrNotFound)
}

// fits checks a closed schema object against the Go struct it describes: same
// members, and exactly those without omitempty are required.
func fits(t *testing.T, s object, record any, optional ...string) {
	t.Helper()
	require.Equal(t, "false", string(s.Additional), "%T is open", record)
	var all, required []string
	typ := reflect.TypeOf(record)
	for field := range typ.Fields() {
		name, rest, _ := strings.Cut(field.Tag.Get("json"), ",")
		all = append(all, name)
		if rest != "omitempty" && !slices.Contains(optional, name) {
			required = append(required, name)
		}
	}
	slices.Sort(all)
	slices.Sort(required)
	slices.Sort(s.Required)
	require.Equal(t, all, slices.Sorted(maps.Keys(s.Properties)), "%T", record)
	require.Equal(t, required, s.Required, "%T", record)
}

func TestRecordsFitTheirSchemas(t *testing.T) {
	fits(t, readSchema(t, "identity"), Agent{})
	// A declaration may leave out any capability: what is absent is not granted.
	fits(t, readSchema(t, "capabilities"), Capabilities{}, "memory_read", "memory_write", "tools",
		"max_parallel_ops", "ttl_seconds", "autonomous", "max_delegation_depth")
	fits(t, readSchema(t, "events"), Event{})
	fits(t, parseSchema(t, readSchema(t, "events").Defs["queued"]), QueuedEvent{})
}

// Every event type has a schema for its payload, which is that of the Go struct.
func TestEveryEventHasASchema(t *testing.T) {
	s := readSchema(t, "events")
	for _, e := range EventKinds() {
		shape, written := s.Defs[string(e.Type)]
		require.True(t, written, "write the shape of %s below $defs in events.schema.json", e.Type)
		fits(t, parseSchema(t, shape), e.Payload)
	}
}

// The envelope and the queue of events choose the payload's schema by the type.
func TestEventsChooseTheirPayload(t *testing.T) {
	var names, inEnvelope, inQueue []string
	for _, e := range EventTypes() {
		choice := func(in, by string) string {
			return strings.NewReplacer("TYPE", string(e), "BY", by, "\n", "\n"+in).Replace("\n" + `{
  "if": {"properties": {"BY": {"const": "TYPE"}}},
  "then": {"properties": {"payload": {"$ref": "#/$defs/TYPE"}}}
}`)
		}
		names = append(names, "\n        \""+string(e)+"\"")
		inEnvelope = append(inEnvelope, choice("    ", "type"))
		inQueue = append(inQueue, choice("        ", "event"))
	}
	now, err := Schema("events")
	require.NoError(t, err)
	want := string(now)
	for list, entries := range map[string][]string{"\n  \"allOf\": [": inEnvelope, "\n      \"allOf\": [": inQueue,
		"\n      \"enum\": [": names} {
		before, rest, found := strings.Cut(want, list)
		require.True(t, found, "the schema has no list %q", list)
		indent := list[:strings.Index(list, "\"")]
		_, after, found := strings.Cut(rest, indent+"]")
		require.True(t, found)
		want = before + list + strings.Join(entries, ",") + indent + "]" + after
	}
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.WriteFile("events.schema.json", []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(now), "run UPDATE_GOLDEN=1 go test ./schemas and read the change")
}

func TestEnumsFitTheirSchemas(t *testing.T) {
	words := func(name, def string) []string { return parseSchema(t, readSchema(t, name).Defs[def]).Enum }
	require.Equal(t, Strings(AgentTypes()), words("identity", "agent_type"))
	require.Equal(t, Strings(AgentStatuses()), words("identity", "status"))
	require.Equal(t, Strings(WorkStates()), words("events", "work_state"))
	require.Equal(t, Strings(TaskStates()), words("events", "task_state"))
	require.Equal(t, Strings([]LossReason{LossExpired, LossRevoked}), words("events", "loss_reason"))
	require.Equal(t, Strings(Divergences()), words("events", "divergence"))
}
