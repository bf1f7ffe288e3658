package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Generate is a scripted stand-in for the Gemini API. Gemini CLI speaks it.
type Generate struct{ standIn }

// NewGenerate starts a model with nothing to say.
func NewGenerate() *Generate {
	m := &Generate{}
	m.listen(m.serve)
	return m
}

// generateRequest is the part of a request that matters here.
type generateRequest struct {
	Contents []struct {
		Parts []struct {
			Text string `json:"text"`
			Call *struct {
				Name string         `json:"name"`
				Args map[string]any `json:"args"`
			} `json:"functionCall"`
			Response *struct {
				Name     string          `json:"name"`
				Response json.RawMessage `json:"response"`
			} `json:"functionResponse"`
		} `json:"parts"`
	} `json:"contents"`
	Tools []json.RawMessage `json:"tools"`
}

// generatePrefix is what the client puts before the tools of a server.
const generatePrefix = "mcp_cordelia_"

func (m *Generate) serve(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.URL.Path, "/models/") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var req generateRequest
	raw, ok := readRequest(w, r, &req)
	if !ok {
		return
	}
	_, method, _ := strings.Cut(r.URL.Path[strings.LastIndex(r.URL.Path, "/"):], ":")
	switch {
	case method == "countTokens":
		fmt.Fprint(w, `{"totalTokens": 1}`)
		return
	case len(req.Tools) == 0: // the client's own question
		generated(w, method, map[string]any{"text": "{}"})
		return
	}
	m.hear(raw)
	part := map[string]any{}
	if c := m.next(req.outcomes()); c.Tool == "" {
		part["text"] = c.Input["text"]
	} else {
		part["functionCall"] = map[string]any{"name": generatePrefix + strings.TrimPrefix(c.Tool, namespaced+"__"),
			"args": c.Input}
	}
	generated(w, method, part)
}

// outcomes reads the calls and their results out of the conversation.
func (req generateRequest) outcomes() (results []Result) {
	var call Call
	for _, content := range req.Contents {
		for _, p := range content.Parts {
			switch {
			case p.Call != nil:
				call = Call{Tool: namespaced + "__" + strings.TrimPrefix(p.Call.Name, generatePrefix),
					Input: p.Call.Args}
			case p.Response != nil:
				results = append(results, Result{Call: call, Text: string(p.Response.Response)})
			}
		}
	}
	return results
}

// generated sends one part: streamed, or whole.
func generated(w http.ResponseWriter, method string, part map[string]any) {
	raw, err := json.Marshal(map[string]any{
		"candidates": []any{map[string]any{"index": 0, "finishReason": "STOP",
			"content": map[string]any{"role": "model", "parts": []any{part}}}},
		"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if method != "streamGenerateContent" {
		w.Header().Set("Content-Type", "application/json")
		w.Write(raw) //nolint:errcheck // the client is gone
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\n", raw)
}
