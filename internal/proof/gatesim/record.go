package main

import (
	"context"
	"fmt"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/work"
)

// tool is what the executor measures with: a shell where the node records its calls.
func (t *trial) tool() string {
	if t.fault.recorded {
		return "bash"
	}
	return "tape"
}

// commandOf is the command that shows a criterion.
func commandOf(c int) string { return fmt.Sprintf("measure --span %d", c) }

// recorded are the executor's calls as they really happened, in order: first what it did about
// the criteria that are unmet, then the calls of the others, which are what they claim to be.
func (t *trial) recorded(attempt int) (calls []work.RecordedCall) {
	add := func(tool, input string) {
		calls = append(calls, work.RecordedCall{Evidence: schemas.NewEvidence(tool, input, 0, "12 m")})
	}
	for c := range criteria {
		if !t.faulty(c, attempt) {
			continue
		}
		switch t.fault.left {
		case old:
			add(t.tool(), commandOf(c))
			add("write", file(c))
		case restamped:
			add(t.tool(), commandOf(c))
			add(t.tool(), "touch "+file(c))
		}
	}
	for c := range criteria {
		if !t.faulty(c, attempt) {
			add(t.tool(), commandOf(c))
		}
	}
	return calls
}

// record has the node keep what it saw of an executor.
func (h *house) record(ctx context.Context, s *seat, calls []work.RecordedCall) error {
	return h.node.Routine(ctx, "task_record", func(g access.Grant) error {
		return work.Record(g, work.Run{WorkID: s.WorkID, Fence: s.Fence, Client: "scripted", Outcome: work.RunAnswered,
			Records: true, Calls: calls})
	})
}
