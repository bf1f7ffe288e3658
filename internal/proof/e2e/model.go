package e2e

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Model is a scripted stand-in for the Messages API, which streams.
type Model struct {
	standIn
	mark string // of the conversations that side is played in
	side *Model
}

// NewModel starts a model with nothing to say.
func NewModel() *Model {
	m := &Model{}
	m.listen(m.serve)
	return m
}

// request is the part of a Messages request that matters here.
type request struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools  []offer         `json:"tools"`
	Output json.RawMessage `json:"output_config"` // a schema that the answer has to fit
}

// offer is a tool the model may call.
type offer struct {
	Name string `json:"name"`
}

type block struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     map[string]any  `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

func (m *Model) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasPrefix(r.URL.Path, "/v1/messages") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var req request
	raw, ok := readRequest(w, r, &req)
	if !ok {
		return
	}
	if strings.HasSuffix(r.URL.Path, "/count_tokens") {
		fmt.Fprint(w, `{"input_tokens": 1}`)
		return
	}
	if len(req.Tools) == 0 { // the client's own question, such as one for a title
		answer(w, req, Call{Input: map[string]any{"text": "ok"}})
		return
	}
	played := m.scriptOf(req)
	played.hear(raw)
	call := played.next(outcomes(req))
	// A tool whose schema the client has not sent yet is asked for by name.
	offered := slices.ContainsFunc(req.Tools, func(t offer) bool { return t.Name == call.Tool })
	if call.Tool != "" && !offered && played.firstSearch(call.Tool) {
		call = Call{Tool: toolSearch, Input: map[string]any{"query": "select:" + call.Tool, "max_results": 1}}
	}
	answer(w, req, call)
}

const toolSearch = "ToolSearch"

// outcomes reads the calls and their results out of the conversation.
func outcomes(req request) (results []Result) {
	calls := map[string]Call{}
	for _, message := range req.Messages {
		var blocks []block
		if json.Unmarshal(message.Content, &blocks) != nil {
			continue // plain text
		}
		for _, b := range blocks {
			switch b.Type {
			case "tool_use":
				calls[b.ID] = Call{Tool: b.Name, Input: b.Input}
			case "tool_result":
				if c := calls[b.ToolUseID]; c.Tool != toolSearch {
					results = append(results, Result{Call: c, Text: text(b.Content), IsError: b.IsError})
				}
			}
		}
	}
	return results
}

// text is the text of a result: a string, or text blocks.
func text(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var blocks []struct{ Text string }
	if json.Unmarshal(content, &blocks) != nil {
		return string(content)
	}
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(block.Text)
	}
	return b.String()
}

// answer says one call or text, streamed where the client asked for that.
func answer(w http.ResponseWriter, req request, c Call) {
	content, stop := map[string]any{"type": "text", "text": ""}, "end_turn"
	delta := map[string]any{"type": "text_delta", "text": c.Input["text"]}
	if c.Tool != "" {
		input, err := json.Marshal(c.Input)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		content, stop = map[string]any{"type": "tool_use", "id": "toolu_" + rand.Text(), "name": c.Tool,
			"input": map[string]any{}}, "tool_use"
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
	}
	message := map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": req.Model,
		"content":     []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1}}
	if !req.Stream {
		if c.Tool != "" {
			content["input"] = c.Input
		} else {
			content["text"] = c.Input["text"]
		}
		message["content"], message["stop_reason"] = []any{content}, stop
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(message) //nolint:errcheck // the client is gone
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []map[string]any{
		{"type": "message_start", "message": message},
		{"type": "content_block_start", "index": 0, "content_block": content},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
			"usage": map[string]any{"output_tokens": 1}},
		{"type": "message_stop"},
	} {
		raw, err := json.Marshal(e)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], raw)
	}
}
