package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"

	"cordelia/internal/endpoint"
	"cordelia/work"
)

// chatWire speaks chat completions, as OpenAI and most other servers do.
type chatWire struct{}

func (chatWire) path() string { return "chat/completions" }

func (chatWire) sign(h http.Header, k endpoint.Key) { k.Send(h, "Authorization", "Bearer ") }

type chatRequest struct {
	Model     string        `json:"model"`
	Messages  []chatMessage `json:"messages"`
	Tools     []chatTool    `json:"tools,omitempty"`
	Format    *chatFormat   `json:"response_format,omitempty"`
	MaxTokens int           `json:"max_completion_tokens,omitempty"`
	Stream    bool          `json:"stream"`
	Options   chatOptions   `json:"stream_options"`
}

type chatOptions struct {
	Usage bool `json:"include_usage"`
}

type chatMessage struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	Index    *int         `json:"index,omitempty"` // in a stream
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string           `json:"type"`
	Function chatToolFunction `json:"function"`
}

type chatToolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type chatFormat struct {
	Type   string      `json:"type"`
	Schema *chatSchema `json:"json_schema,omitempty"`
}

type chatSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

func (chatWire) request(t talk) ([]byte, error) {
	r := chatRequest{Model: t.model, MaxTokens: t.maxOutput, Stream: true, Options: chatOptions{true},
		Messages: []chatMessage{{Role: "system", Content: t.system}}}
	for _, tool := range t.tools {
		r.Tools = append(r.Tools, chatTool{"function", chatToolFunction{tool.Name, tool.About, tool.Input}})
	}
	switch t.shape {
	case strictly:
		r.Format = &chatFormat{"json_schema", &chatSchema{"answer", true, strictSchema(t.schema, true)}}
	case asObject:
		r.Format = &chatFormat{Type: "json_object"}
	}
	for _, one := range t.turns {
		if one.user != "" {
			r.Messages = append(r.Messages, chatMessage{Role: "user", Content: one.user})
		}
		if one.answer != nil {
			m := chatMessage{Role: "assistant", Content: one.answer.text}
			for _, c := range one.answer.calls {
				m.Calls = append(m.Calls, chatCall{ID: c.id, Type: "function",
					Function: chatFunction{c.name, string(c.input)}})
			}
			r.Messages = append(r.Messages, m)
		}
		for _, result := range one.results {
			r.Messages = append(r.Messages, chatMessage{Role: "tool", CallID: result.id, Content: notEmpty(result.text)})
		}
	}
	return json.Marshal(r)
}

func (chatWire) stream() replyReader { return &chatStream{} }

// chatStream reads the chunks of a reply.
type chatStream struct {
	r     reply
	calls []chatCall
	over  bool // it said why it ends; the usage may come after
}

type chatChunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Delta struct {
			Content string     `json:"content"`
			Refusal string     `json:"refusal"`
			Calls   []chatCall `json:"tool_calls"`
		} `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Input   int64 `json:"prompt_tokens"` // with what was cached
		Output  int64 `json:"completion_tokens"`
		Details struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error *serverError `json:"error"`
}

func (s *chatStream) read(data []byte) (bool, *failure) {
	if bytes.Equal(data, []byte("[DONE]")) {
		return true, nil
	}
	var c chatChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return false, &failure{fault: faultf(Garbled, "an event of its stream is not JSON"), passing: true}
	}
	if c.Error != nil {
		return false, c.Error.failure()
	}
	s.r.model = cmp.Or(c.Model, s.r.model)
	if u := c.Usage; u != nil {
		s.r.usage = work.Usage{Input: u.Input - u.Details.Cached, Cached: u.Details.Cached, Output: u.Output}
	}
	if len(c.Choices) == 0 {
		return false, nil
	}
	one := c.Choices[0]
	s.r.text += one.Delta.Content
	s.r.no += one.Delta.Refusal
	for _, part := range one.Delta.Calls {
		s.grow(part)
	}
	switch one.Finish {
	case "":
		return false, nil
	case "length":
		s.r.cut = true
	case "content_filter":
		s.r.no += "its content filter stopped it"
	}
	s.over = true
	return false, nil
}

// grow takes a part of a call. Some servers number the calls, some only name them.
func (s *chatStream) grow(part chatCall) {
	at := len(s.calls)
	switch {
	case part.Index != nil:
		at = min(max(*part.Index, 0), len(s.calls))
	case part.ID == "" && at > 0:
		at--
	}
	if at == len(s.calls) {
		s.calls = append(s.calls, chatCall{})
	}
	c := &s.calls[at]
	c.ID = cmp.Or(c.ID, part.ID)
	c.Function.Name += part.Function.Name
	c.Function.Arguments += part.Function.Arguments
}

func (s *chatStream) end() (reply, bool) {
	for i, c := range s.calls {
		s.r.calls = append(s.r.calls, toolCall{cmp.Or(c.ID, fmt.Sprintf("call_%d", i+1)), c.Function.Name,
			validInput(c.Function.Arguments)})
	}
	return s.r, s.over
}
