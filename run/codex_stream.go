package run

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"cordelia/work"
)

// codexStream reads the JSON events of codex exec, line by line.
type codexStream struct {
	payer, model string
	last         string // what the model said last
}

type codexLine struct {
	Type  string `json:"type"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage struct {
		Input  int64 `json:"input_tokens"` // with what was cached
		Cached int64 `json:"cached_input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
	Item codexItem `json:"item"`
}

type codexItem struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Command   string          `json:"command"`
	Output    string          `json:"aggregated_output"`
	ExitCode  *int            `json:"exit_code"`
	Status    string          `json:"status"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Changes   []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`
}

// read gives the events of a line. What is no event at all is a line of its log.
func (s *codexStream) read(line []byte, at time.Time) ([]Event, error) {
	var l codexLine
	if err := json.Unmarshal(line, &l); err != nil {
		return nil, err
	}
	switch l.Type {
	case "thread.started":
		return []Event{{Kind: Began, At: at, Model: s.model, Payer: s.payer}}, nil
	case "item.started":
		if tool, input := l.Item.call(); tool != "" {
			return []Event{{Kind: Called, At: at, ID: l.Item.ID, Tool: tool, Input: input}}, nil
		}
	case "item.completed":
		return s.completed(l.Item, at), nil
	case "turn.failed":
		return []Event{{Kind: Ended, At: at, Fault: clientFault(l.Error.Message),
			Usage: work.Usage{Cost: work.UnknownCost}}}, nil
	case "turn.completed":
		e := Event{Kind: Ended, At: at, Usage: work.Usage{Input: l.Usage.Input - l.Usage.Cached, Cached: l.Usage.Cached,
			Output: l.Usage.Output, Cost: work.UnknownCost}}
		if e.Answer = objectIn(s.last); e.Answer == nil {
			e.Fault = faultf(NoAnswer, "its last message is no JSON object: %s", s.last)
		}
		return []Event{e}, nil
	}
	return nil, nil
}

// completed gives the events of an item that is over. Some items have no earlier event.
func (s *codexStream) completed(i codexItem, at time.Time) []Event {
	if i.Type == "agent_message" {
		s.last = i.Text
		return []Event{{Kind: Said, At: at, Text: i.Text}}
	}
	tool, input := i.call()
	if tool == "" {
		return nil
	}
	exit := 0
	switch {
	case i.ExitCode != nil:
		exit = *i.ExitCode
	case i.Status != "completed":
		exit = 1
	}
	return []Event{{Kind: Called, At: at, ID: i.ID, Tool: tool, Input: input},
		{Kind: Returned, At: at, ID: i.ID, Exit: exit, Output: i.Output}}
}

// call words an item that is a tool call, "" if it is none.
func (i codexItem) call() (tool, input string) {
	switch i.Type {
	case "command_execution":
		return toolBash, unwrapped(i.Command)
	case "file_change":
		var files []string
		for _, c := range i.Changes {
			files = append(files, c.Path)
		}
		return toolEdit, strings.Join(files, " ")
	case "mcp_tool_call":
		return i.Tool, compact(i.Arguments)
	case "web_search":
		return "web_search", i.Text
	}
	return "", ""
}

// shellCall is how a command is shown: /bin/bash -lc '…'.
var shellCall = regexp.MustCompile(`(?s)\A\S*(?:ba|z)?sh -l?c (.*)\z`)

// unwrapped is a command as the model gave it.
func unwrapped(command string) string {
	m := shellCall.FindStringSubmatch(command)
	if m == nil {
		return command
	}
	inner := m[1]
	switch {
	case len(inner) > 1 && inner[0] == '\'' && inner[len(inner)-1] == '\'':
		return strings.ReplaceAll(inner[1:len(inner)-1], `'\''`, `'`)
	case len(inner) > 1 && inner[0] == '"' && inner[len(inner)-1] == '"':
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`, "\\`", "`").Replace(inner[1 : len(inner)-1])
	}
	return inner
}

// objectIn is a text that is one JSON object, also in a fence; nil if it is none.
func objectIn(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		inner, ok = strings.CutSuffix(strings.TrimPrefix(inner, "json"), "```")
		if ok {
			text = strings.TrimSpace(inner)
		}
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil || object == nil {
		return nil
	}
	return json.RawMessage(text)
}
