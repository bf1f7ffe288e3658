package controller

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cordelia/schemas"
	"cordelia/work"
)

// answerSchemas are what each role is asked for: the definitions of the published
// schema, each as one piece. R3's is that of its report, whose result is any JSON.
func answerSchemas() (map[schemas.PipelineRole]json.RawMessage, error) {
	raw, err := schemas.Schema("pipeline")
	if err != nil {
		return nil, err
	}
	var all struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	out := map[schemas.PipelineRole]json.RawMessage{}
	for role, name := range map[schemas.PipelineRole]string{schemas.Planner: "Plan",
		schemas.AgentValidator: "VerdictReport", schemas.MetaValidator: "MergeReport"} {
		out[role] = json.RawMessage(text(whole(all.Defs[name], all.Defs)))
	}
	perception := whole(all.Defs["Perception"], all.Defs).(map[string]any)
	// In words: services that answer in a schema take no choice at its top.
	perception["description"] = "One of intent and questions is needed."
	out[schemas.Perceiver] = json.RawMessage(text(perception))
	out[schemas.Executor] = json.RawMessage(text(map[string]any{"type": "object",
		"required": []string{"outcome", "evidence"}, "properties": map[string]any{
			"outcome": map[string]any{"enum": []work.Outcome{work.Done, work.Failed}}, "result": map[string]any{},
			"note": map[string]any{"type": "string"}, "evidence": map[string]any{"type": "array",
				"items": all.Defs["Evidence"]}}}))
	return out, nil
}

// whole puts the definitions a schema refers to in their places; none refers to
// itself.
func whole(v any, defs map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			return whole(defs[strings.TrimPrefix(ref, "#/$defs/")], defs)
		}
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = whole(v[name], defs)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = whole(v[i], defs)
		}
		return out
	}
	return v
}
