package run

import (
	"encoding/json"
	"net/http"
	"strings"

	"cordelia/internal/endpoint"
	"cordelia/work"
)

// messagesWire speaks the Messages API of Anthropic.
type messagesWire struct{}

func (messagesWire) path() string { return "messages" }

func (messagesWire) sign(h http.Header, k endpoint.Key) {
	k.Send(h, "x-api-key", "")
	h.Set("anthropic-version", "2023-06-01")
}

// usualOutput bounds a reply in tokens where the settings do not: this API wants a bound.
const usualOutput = 16_000

type messagesRequest struct {
	Model        string            `json:"model"`
	MaxTokens    int               `json:"max_tokens"`
	Stream       bool              `json:"stream"`
	System       []messagesBlock   `json:"system,omitempty"`
	Tools        []messagesTool    `json:"tools,omitempty"`
	ToolChoice   *messagesChoice   `json:"tool_choice,omitempty"`
	OutputConfig *messagesOutput   `json:"output_config,omitempty"`
	Messages     []messagesMessage `json:"messages"`
}

type messagesBlock struct {
	Type      string         `json:"type"`
	Text      string         `json:"text,omitempty"`
	ToolUseID string         `json:"tool_use_id,omitempty"`
	Content   string         `json:"content,omitempty"`
	IsError   bool           `json:"is_error,omitempty"`
	Cache     *messagesCache `json:"cache_control,omitempty"`
}

// messagesCache marks the end of a prefix that is kept, for the next turn.
type messagesCache struct {
	Type string `json:"type"`
}

type messagesTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type messagesChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type messagesOutput struct {
	Format messagesFormat `json:"format"`
}

type messagesFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type messagesMessage struct {
	Role    string            `json:"role"`
	Content []json.RawMessage `json:"content"`
}

func (messagesWire) request(t talk) ([]byte, error) {
	r := messagesRequest{Model: t.model, MaxTokens: usualOutput, Stream: true,
		System: []messagesBlock{{Type: "text", Text: t.system}}}
	if t.maxOutput > 0 {
		r.MaxTokens = t.maxOutput
	}
	for _, tool := range t.tools {
		r.Tools = append(r.Tools, messagesTool{tool.Name, tool.About, tool.Input})
	}
	switch t.shape {
	case strictly:
		r.OutputConfig = &messagesOutput{messagesFormat{"json_schema", strictSchema(t.schema, false)}}
	case asObject:
		r.Tools = []messagesTool{{answerTool, "Give your answer.", t.schema}}
		r.ToolChoice = &messagesChoice{"tool", answerTool}
	}
	for i, one := range t.turns {
		m := messagesMessage{Role: "user"}
		var blocks []messagesBlock
		switch {
		case one.answer != nil:
			m.Role, m.Content = "assistant", one.answer.raw
			if m.Content == nil && one.answer.text != "" {
				blocks = []messagesBlock{{Type: "text", Text: one.answer.text}}
			}
		case one.user != "":
			blocks = []messagesBlock{{Type: "text", Text: one.user}}
		}
		for _, result := range one.results {
			blocks = append(blocks, messagesBlock{Type: "tool_result", ToolUseID: result.id, Content: result.text,
				IsError: result.failed})
		}
		// A conversation with tools is sent again with each turn; a judgement is asked once.
		if len(t.tools) > 0 && i == len(t.turns)-1 && len(blocks) > 0 {
			blocks[len(blocks)-1].Cache = &messagesCache{"ephemeral"}
			r.System[0].Cache = &messagesCache{"ephemeral"}
		}
		for _, b := range blocks {
			raw, err := json.Marshal(b)
			if err != nil {
				return nil, err
			}
			m.Content = append(m.Content, raw)
		}
		if len(m.Content) > 0 {
			r.Messages = append(r.Messages, m)
		}
	}
	return json.Marshal(r)
}

func (messagesWire) stream() replyReader { return &messagesStream{} }

// messagesStream reads the events of a reply.
type messagesStream struct {
	r      reply
	blocks []*messagesPart
	done   bool
}

// messagesPart is a block of a reply as it grows.
type messagesPart struct {
	Type      string          `json:"type"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Text      string          `json:"text,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"` // of a thought that is hidden
	input     strings.Builder
}

type messagesUsage struct {
	Input   int64 `json:"input_tokens"`
	Cached  int64 `json:"cache_read_input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

type messagesEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string        `json:"model"`
		Usage messagesUsage `json:"usage"`
	} `json:"message"`
	Block *messagesPart `json:"content_block"`
	Delta struct {
		Text       string `json:"text"`
		Partial    string `json:"partial_json"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage messagesUsage `json:"usage"`
	Error serverError   `json:"error"`
}

func (s *messagesStream) read(data []byte) (bool, *failure) {
	var e messagesEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return false, &failure{fault: faultf(Garbled, "an event of its stream is not JSON"), passing: true}
	}
	switch e.Type {
	case "message_start":
		u := e.Message.Usage
		s.r.model = e.Message.Model
		s.r.usage = work.Usage{Input: u.Input, Cached: u.Cached, Written: u.Written, Output: u.Output}
	case "content_block_start":
		if e.Block != nil {
			s.blocks = append(s.blocks, e.Block)
		}
	case "content_block_delta":
		if e.Index < 0 || e.Index >= len(s.blocks) {
			return false, &failure{fault: faultf(Garbled, "its stream goes on with a block that did not begin"),
				passing: true}
		}
		s.blocks[e.Index].grow(e.Delta.Text, e.Delta.Partial, e.Delta.Thinking, e.Delta.Signature)
	case "message_delta":
		s.r.usage.Output = max(s.r.usage.Output, e.Usage.Output)
		switch e.Delta.StopReason {
		case "refusal":
			s.r.no = "it stopped with refusal"
		case "max_tokens", "model_context_window_exceeded":
			s.r.cut = true
		}
	case "message_stop":
		s.done = true
	case "error":
		return false, e.Error.failure()
	}
	return s.done, nil
}

func (p *messagesPart) grow(text, input, thinking, signature string) {
	p.Text += text
	p.input.WriteString(input)
	if p.Thinking != nil {
		*p.Thinking += thinking
	}
	p.Signature += signature
}

func (s *messagesStream) end() (reply, bool) {
	for _, p := range s.blocks {
		switch {
		case p.Type == "tool_use":
			if p.input.Len() > 0 {
				p.Input = json.RawMessage(p.input.String())
			}
			if !json.Valid(p.Input) { // it was cut: the model gets an error
				p.Input = json.RawMessage("{}")
			}
			s.r.calls = append(s.r.calls, toolCall{p.ID, p.Name, p.Input})
		case p.Type == "text" && p.Text == "": // which the API gives, and does not take back
			continue
		case p.Type == "text":
			s.r.text += p.Text
		}
		if raw, err := json.Marshal(p); err == nil {
			s.r.raw = append(s.r.raw, raw)
		}
	}
	return s.r, s.done
}
