package run

import (
	"encoding/json"
	"slices"
	"strings"
)

// toolSpec is a tool as a model sees it.
type toolSpec struct {
	Name, About string
	Input       json.RawMessage // JSON Schema
}

// toolInput is the input of any tool of ours; each takes its part.
type toolInput struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout_seconds"`
	Path    string `json:"path"`
	Offset  int    `json:"offset"`
	Content string `json:"content"`
	Old     string `json:"old"`
	New     string `json:"new"`
	All     bool   `json:"all"`
	Pattern string `json:"pattern"`
}

// words is an input as the record of calls has it.
func (in toolInput) words(tool string, raw json.RawMessage) string {
	switch tool {
	case toolBash:
		return in.Command
	case toolRead, toolEdit, toolWrite:
		return in.Path
	case toolGlob, toolGrep:
		return strings.TrimSpace(in.Pattern + " " + in.Path)
	}
	return compact(raw)
}

// toolSpecs are the tools that an order has. Paths are relative to its folder.
func toolSpecs(names []string) (list []toolSpec) {
	object := func(required []string, properties map[string]string) json.RawMessage {
		type property struct {
			Type string `json:"type"`
		}
		inner := map[string]property{}
		for name, kind := range properties {
			inner[name] = property{kind}
		}
		raw, err := json.Marshal(struct {
			Type       string              `json:"type"`
			Properties map[string]property `json:"properties"`
			Required   []string            `json:"required"`
		}{"object", inner, required})
		if err != nil {
			panic(err) // strings alone: a defect
		}
		return raw
	}
	for _, one := range []toolSpec{
		{toolBash, "Run a command with bash in the top folder. Gives its exit code and output.",
			object([]string{"command"}, map[string]string{"command": "string", "timeout_seconds": "integer"})},
		{toolRead, "Read a file, from line offset on.",
			object([]string{"path"}, map[string]string{"path": "string", "offset": "integer"})},
		{toolWrite, "Write a whole file.",
			object([]string{"path", "content"}, map[string]string{"path": "string", "content": "string"})},
		{toolEdit, "Replace old in a file by new. old must be there once; with all, as often as it is there.",
			object([]string{"path", "old", "new"}, map[string]string{"path": "string", "old": "string", "new": "string",
				"all": "boolean"})},
		{toolGlob, "List files whose path fits a pattern such as src/**/*.go.",
			object([]string{"pattern"}, map[string]string{"pattern": "string", "path": "string"})},
		{toolGrep, "Find lines that match a regular expression (RE2), below path.",
			object([]string{"pattern"}, map[string]string{"pattern": "string", "path": "string"})},
	} {
		if slices.Contains(names, one.Name) {
			list = append(list, one)
		}
	}
	return list
}
