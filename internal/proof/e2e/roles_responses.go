package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// serveResponses answers over the Responses API, which Codex speaks: a structured answer is its
// last message, and a command is a call of the client's shell tool.
func (m *Roles) serveResponses(w http.ResponseWriter, r *http.Request) {
	var req responsesRequest
	raw, ok := readRequest(w, r, &req)
	if !ok {
		return
	}
	var messages struct {
		Input []struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"input"`
	}
	if err := json.Unmarshal(raw, &messages); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	prompt := ""
	for _, item := range messages.Input {
		if words := text(item.Content); item.Role == "user" && roleOf(words) != "" {
			prompt = words
		}
	}
	call, err := m.next(prompt, len(raw), req.outcomes())
	if err != nil {
		call = Call{Input: map[string]any{"text": "I cannot go on: " + err.Error()}}
	}
	var tools []offer
	for _, raw := range req.Tools {
		var t offer
		if json.Unmarshal(raw, &t) == nil {
			tools = append(tools, t)
		}
	}
	if call = ours(call, offered(tools)); call.Tool == "Bash" {
		call = Call{Tool: "exec_command", Input: map[string]any{"cmd": call.Input["command"]}}
	}
	stream(w, call)
}

// roleOf is the role whose brief a prompt is, "" if it is none.
func roleOf(prompt string) (role string) {
	for _, one := range roleMarks {
		if strings.Contains(prompt, one.mark) {
			role = one.role
		}
	}
	return role
}

// next has the actor of a prompt's role say what comes next.
func (m *Roles) next(prompt string, bytes int, results []Result) (Call, error) {
	role := roleOf(prompt)
	m.mu.Lock()
	before := map[string]bool{}
	for _, a := range m.asked {
		if a.Role == role && a.Turn == 0 {
			before[a.Prompt] = true
		}
	}
	delete(before, prompt)
	m.asked = append(m.asked, Asked{role, prompt, bytes, len(results)})
	m.mu.Unlock()
	actor := m.play[role]
	if actor == nil {
		return Call{}, fmt.Errorf("nobody plays %q", role)
	}
	return actor(prompt, len(before), results)
}
