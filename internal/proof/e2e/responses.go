package e2e

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Responses is a scripted stand-in for the Responses API, which streams. Codex speaks it.
type Responses struct{ standIn }

// NewResponses starts a model with nothing to say.
func NewResponses() *Responses {
	m := &Responses{}
	m.listen(m.serve)
	return m
}

// URL is the base address for the client.
func (m *Responses) URL() string { return m.standIn.URL() + "/v1" }

// responsesRequest is the part of a request that matters here.
type responsesRequest struct {
	Input []struct {
		Type      string          `json:"type"`
		CallID    string          `json:"call_id"`
		Name      string          `json:"name"`
		Namespace string          `json:"namespace"`
		Arguments string          `json:"arguments"`
		Output    json.RawMessage `json:"output"`
	} `json:"input"`
	Tools []json.RawMessage `json:"tools"`
}

// namespaced is where a client puts the tools of a server.
const namespaced = "mcp__cordelia"

func (m *Responses) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/responses") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var req responsesRequest
	raw, ok := readRequest(w, r, &req)
	if !ok {
		return
	}
	m.hear(raw)
	stream(w, m.next(req.outcomes()))
}

// outcomes reads the calls and their results out of the conversation.
func (req responsesRequest) outcomes() (results []Result) {
	calls := map[string]Call{}
	for _, item := range req.Input {
		switch item.Type {
		case "function_call":
			c := Call{Tool: item.Name}
			_ = json.Unmarshal([]byte(item.Arguments), &c.Input) // ours, from before
			if item.Namespace != "" {
				c.Tool = item.Namespace + "__" + item.Name
			}
			calls[item.CallID] = c
		case "function_call_output":
			results = append(results, Result{Call: calls[item.CallID], Text: text(item.Output)})
		}
	}
	return results
}

// stream sends one call or text.
func stream(w http.ResponseWriter, c Call) {
	item := map[string]any{"type": "message", "id": "msg_" + rand.Text(), "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": c.Input["text"], "annotations": []any{}}}}
	if c.Tool != "" {
		arguments, err := json.Marshal(c.Input)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		id := rand.Text()
		item = map[string]any{"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "status": "completed",
			"namespace": namespaced, "name": strings.TrimPrefix(c.Tool, namespaced+"__"),
			"arguments": string(arguments)}
		if !strings.HasPrefix(c.Tool, namespaced+"__") { // the client's own tool
			delete(item, "namespace")
		}
	}
	response := map[string]any{"id": "resp_" + rand.Text(), "object": "response", "status": "completed",
		"output": []any{item},
		"usage":  map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []map[string]any{
		{"type": "response.created", "response": map[string]any{"id": response["id"], "object": "response",
			"status": "in_progress"}},
		{"type": "response.output_item.added", "output_index": 0, "item": item},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": response},
	} {
		raw, err := json.Marshal(e)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], raw)
	}
}
