package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	sdk "github.com/mark3labs/mcp-go/mcp"
)

// maxBacklog is how many bytes may wait for a client that does not read; then
// the connection is given up.
const maxBacklog = 64 << 20

var errBacklog = errors.New("the client does not read its messages")

// outbox writes messages to one connection in the order they were put, from
// one goroutine, so that neither handlers nor the reader wait for the client.
type outbox struct {
	mu      sync.Mutex
	more    sync.Cond
	queue   [][]byte
	backlog int
	closed  bool
	err     error

	done chan struct{} // the writer ended: all is written, or err is set
}

// newOutbox starts the writer; write gets one encoded message at a time, which
// contains no newline.
func newOutbox(write func([]byte) error) *outbox {
	o := &outbox{done: make(chan struct{})}
	o.more.L = &o.mu
	go o.run(write)
	return o
}

// lines writes newline-delimited messages (MCP stdio transport).
func lines(w io.Writer) func([]byte) error {
	return func(b []byte) error {
		_, err := w.Write(append(b, '\n'))
		return err
	}
}

// put queues a message. It never waits.
func (o *outbox) put(v any) {
	b, err := encoded(v)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed || o.err != nil:
		return
	case err != nil:
		o.err = fmt.Errorf("encoding a message: %w", err)
	case o.backlog+len(b) > maxBacklog:
		o.err = errBacklog
	default:
		o.queue = append(o.queue, b)
		o.backlog += len(b)
	}
	o.more.Signal()
}

// encoded is json.Marshal, without a second pass over the result of a tool, which
// encodes itself.
func encoded(v any) ([]byte, error) {
	r, ok := v.(sdk.JSONRPCResponse)
	if !ok {
		return json.Marshal(v)
	}
	result, ok := r.Result.(*sdk.CallToolResult)
	if !ok {
		return json.Marshal(v)
	}
	id, err := json.Marshal(r.ID)
	if err != nil {
		return nil, err
	}
	raw, err := result.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(`{"jsonrpc":"`+sdk.JSONRPC_VERSION+`","id":`), id, []byte(`,"result":`), raw,
		[]byte("}")), nil
}

func (o *outbox) run(write func([]byte) error) {
	defer close(o.done)
	for {
		o.mu.Lock()
		for len(o.queue) == 0 && !o.closed && o.err == nil {
			o.more.Wait()
		}
		batch := o.queue
		o.queue, o.backlog = nil, 0
		failed := o.err != nil
		o.mu.Unlock()
		if failed || len(batch) == 0 {
			return
		}
		for _, b := range batch {
			if err := write(b); err != nil {
				o.mu.Lock()
				o.err = fmt.Errorf("writing a message: %w", err)
				o.mu.Unlock()
				return
			}
		}
	}
}

// close lets the writer end once the queue is written.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.more.Signal()
}

// failure is why the connection was given up, if it was.
func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
