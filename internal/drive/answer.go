package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Client calls tools as one agent.
type Client interface {
	// Call calls a tool. An error means there was no answer; a refusal is one.
	Call(ctx context.Context, tool string, args json.RawMessage) (Answer, error)
	// List lists the tools offered.
	List(ctx context.Context) ([]Tool, error)
	// Request sends any request of the protocol. name is that of the tool, resource
	// or prompt it is about, "" for none.
	Request(ctx context.Context, method, name string, params map[string]any) (Reply, error)
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
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// ErrEnded is what a call gets whose process ended before the answer.
var ErrEnded = errors.New("the process ended before it answered")

// Reply is a JSON-RPC response.
type Reply struct {
	ID     *int64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *Fault          `json:"error"`
}

// Fault is an error of the protocol.
type Fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// answerOf reads the result of tools/call.
func answerOf(r Reply) (Answer, error) {
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

func toolsOf(r Reply) ([]Tool, error) {
	if r.Error != nil {
		return nil, errors.New(r.Error.Message)
	}
	var result struct{ Tools []Tool }
	err := json.Unmarshal(r.Result, &result)
	return result.Tools, err
}
