package ops

import (
	"context"
	"encoding/json"
	"fmt"
)

// Ask calls the operation of that name, which there must be, and gives its answer: for
// what this process does in a caller's name.
func Ask[Out any](ctx context.Context, s *Service, caller Caller, tool string, in map[string]any) (Out, error) {
	return ask[Out](ctx, s, caller, Find(tool), in)
}

// ask calls an operation and gives its answer.
func ask[Out any](ctx context.Context, s *Service, who Caller, o *Operation, in map[string]any) (out Out, err error) {
	args, err := json.Marshal(in)
	if err != nil {
		return out, fmt.Errorf("arguments of %s: %w", o.Name, err)
	}
	answer, err := o.Call(ctx, s, who, args)
	if err != nil {
		return out, err
	}
	out, ok := answer.(Out)
	if !ok {
		return out, fmt.Errorf("%s answers %T", o.Name, answer)
	}
	return out, nil
}
