package drive

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Process is a client whose server is its own child over stdio.
type Process struct {
	*Child

	mu      sync.Mutex
	next    int64
	waiting map[int64]chan Reply
	broken  error
}

// Open starts `cordelia mcp --structured` as the agent as, "" for the default one, and
// shakes hands. flags are further ones of the command.
func (n *Node) Open(ctx context.Context, as string, flags ...string) (*Process, error) {
	args := append([]string{"mcp", "--structured"}, flags...)
	if as != "" {
		args = append(args, "--as", as)
	}
	child, err := n.launch(args...)
	if err != nil {
		return nil, err
	}
	c := &Process{Child: child, waiting: map[int64]chan Reply{}}
	go c.read()
	r, err := c.Request(ctx, "initialize", "", map[string]any{"protocolVersion": "2025-11-25",
		"capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "drive", "version": "1"}})
	if err == nil && r.Error != nil {
		err = errors.New(r.Error.Message)
	}
	if err == nil {
		err = c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	if err != nil {
		child.Kill()
		return nil, fmt.Errorf("cordelia mcp --as %q: %w; stderr: %s", as, err, child.Stderr())
	}
	return c, nil
}

// read hands every answer to who waits for it, until the output ends.
func (c *Process) read() {
	lines := bufio.NewReaderSize(c.stdout, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var r Reply
		if json.Unmarshal(line, &r) != nil || r.ID == nil {
			continue // a notification
		}
		c.mu.Lock()
		waiter := c.waiting[*r.ID]
		delete(c.waiting, *r.ID)
		c.mu.Unlock()
		if waiter != nil {
			waiter <- r
		}
	}
	io.Copy(io.Discard, c.stdout) //nolint:errcheck // to its end, which was an error already
	c.mu.Lock()
	c.broken = ErrEnded
	for _, waiter := range c.waiting {
		close(waiter)
	}
	c.waiting = nil
	c.mu.Unlock()
	c.reap()
}

func (c *Process) send(message any) error {
	raw, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = c.stdin.Write(append(raw, '\n'))
	return err
}

// begin sends a request; the answer arrives in the channel, which is closed
// when the process ends first.
func (c *Process) begin(method string, params any) (<-chan Reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return nil, c.broken
	}
	c.next++
	waiter := make(chan Reply, 1)
	c.waiting[c.next] = waiter
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params}); err != nil {
		delete(c.waiting, c.next)
		return nil, ErrEnded
	}
	return waiter, nil
}

// Request sends a request and waits for its answer; name is in params already.
func (c *Process) Request(ctx context.Context, method, _ string, params map[string]any) (Reply, error) {
	waiter, err := c.begin(method, params)
	if err != nil {
		return Reply{}, err
	}
	return await(ctx, waiter)
}

func await(ctx context.Context, waiter <-chan Reply) (Reply, error) {
	select {
	case r, ok := <-waiter:
		if !ok {
			return r, ErrEnded
		}
		return r, nil
	case <-ctx.Done():
		return Reply{}, fmt.Errorf("no answer: %w", ctx.Err())
	}
}

// Begin sends a tool call and returns how to wait for its answer.
func (c *Process) Begin(tool string, args json.RawMessage) (func(context.Context) (Answer, error), error) {
	waiter, err := c.begin("tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (Answer, error) {
		r, err := await(ctx, waiter)
		if err != nil {
			return Answer{}, err
		}
		return answerOf(r)
	}, nil
}

// Call calls a tool and waits for the answer.
func (c *Process) Call(ctx context.Context, tool string, args json.RawMessage) (Answer, error) {
	wait, err := c.Begin(tool, args)
	if err != nil {
		return Answer{}, err
	}
	return wait(ctx)
}

// List lists the tools offered.
func (c *Process) List(ctx context.Context) ([]Tool, error) {
	r, err := c.Request(ctx, "tools/list", "", map[string]any{})
	if err != nil {
		return nil, err
	}
	return toolsOf(r)
}

// Close closes the input and waits for the server to end by itself.
func (c *Process) Close() error { return c.stop(10 * time.Second) }
