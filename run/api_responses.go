package run

import (
	"encoding/json"
	"net/http"

	"cordelia/internal/endpoint"
	"cordelia/work"
)

// responsesWire speaks the Responses API of OpenAI, without state on the server.
type responsesWire struct{}

func (responsesWire) path() string { return "responses" }

func (responsesWire) sign(h http.Header, k endpoint.Key) { k.Send(h, "Authorization", "Bearer ") }

type responsesRequest struct {
	Model           string          `json:"model"`
	Instructions    string          `json:"instructions"`
	Input           []responsesItem `json:"input"`
	Tools           []responsesTool `json:"tools,omitempty"`
	Text            *responsesText  `json:"text,omitempty"`
	MaxOutputTokens int             `json:"max_output_tokens,omitempty"`
	Stream          bool            `json:"stream"`
	Store           bool            `json:"store"`
}

// responsesItem is what is said, a call, or what a call came to.
type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role,omitempty"`
	Content   []responsesPart `json:"content,omitempty"`
	CallID    string          `json:"call_id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments string          `json:"arguments,omitempty"`
	Output    string          `json:"output,omitempty"`
}

type responsesPart struct {
	Type    string `json:"type"`
	Text    string `json:"text,omitempty"`
	Refusal string `json:"refusal,omitempty"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type responsesText struct {
	Format responsesFormat `json:"format"`
}

type responsesFormat struct {
	Type   string          `json:"type"`
	Name   string          `json:"name,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"`
	Strict bool            `json:"strict,omitempty"`
}

func (responsesWire) request(t talk) ([]byte, error) {
	r := responsesRequest{Model: t.model, Instructions: t.system, MaxOutputTokens: t.maxOutput, Stream: true}
	for _, tool := range t.tools {
		r.Tools = append(r.Tools, responsesTool{"function", tool.Name, tool.About, tool.Input, false})
	}
	switch t.shape {
	case strictly:
		r.Text = &responsesText{responsesFormat{"json_schema", "answer", strictSchema(t.schema, true), true}}
	case asObject:
		r.Text = &responsesText{responsesFormat{Type: "json_object"}}
	}
	say := func(role, kind, text string) {
		if text != "" {
			r.Input = append(r.Input, responsesItem{Type: "message", Role: role,
				Content: []responsesPart{{Type: kind, Text: text}}})
		}
	}
	for _, one := range t.turns {
		say("user", "input_text", one.user)
		if one.answer != nil {
			say("assistant", "output_text", one.answer.text)
			for _, c := range one.answer.calls {
				r.Input = append(r.Input, responsesItem{Type: "function_call", CallID: c.id, Name: c.name,
					Arguments: string(c.input)})
			}
		}
		for _, result := range one.results {
			r.Input = append(r.Input, responsesItem{Type: "function_call_output", CallID: result.id,
				Output: notEmpty(result.text)})
		}
	}
	return json.Marshal(r)
}

// notEmpty is what a tool that printed nothing came to: servers refuse an empty text.
func notEmpty(text string) string {
	if text == "" {
		return "(no output)"
	}
	return text
}

func (responsesWire) stream() replyReader { return &responsesStream{} }

// responsesStream reads the events of a reply.
type responsesStream struct {
	r    reply
	done bool
}

type responsesEvent struct {
	Type     string        `json:"type"`
	Item     responsesItem `json:"item"`
	Code     errorCode     `json:"code"`
	Message  string        `json:"message"`
	Response struct {
		Model string `json:"model"`
		Usage struct {
			Input   int64 `json:"input_tokens"` // with what was cached
			Output  int64 `json:"output_tokens"`
			Details struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"input_tokens_details"`
		} `json:"usage"`
		Error      serverError `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	} `json:"response"`
}

func (s *responsesStream) read(data []byte) (bool, *failure) {
	var e responsesEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return false, &failure{fault: faultf(Garbled, "an event of its stream is not JSON"), passing: true}
	}
	switch e.Type {
	case "response.output_item.done":
		s.item(e.Item)
	case "response.completed", "response.incomplete", "response.failed":
		s.done, s.r.model = true, e.Response.Model
		u := e.Response.Usage
		s.r.usage = work.Usage{Input: u.Input - u.Details.Cached, Cached: u.Details.Cached, Output: u.Output}
		switch {
		case e.Type == "response.failed":
			return true, e.Response.Error.failure()
		case e.Response.Incomplete.Reason == "content_filter":
			s.r.no = "its content filter stopped it"
		case e.Type == "response.incomplete":
			s.r.cut = true
		}
	case "error":
		return false, serverError{Code: e.Code, Message: e.Message}.failure()
	}
	return s.done, nil
}

// item takes an item that is whole.
func (s *responsesStream) item(i responsesItem) {
	switch i.Type {
	case "message":
		for _, p := range i.Content {
			s.r.text += p.Text
			s.r.no += p.Refusal
		}
	case "function_call":
		s.r.calls = append(s.r.calls, toolCall{i.CallID, i.Name, validInput(i.Arguments)})
	}
}

// validInput is the input of a call; one that was cut is empty, and its tool says so.
func validInput(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

func (s *responsesStream) end() (reply, bool) { return s.r, s.done }
