package embeddingtest

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// Server is a running stand-in. Its methods may be called while it answers.
type Server struct {
	URL string // for embedding.Config

	mu       sync.Mutex
	dim      int
	same     map[string]string
	status   int
	poison   string
	blocked  chan struct{}
	asked    []string
	arrivals chan struct{}
}

// New starts a server whose vectors have dim numbers. same maps words to the
// word they mean.
func New(t testing.TB, dim int, same map[string]string) *Server {
	s := &Server{dim: dim, same: same, arrivals: make(chan struct{}, 1<<16)}
	h := httptest.NewServer(s)
	s.URL = h.URL + "/v1"
	t.Cleanup(func() {
		s.Release()
		h.Close()
	})
	return s
}

// Fail makes the server answer with an HTTP status; 0 ends it.
func (s *Server) Fail(status int) { s.set(func() { s.status = status }) }

// Refuse makes the server refuse requests with a text that has this word.
func (s *Server) Refuse(word string) { s.set(func() { s.poison = word }) }

// Resize changes the length of its vectors.
func (s *Server) Resize(dim int) { s.set(func() { s.dim = dim }) }

// Hold lets requests wait until Release.
func (s *Server) Hold() { s.set(func() { s.blocked = make(chan struct{}) }) }

// Release answers what Hold holds back.
func (s *Server) Release() {
	s.set(func() {
		if s.blocked != nil {
			close(s.blocked)
			s.blocked = nil
		}
	})
}

// Arrived has a value for each request that came in.
func (s *Server) Arrived() <-chan struct{} { return s.arrivals }

// Asked lists the texts sent so far.
func (s *Server) Asked() (texts []string) {
	s.set(func() { texts = slices.Clone(s.asked) })
	return texts
}

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// ServeHTTP answers POST …/embeddings.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Input []string `json:"input"`
	}
	if !strings.HasSuffix(r.URL.Path, "/embeddings") || json.NewDecoder(r.Body).Decode(&in) != nil {
		http.Error(w, "?", http.StatusNotFound)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, in.Input...)
	blocked, status, dim, poison := s.blocked, s.status, s.dim, s.poison
	s.mu.Unlock()
	s.arrivals <- struct{}{}
	if blocked != nil {
		select {
		case <-blocked:
		case <-r.Context().Done():
			return
		}
	}
	if poison != "" && slices.ContainsFunc(in.Input, func(t string) bool { return strings.Contains(t, poison) }) {
		status = http.StatusBadRequest
	}
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	type vector struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	out := make([]vector, len(in.Input))
	for i, text := range in.Input {
		out[len(out)-1-i] = vector{i, s.Vector(text, dim)} // in reverse: the index counts, not the order
	}
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": out}) //nolint:errcheck // who asked is gone
}

// Vector is the sum of a direction for each word of text.
func (s *Server) Vector(text string, dim int) []float32 {
	v := make([]float32, dim)
	v[0] = 0.01 // a text without words has one too
	for word := range strings.FieldsFuncSeq(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if to, ok := s.same[word]; ok {
			word = to
		}
		h := fnv.New64a()
		h.Write([]byte(word)) //nolint:errcheck // a hash takes everything
		direction := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range v {
			v[i] += float32(direction.NormFloat64())
		}
	}
	return v
}
