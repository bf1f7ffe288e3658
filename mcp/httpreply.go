package mcp

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	sdk "github.com/mark3labs/mcp-go/mcp"
)

// httpReply is the response to one HTTP request: a JSON body, or an event
// stream as soon as anything comes before the JSON-RPC response.
type httpReply struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	ctl    *http.ResponseController
	events bool // headers of an event stream are out
	closed bool
	err    error
}

func newHTTPReply(w http.ResponseWriter) *httpReply {
	return &httpReply{w: w, ctl: http.NewResponseController(w)}
}

// event streams one message.
func (h *httpReply) event(v any) {
	if b, err := json.Marshal(v); err == nil {
		h.raw("message", b)
	}
}

// raw streams one event; data has no newline.
func (h *httpReply) raw(name string, data []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open()
	h.write([]byte("event: "+name+"\ndata: "), data, []byte("\n\n"))
}

// start opens the stream without an event; beat keeps it from being taken for
// dead, and finds out when it is.
func (h *httpReply) start() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open()
	h.write()
}

func (h *httpReply) beat() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.events {
		h.write([]byte(": still here\n\n"))
	}
}

func (h *httpReply) open() {
	if h.events || h.closed {
		return
	}
	h.events = true
	h.w.Header().Set("Content-Type", "text/event-stream")
	h.w.Header().Set("Cache-Control", "no-cache, no-store")
	h.w.Header().Set("X-Accel-Buffering", "no")
	h.w.WriteHeader(http.StatusOK)
}

// write sends the parts and flushes, waiting a bounded time for the client.
func (h *httpReply) write(parts ...[]byte) {
	if h.closed || h.err != nil {
		return
	}
	_ = h.ctl.SetWriteDeadline(time.Now().Add(writeTimeout)) // only recorders cannot
	for _, p := range parts {
		if _, h.err = h.w.Write(p); h.err != nil {
			return
		}
	}
	h.err = h.ctl.Flush()
	_ = h.ctl.SetWriteDeadline(time.Time{})
}

// respond writes the JSON-RPC response: into the stream if there is one, else
// as the body with the given status.
func (h *httpReply) respond(resp sdk.JSONRPCMessage, status int) {
	h.mu.Lock()
	streaming := h.events
	h.mu.Unlock()
	if streaming {
		h.event(resp)
		return
	}
	_ = h.ctl.SetWriteDeadline(time.Now().Add(writeTimeout))
	writeJSON(h.w, status, resp)
	_ = h.ctl.SetWriteDeadline(time.Time{})
}

// close lets nothing through any more: the ResponseWriter is about to be
// reused. It reports whether anything was written.
func (h *httpReply) close() (streamed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	return h.events
}

// beating calls beat until stop is called, which waits for the last one.
func beating(beat func()) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(heartbeat)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				beat()
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "the response cannot be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client may be gone
}

// writeError answers any request with a JSON-RPC error.
func writeError(w http.ResponseWriter, status int, id json.RawMessage, e *RPCError) {
	writeJSON(w, status, e.response(id))
}
