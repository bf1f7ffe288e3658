package hot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// Every published schema compiles, references included, and takes what it is for
// and not what it is not.
func TestPublishedSchemas(t *testing.T) {
	id := string(workerAgent)
	agent := `{"agent_id":"` + id + `","parent_entity_id":"russell_wing","agent_type":"custom","display_name":"A","name":"a","created_at":"2026-01-31T16:00:00Z",
		"public_key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","status":"active","capabilities":{},"grants":{}`
	for _, c := range []struct {
		schema, value string
		wrong         []schemas.Violation
	}{
		{"capabilities", `{"memory_read":{"layers":["l1"],"groups":["swarm-*"],"visibility":["public"]},"tools":["memory_search"],"max_parallel_ops":5,"ttl_seconds":0}`, nil},
		{"capabilities", `{"memory_write":{"visibility":["public"]},"tools":["*"],"max_parallel_ops":0}`,
			[]schemas.Violation{
				{Path: "/max_parallel_ops", Msg: "must be at least 1"},
				{Path: "/memory_write/visibility/0", Msg: "must be one of private, group"},
				{Path: "/tools/0", Msg: "must match ^[a-z][a-z0-9_]*$"}}},
		{"identity", agent + `}`, nil},
		{"identity", agent + `,"private_key":"x"}`,
			[]schemas.Violation{{Path: "/private_key", Msg: "is not a known field"}}},
		{"entity", `{"type":"person","name":"Ada","details":{"any":1}}`, nil},
		{"entity", `{"type":"robot"}`, []schemas.Violation{
			{Path: "/name", Msg: "is missing"}, {Path: "/type", Msg: "must be one of person, org, project, concept"}}},
		{"session", `{"date":"2026-01-31","focus":"f","highlights":["h"]}`, nil},
		{"session", `{"date":"yesterday","focus":"f"}`, []schemas.Violation{{Path: "/date", Msg: "must be a date"}}},
		{"learning", `{"type":"insight","content":"c","confidence":0.5,"prediction":{"due":"2026-02-01T00:00:00Z","check":"ask"}}`, nil},
		{"learning", `{"type":"insight","content":"","confidence":2}`, []schemas.Violation{
			{Path: "/confidence", Msg: "must be at most 1"},
			{Path: "/content", Msg: "must have at least 1 characters"}}},
		{"events", `{"id":"1","type":"trust.score_changed","source":"node","domain":"d","payload":{"agent_id":"a","old_score":0.5,"new_score":0.6},"timestamp":"2026-01-31T16:00:00Z"}`, nil},
		{"events", `{"id":"1","type":"trust.score_changed","source":"node","domain":"d","payload":{"agent_id":"a","old_score":0.5,"new_score":6,"why":"free text"},"timestamp":"2026-01-31T16:00:00Z"}`, []schemas.Violation{
			{Path: "/payload/new_score", Msg: "must be at most 1"},
			{Path: "/payload/why", Msg: "is not a known field"}}},
	} {
		got, err := validate(c.schema, decoded(t, c.value))
		require.NoError(t, err)
		require.Equal(t, c.wrong, got, "%s %s", c.schema, c.value)
	}
	_, err := validate("nonsense", nil)
	require.Error(t, err)
	for _, name := range schemas.SchemaNames() {
		_, err := validate(name, map[string]any{})
		require.NoError(t, err, name)
	}
}
