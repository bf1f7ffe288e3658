package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// Roles is a scripted model behind the Messages API that answers by the role a seat of
// the pipeline has: many conversations, each computed from what its client tells.
type Roles struct {
	server *httptest.Server
	mu     sync.Mutex
	play   map[string]Actor
	asked  []Asked
}

// Actor computes what the model says next: prompt is the beginning of the conversation,
// nth how often the role was asked before, by another conversation.
type Actor func(prompt string, nth int, results []Result) (Call, error)

// Asked is one request of a role.
type Asked struct {
	Role   string
	Prompt string
	Bytes  int
	Turn   int // results so far
}

// roleMarks tell the roles by how their briefs begin.
var roleMarks = []struct{ role, mark string }{{"role", "you are the role "}, {"R1", "Perceiver (R1)"},
	{"R2", "Planner (R2)"}, {"R3", "Executor (R3)"},
	{"R4a", "Validator (R4a)"}, {"R4b", "Meta-validator (R4b)"}}

// NewRoles starts a model; each role is played by its actor.
func NewRoles(play map[string]Actor) *Roles {
	m := &Roles{play: play}
	m.server = httptest.NewServer(http.HandlerFunc(m.serve))
	return m
}

// URL is the base address for the client.
func (m *Roles) URL() string { return m.server.URL }

// Close ends the server.
func (m *Roles) Close() { m.server.Close() }

// Asked lists the requests so far.
func (m *Roles) Asked() []Asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Asked(nil), m.asked...)
}

func (m *Roles) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses") {
		m.serveResponses(w, r)
		return
	}
	if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/models/") {
		m.serveGenerate(w, r)
		return
	}
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
	prompt, results := "", outcomes(req)
	for _, message := range req.Messages {
		if message.Role == "user" {
			var words string
			if json.Unmarshal(message.Content, &words) != nil {
				words = text(message.Content)
			}
			prompt = words
			break
		}
	}
	if roleOf(prompt) == "" || len(req.Tools) == 0 && req.Output == nil { // the client's own, such as for a title
		answer(w, req, Call{Input: map[string]any{"text": "ok"}})
		return
	}
	call, err := m.next(prompt, len(raw), results)
	if fault, ok := err.(*HTTPFault); ok { //nolint:errorlint // it comes as it is
		for name, value := range fault.Header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(fault.Status)
		fmt.Fprint(w, fault.Body)
		return
	}
	if err != nil {
		call = Call{Input: map[string]any{"text": "I cannot go on: " + err.Error()}}
	}
	answer(w, req, ours(call, offered(req.Tools)))
}

// offered are the names of tools.
func offered(tools []offer) (names []string) {
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}

// ours is a call as one of the tools that are offered: an answer that is none of them is
// text, and cordelia's own tools are not called as Claude Code's.
func ours(c Call, names []string) Call {
	switch {
	case c.Tool == "StructuredOutput" && !slices.Contains(names, c.Tool):
		raw, err := json.Marshal(c.Input)
		if err != nil {
			return Call{Input: map[string]any{"text": err.Error()}}
		}
		return Call{Input: map[string]any{"text": string(raw)}}
	case c.Tool == "Bash" && slices.Contains(names, "bash"):
		c.Tool = "bash"
	}
	return c
}

// HTTPFault is an answer of the endpoint that is none of the model's.
type HTTPFault struct {
	Status int
	Header map[string]string
	Body   string
}

func (f *HTTPFault) Error() string { return fmt.Sprintf("HTTP %d", f.Status) }

// Answers is a structured answer, as a call.
func Answers(v map[string]any) Call { return Call{Tool: "StructuredOutput", Input: v} }
