package run

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"cordelia/work"
)

// geminiStream reads the stream-json output of Gemini CLI, line by line.
type geminiStream struct {
	dir, payer string
	text       strings.Builder   // since the last tool call
	failed     string            // the last error it reported
	open       map[string]string // calls without a result so far: id → tool
}

type geminiLine struct {
	Type       string          `json:"type"`
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	Model      string          `json:"model"`
	Message    string          `json:"message"`
	ToolName   string          `json:"tool_name"`
	ToolID     string          `json:"tool_id"`
	Parameters json.RawMessage `json:"parameters"`
	Status     string          `json:"status"`
	Output     string          `json:"output"`
	Error      struct {
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		Total  int64 `json:"total_tokens"`
		Input  int64 `json:"input_tokens"` // with what was cached
		Cached int64 `json:"cached"`
		Models map[string]struct {
			Total int64 `json:"total_tokens"`
		} `json:"models"`
	} `json:"stats"`
}

// read gives the events of a line. What is no event at all is a line of its log.
func (s *geminiStream) read(line []byte, at time.Time) ([]Event, error) {
	var l geminiLine
	if err := json.Unmarshal(line, &l); err != nil {
		return nil, err
	}
	switch l.Type {
	case "init":
		return []Event{{Kind: Began, At: at, Model: l.Model, Payer: s.payer}}, nil
	case "message":
		if l.Role == "assistant" && l.Content != "" {
			s.text.WriteString(l.Content)
			return []Event{{Kind: Said, At: at, Text: l.Content}}, nil
		}
	case "tool_use":
		if s.open == nil {
			s.open = map[string]string{}
		}
		s.text.Reset()
		tool, input := s.call(l)
		s.open[l.ToolID] = tool
		return []Event{{Kind: Called, At: at, ID: l.ToolID, Tool: tool, Input: input}}, nil
	case "tool_result":
		tool, known := s.open[l.ToolID]
		if !known {
			return nil, nil
		}
		delete(s.open, l.ToolID)
		exit, output := geminiOutcome(tool, l)
		return []Event{{Kind: Returned, At: at, ID: l.ToolID, Exit: exit, Output: output}}, nil
	case "error":
		s.failed = l.Message
	case "result":
		return []Event{s.result(l, at)}, nil
	}
	return nil, nil
}

// call words a call.
func (s *geminiStream) call(l geminiLine) (tool, input string) {
	var in struct {
		Command  string `json:"command"`
		FilePath string `json:"file_path"`
		Pattern  string `json:"pattern"`
		DirPath  string `json:"dir_path"`
	}
	tool = ourName(l.ToolName, "mcp_cordelia_", geminiTools)
	if json.Unmarshal(l.Parameters, &in) != nil {
		return tool, compact(l.Parameters)
	}
	switch tool {
	case toolBash:
		return tool, in.Command
	case toolRead, toolEdit, toolWrite:
		if rel, err := filepath.Rel(s.dir, in.FilePath); err == nil && filepath.IsLocal(rel) {
			return tool, rel
		}
		return tool, in.FilePath
	case toolGlob, toolGrep:
		return tool, strings.TrimSpace(in.Pattern + " " + in.DirPath)
	}
	return tool, compact(l.Parameters)
}

// commandEnds are what Gemini CLI writes behind the output of a command.
var commandEnds = regexp.MustCompile(
	`(?:\nExit Code: (\d+))?(\nSignal: \S+)?(?:\nBackground PIDs: [^\n]*)?(?:\nProcess Group PGID: \d+)?\z`)

// geminiOutcome reads the result of a call. The exit code of a command is known only if its
// output comes with the text that Gemini CLI writes around it: without that text a failed
// command counts as a success.
func geminiOutcome(tool string, l geminiLine) (exit int, output string) {
	if l.Status != "success" {
		return 1, cmp.Or(l.Output, l.Error.Message)
	}
	if tool != toolBash {
		return 0, l.Output
	}
	text, whole := strings.CutPrefix(l.Output, "Output: ")
	m := commandEnds.FindStringSubmatchIndex(text)
	if !whole || m == nil || m[4] >= 0 {
		return -1, l.Output // it runs on, was stopped, or ended by a signal
	}
	if m[2] >= 0 {
		exit, _ = strconv.Atoi(text[m[2]:m[3]]) //nolint:errcheck // digits
	}
	if text = text[:m[0]]; text == "(empty)" {
		text = ""
	}
	return exit, text
}

// result reads how a run ended. A success without a JSON object is none.
func (s *geminiStream) result(l geminiLine, at time.Time) Event {
	e := Event{Kind: Ended, At: at, Usage: work.Usage{Input: l.Stats.Input - l.Stats.Cached, Cached: l.Stats.Cached,
		Output: l.Stats.Total - l.Stats.Input, Cost: work.UnknownCost}}
	message := s.failed
	if l.Error.Message != "" {
		message = l.Error.Message
	}
	switch {
	case l.Status != "success":
		e.Fault = clientFault(message)
	default:
		if e.Answer = objectIn(s.text.String()); e.Answer == nil {
			e.Fault = faultf(NoAnswer, "its last message is no JSON object: %s", s.text.String())
		}
	}
	return e
}
