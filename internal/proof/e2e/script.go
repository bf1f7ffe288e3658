package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
)

// standIn is a scripted model behind an API on loopback.
type standIn struct {
	script
	server *httptest.Server
}

func (m *standIn) listen(serve http.HandlerFunc) { m.server = httptest.NewServer(serve) }

// URL is the base address for the client.
func (m *standIn) URL() string { return m.server.URL }

// Close ends the server.
func (m *standIn) Close() { m.server.Close() }

// readRequest decodes a request into req; false if it was answered with an error.
func readRequest(w http.ResponseWriter, r *http.Request, req any) (raw []byte, ok bool) {
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, req)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil, false
	}
	return raw, true
}

// Call is a tool call the model makes.
type Call struct {
	Tool  string
	Input map[string]any
}

// Result is what a call came to, as the model reads it.
type Result struct {
	Call
	Text    string
	IsError bool
}

// Step computes the next call from the results so far. A call without a tool
// ends the turn and says its Input["text"].
type Step func(results []Result) (Call, error)

// script plays steps over any wire between the client and the model.
type script struct {
	mu       sync.Mutex
	steps    []Step
	before   int      // results the conversation had before the script began
	results  []Result // of the conversation, searches for tools left out
	searched map[string]bool
	ended    bool
	failed   error

	ear   sync.Mutex // held apart from mu: steps may ask what was heard
	heard []string
}

// Script sets what the model does in the client's next run.
func (s *script) Script(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps, s.before, s.results, s.searched, s.ended, s.failed = steps, -1, nil, map[string]bool{}, false, nil
	s.ear.Lock()
	defer s.ear.Unlock()
	s.heard = nil
}

// Played gives the results of the script; an error if it did not run to its end.
func (s *script) Played() ([]Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil && !s.ended {
		return s.results, fmt.Errorf("the script of %d steps was not played to its end", len(s.steps))
	}
	return s.results, s.failed
}

// Heard gives the requests since the script began that offered tools to the model: all that it
// got, as sent over the wire.
func (s *script) Heard() []string {
	s.ear.Lock()
	defer s.ear.Unlock()
	return append([]string(nil), s.heard...)
}

func (s *script) hear(raw []byte) {
	s.ear.Lock()
	defer s.ear.Unlock()
	s.heard = append(s.heard, string(raw))
}

// next decides what the model says, from the results of the conversation so far: where
// the script stands is what the conversation says, because a client may ask the same
// twice.
func (s *script) next(results []Result) Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	say := func(text string) Call { return Call{Input: map[string]any{"text": text}} }
	if s.before < 0 {
		s.before = len(results)
	}
	at := len(results) - s.before
	if s.failed != nil || at < 0 || at >= len(s.steps) {
		return say("done")
	}
	if len(results) >= len(s.results) {
		s.results = results
	}
	call, err := s.steps[at](results)
	if err != nil {
		s.failed = err
		return say("I cannot go on: " + err.Error())
	}
	s.ended = s.ended || call.Tool == "" && at == len(s.steps)-1
	return call
}

// firstSearch reports whether a tool was not searched for before.
func (s *script) firstSearch(tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.searched[tool]
	s.searched[tool] = true
	return !before
}
