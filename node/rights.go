package node

import (
	"encoding/json"

	"cordelia/schemas"
)

// leadCapabilities are those of the agent a user's own client acts as: all of
// the user's memory and every tool, one generation of agents below it.
func leadCapabilities(tools []string) []byte {
	return encoded(map[string]any{
		"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"*"},
			"visibility": []string{"private", "group", "public"}},
		"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"*"},
			"visibility": []string{"private", "group"}},
		"tools":                tools,
		"max_parallel_ops":     64,
		"ttl_seconds":          0,
		"autonomous":           true,
		"max_delegation_depth": 1,
	})
}

// UsualCapabilities is what an agent gets when its parent asks for nothing in
// particular, and where it leaves something out: enough to remember, share in its
// groups, hear events, and claim and report work; one whose type says that it works alone may do so, and come
// back.
func UsualCapabilities(t schemas.AgentType, groups []string) json.RawMessage {
	if groups == nil {
		groups = []string{}
	}
	tools := UsualTools()
	if t == schemas.Autonomous {
		tools = append(tools, "reintegrate")
	}
	return encoded(map[string]any{
		"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": groups,
			"visibility": []string{"group", "public"}},
		"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": groups,
			"visibility": []string{"group"}},
		"tools": tools, "max_parallel_ops": 4, "autonomous": t == schemas.Autonomous,
	})
}

// UsualTools are those of any agent whose parent named none.
func UsualTools() []string {
	return []string{"memory_read_hot", "memory_write_hot", "memory_session", "memory_search", "memory_read_warm",
		"memory_write_warm", "memory_share", "events_poll", "events_subscribe", "task_claim", "task_report"}
}

// encoded is v as JSON, which it can be made into.
func encoded(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // constant data of this package
	}
	return raw
}
