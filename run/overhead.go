package run

import (
	"encoding/json"

	"cordelia/schemas"
	"cordelia/work"
)

// What our own part of a request may have, in bytes: all that is neither the brief nor the
// schema of the answer.
const (
	MaxJudging   = 3_000
	MaxExecuting = 4_000
)

// Overhead is how many bytes the first request for a role has over an API whose brief and
// schema are empty: the words, the tools and the wire. Clients of the user get no more than
// that from us.
func Overhead(kind APIKind, role schemas.PipelineRole) (int, error) {
	a, err := NewAPI(APIConfig{Kind: kind, Model: "m"})
	if err != nil {
		return 0, err
	}
	text, err := prompt(&work.Claimed{}, "", "", nil, nil)
	if err != nil {
		return 0, err
	}
	c := &conversation{API: a, order: Order{System: system(role), Prompt: text, Schema: json.RawMessage("{}")}}
	most := 0
	for _, t := range c.first(role) {
		t.model = a.Model
		raw, err := a.wire.request(t)
		if err != nil {
			return 0, err
		}
		most = max(most, len(raw))
	}
	return most, nil
}

// first are the first requests for a role, in each way that it may be asked.
func (c *conversation) first(role schemas.PipelineRole) (list []talk) {
	if role == schemas.Executor {
		c.order.Tools = Tools()
		t := c.working()
		t.turns = []turn{{user: c.order.Prompt}}
		return []talk{t}
	}
	for _, at := range []step{strictly, asObject, inWords} {
		t := c.judging(at)
		t.turns = []turn{{user: c.asked(at)}}
		list = append(list, t)
	}
	return list
}
