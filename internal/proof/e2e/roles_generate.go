package e2e

import (
	"fmt"
	"net/http"
	"strings"
)

// serveGenerate answers over the Gemini API, which Gemini CLI speaks: a structured answer is
// its last message, and a command is a call of the client's shell tool.
func (m *Roles) serveGenerate(w http.ResponseWriter, r *http.Request) {
	var req generateRequest
	raw, ok := readRequest(w, r, &req)
	if !ok {
		return
	}
	_, method, _ := strings.Cut(r.URL.Path[strings.LastIndex(r.URL.Path, "/"):], ":")
	if method == "countTokens" {
		fmt.Fprint(w, `{"totalTokens": 1}`)
		return
	}
	prompt := ""
	for _, content := range req.Contents {
		for _, p := range content.Parts {
			if roleOf(p.Text) != "" && prompt == "" {
				prompt = p.Text
			}
		}
	}
	if prompt == "" || len(req.Tools) == 0 { // the client's own question
		generated(w, method, map[string]any{"text": "{}"})
		return
	}
	call, err := m.next(prompt, len(raw), req.outcomes())
	if err != nil {
		call = Call{Input: map[string]any{"text": "I cannot go on: " + err.Error()}}
	}
	call = ours(call, nil)
	if call.Tool == "" {
		generated(w, method, map[string]any{"text": call.Input["text"]})
		return
	}
	name := generatePrefix + strings.TrimPrefix(call.Tool, namespaced+"__")
	if call.Tool == "Bash" {
		name = "run_shell_command"
	}
	generated(w, method, map[string]any{"functionCall": map[string]any{"name": name, "args": call.Input}})
}
