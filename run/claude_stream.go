package run

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"cordelia/work"
)

// claudeStream reads the stream-json output of Claude Code, line by line.
type claudeStream struct {
	dir     string // the folder it works in: paths within are shown relative to it
	limited *Fault // the last limit that was reported
	pending map[string]bool
	used    map[string]claudeUsage // so far, by message
}

type claudeLine struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Message struct {
		ID      string          `json:"id"`
		Content json.RawMessage `json:"content"`
		Usage   *claudeUsage    `json:"usage"`
	} `json:"message"`
	Model        string `json:"model"`
	APIKeySource string `json:"apiKeySource"`

	RateLimit struct {
		Status   string `json:"status"`
		ResetsAt int64  `json:"resetsAt"` // seconds
		Type     string `json:"rateLimitType"`
	} `json:"rate_limit_info"`

	// Of the result.
	IsError          bool            `json:"is_error"`
	TerminalReason   string          `json:"terminal_reason"`
	APIErrorStatus   int             `json:"api_error_status"`
	Result           string          `json:"result"`
	StructuredOutput json.RawMessage `json:"structured_output"`
	TotalCostUSD     *float64        `json:"total_cost_usd"`
	StopReason       string          `json:"stop_reason"`
	Usage            claudeUsage     `json:"usage"`
}

type claudeUsage struct {
	Input   int64 `json:"input_tokens"`
	Cached  int64 `json:"cache_read_input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

type claudeBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Text      string          `json:"text"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// answerTool is the tool by which the model gives its answer: no call of a seat's.
const answerTool = "StructuredOutput"

// read gives the events of a line. An error means that it is none of the format.
func (s *claudeStream) read(line []byte, at time.Time) ([]Event, error) {
	var l claudeLine
	if err := json.Unmarshal(line, &l); err != nil {
		return nil, err
	}
	switch l.Type {
	case "system":
		if l.Subtype == "init" {
			return []Event{{Kind: Began, At: at, Model: l.Model, Payer: l.APIKeySource}}, nil
		}
	case "assistant", "user":
		events, err := s.message(l.Message.Content, at)
		if used, ok := s.usage(l); ok {
			events = append(events, Event{Kind: Used, At: at, Usage: used})
		}
		return events, err
	case "rate_limit_event":
		if l.RateLimit.Status == "rejected" {
			s.limited = &Fault{Kind: Limit, Msg: "the provider's limit is reached: " + l.RateLimit.Type}
			if l.RateLimit.ResetsAt > 0 {
				s.limited.Until = time.Unix(l.RateLimit.ResetsAt, 0)
			}
			return []Event{{Kind: Limited, At: at, Fault: s.limited}}, nil
		}
	case "result":
		return []Event{s.result(l, at)}, nil
	}
	return nil, nil // what is not known is not needed
}

// usage sums up what the messages of the model took so far. A message comes in parts, each with
// what the whole took until then; its cost comes only at the end.
func (s *claudeStream) usage(l claudeLine) (sum work.Usage, ok bool) {
	if l.Type != "assistant" || l.Message.Usage == nil || l.Message.ID == "" {
		return sum, false
	}
	if s.used == nil {
		s.used = map[string]claudeUsage{}
	}
	s.used[l.Message.ID] = *l.Message.Usage
	sum.Cost = work.UnknownCost
	for _, u := range s.used {
		sum.Input, sum.Cached = sum.Input+u.Input, sum.Cached+u.Cached
		sum.Written, sum.Output = sum.Written+u.Written, sum.Output+u.Output
	}
	return sum, true
}

// message gives the calls, results and words of a message.
func (s *claudeStream) message(content json.RawMessage, at time.Time) (events []Event, err error) {
	var blocks []claudeBlock
	if json.Unmarshal(content, &blocks) != nil {
		return nil, nil // plain text of the user's side
	}
	for _, b := range blocks {
		switch {
		case b.Type == "text" && b.Text != "":
			events = append(events, Event{Kind: Said, At: at, Text: b.Text})
		case b.Type == "tool_use" && b.Name != answerTool:
			if s.pending == nil {
				s.pending = map[string]bool{}
			}
			tool, input, detached := s.call(b)
			s.pending[b.ID] = detached
			events = append(events, Event{Kind: Called, At: at, ID: b.ID, Tool: tool, Input: input})
		case b.Type == "tool_result":
			detached, known := s.pending[b.ToolUseID]
			if !known {
				continue
			}
			delete(s.pending, b.ToolUseID)
			exit, output := claudeOutcome(b)
			if detached && exit == 0 {
				exit = -1 // it runs on, and how it ends is not known
			}
			events = append(events, Event{Kind: Returned, At: at, ID: b.ToolUseID, Exit: exit, Output: output})
		}
	}
	return events, nil
}

// call words a call; detached means that its result comes before its end.
func (s *claudeStream) call(b claudeBlock) (tool, input string, detached bool) {
	var in struct {
		Command    string `json:"command"`
		FilePath   string `json:"file_path"`
		Path       string `json:"path"`
		Pattern    string `json:"pattern"`
		Background bool   `json:"run_in_background"`
	}
	tool = ourName(b.Name, "mcp__cordelia__", claudeTools)
	if json.Unmarshal(b.Input, &in) != nil {
		return tool, compact(b.Input), false
	}
	switch tool {
	case toolBash:
		return tool, in.Command, in.Background
	case toolRead, toolEdit, toolWrite:
		return tool, s.within(in.FilePath), false
	case toolGlob, toolGrep:
		return tool, strings.TrimSpace(in.Pattern + " " + s.within(in.Path)), false
	}
	return tool, compact(b.Input), false
}

// within is a path relative to the client's folder, if it lies there.
func (s *claudeStream) within(path string) string {
	if rel, err := filepath.Rel(s.dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// silence is what the client gives as the output of a command without output.
const silence = "(Bash completed with no output)"

// exitLine begins the result of a command that failed.
var exitLine = regexp.MustCompile(`\A(?:Error: )?Exit code (\d+)\n?`)

// claudeOutcome reads the result of a call: its exit code, 0 if it was no error, and
// what came out.
func claudeOutcome(b claudeBlock) (exit int, output string) {
	var text string
	var parts []claudeBlock
	if json.Unmarshal(b.Content, &text) != nil && json.Unmarshal(b.Content, &parts) == nil {
		var all []string
		for _, p := range parts {
			all = append(all, p.Text)
		}
		text = strings.Join(all, "\n")
	}
	if !b.IsError {
		return 0, strings.TrimPrefix(text, silence)
	}
	if m := exitLine.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			return n, text[len(m[0]):]
		}
	}
	return 1, text
}

// result reads how a run ended. A success without a structured answer is none.
func (s *claudeStream) result(l claudeLine, at time.Time) Event {
	e := Event{Kind: Ended, At: at, Usage: work.Usage{Input: l.Usage.Input, Cached: l.Usage.Cached,
		Written: l.Usage.Written, Output: l.Usage.Output,
		Cost: work.UnknownCost}}
	if l.TotalCostUSD != nil && *l.TotalCostUSD >= 0 {
		e.Usage.Cost = int64(math.Round(*l.TotalCostUSD * 1e6))
	}
	answered := len(l.StructuredOutput) > 0 && !bytes.Equal(bytes.TrimSpace(l.StructuredOutput), []byte("null"))
	switch {
	case l.Subtype == "success" && !l.IsError && answered:
		e.Answer = l.StructuredOutput
	case s.limited != nil && l.IsError:
		e.Fault = s.limited
	case l.APIErrorStatus == 429 || l.APIErrorStatus == 529:
		e.Fault = faultf(Limit, "the provider refuses more for now: %s", l.Result)
	case l.APIErrorStatus == 401 || l.APIErrorStatus == 403 || strings.Contains(l.Result, "Please run /login"):
		e.Fault = faultf(Unpaid, "%s", l.Result)
	case l.StopReason == "refusal":
		e.Fault = faultf(Refused, "the model refused: %s", l.Result)
	case l.IsError || l.Subtype != "success":
		e.Fault = faultf(Crashed, "it ended with %s (%s): %s", l.Subtype, l.TerminalReason, l.Result)
	default:
		e.Fault = faultf(NoAnswer, "it ended without a structured answer and said: %s", l.Result)
	}
	return e
}
