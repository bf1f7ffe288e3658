package scenario

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

// Client calls tools as one agent.
type Client interface {
	// Call calls a tool. An error means there was no answer; a refusal is one.
	Call(ctx context.Context, tool string, args json.RawMessage) (Answer, error)
	// List lists the tools offered.
	List(ctx context.Context) ([]Tool, error)
	// Close ends the session in good order.
	Close() error
}

// Answer is what a tool call came to.
type Answer struct {
	Code  string          // "" if it succeeded, else the error's code
	Value any             // the structured result, or the error's fields
	Text  string          // what a model reads first
	Raw   json.RawMessage // all of it, as it came
}

// Tool is one offered tool.
type Tool struct {
	Name         string          `json:"name"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// errEnded is what a call gets whose process ended before the answer.
var errEnded = errors.New("the process ended before it answered")

type reply struct {
	ID     *int64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// answerOf reads the result of tools/call.
func answerOf(r reply) (Answer, error) {
	if r.Error != nil { // of the protocol: an unknown tool, for example
		value := map[string]any{"code": fmt.Sprint(r.Error.Code), "message": r.Error.Message}
		return Answer{Code: "protocol", Value: map[string]any{"error": value}, Text: r.Error.Message}, nil
	}
	var result struct {
		Content []struct{ Text string }
		IsError bool
		Meta    map[string]json.RawMessage `json:"_meta"`
		Value   any                        `json:"structuredContent"`
	}
	if err := json.Unmarshal(r.Result, &result); err != nil {
		return Answer{}, fmt.Errorf("the result cannot be read: %w: %s", err, r.Result)
	}
	a := Answer{Value: result.Value, Raw: r.Result}
	if len(result.Content) > 0 {
		a.Text = result.Content[0].Text
	}
	if result.IsError {
		var fields map[string]any
		if err := json.Unmarshal(result.Meta["cordelia/error"], &fields); err != nil {
			return a, fmt.Errorf("the error has no fields: %s", r.Result)
		}
		a.Code, _ = fields["code"].(string)
		a.Value = map[string]any{"error": fields}
	}
	return a, nil
}

func toolsOf(r reply) ([]Tool, error) {
	if r.Error != nil {
		return nil, errors.New(r.Error.Message)
	}
	var result struct{ Tools []Tool }
	err := json.Unmarshal(r.Result, &result)
	return result.Tools, err
}

// Process is a client whose server is its own child over stdio.
type Process struct {
	proc *process

	mu      sync.Mutex
	next    int64
	waiting map[int64]chan reply
	broken  error
}

// Open starts `cordelia mcp` as the agent as, "" for the default one, and
// shakes hands. flags are those of the command.
func (n *Node) Open(ctx context.Context, as string, flags ...string) (*Process, error) {
	args := append([]string{"mcp"}, flags...)
	if as != "" {
		args = append(args, "--as", as)
	}
	proc, err := n.start(args...)
	if err != nil {
		return nil, err
	}
	c := &Process{proc: proc, waiting: map[int64]chan reply{}}
	go c.read()
	r, err := c.request(ctx, "initialize", map[string]any{"protocolVersion": "2025-11-25",
		"capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "scenario", "version": "1"}})
	if err == nil && r.Error != nil {
		err = errors.New(r.Error.Message)
	}
	if err != nil {
		proc.kill()
		return nil, fmt.Errorf("cordelia mcp --as %q: %w; stderr: %s", as, err, proc.stderr.String())
	}
	return c, c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// read hands every answer to who waits for it, until the output ends.
func (c *Process) read() {
	lines := bufio.NewReaderSize(c.proc.stdout, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var r reply
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
	io.Copy(io.Discard, c.proc.stdout) //nolint:errcheck // to its end, which was an error already
	c.mu.Lock()
	c.broken = errEnded
	for _, waiter := range c.waiting {
		close(waiter)
	}
	c.waiting = nil
	c.mu.Unlock()
	c.proc.reap()
}

func (c *Process) send(message any) error {
	raw, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = c.proc.stdin.Write(append(raw, '\n'))
	return err
}

// begin sends a request; the answer arrives in the channel, which is closed
// when the process ends first.
func (c *Process) begin(method string, params any) (<-chan reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return nil, c.broken
	}
	c.next++
	waiter := make(chan reply, 1)
	c.waiting[c.next] = waiter
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params}); err != nil {
		delete(c.waiting, c.next)
		return nil, errEnded
	}
	return waiter, nil
}

func (c *Process) request(ctx context.Context, method string, params any) (reply, error) {
	waiter, err := c.begin(method, params)
	if err != nil {
		return reply{}, err
	}
	return await(ctx, waiter)
}

func await(ctx context.Context, waiter <-chan reply) (reply, error) {
	select {
	case r, ok := <-waiter:
		if !ok {
			return r, errEnded
		}
		return r, nil
	case <-ctx.Done():
		return reply{}, fmt.Errorf("no answer: %w", ctx.Err())
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
	r, err := c.request(ctx, "tools/list", map[string]any{})
	if err != nil {
		return nil, err
	}
	return toolsOf(r)
}

// PID is the process id of the server.
func (c *Process) PID() int { return c.proc.cmd.Process.Pid }

// Kill ends the server as a crash would.
func (c *Process) Kill() { c.proc.kill() }

// Close closes the input and waits for the server to end by itself.
func (c *Process) Close() error { return c.proc.stop(10 * time.Second) }
