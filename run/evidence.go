package run

import (
	"cordelia/schemas"
	"cordelia/work"
)

// record gathers the tool calls of one run of a client from its events.
type record struct {
	calls []work.RecordedCall
	open  map[string]int // calls without a result so far, by id → place in calls
}

// note takes an event.
func (r *record) note(e Event) {
	switch e.Kind {
	case Called:
		if r.open == nil {
			r.open = map[string]int{}
		}
		if _, known := r.open[e.ID]; known { // some clients tell a call again when it is over
			return
		}
		r.open[e.ID] = len(r.calls)
		at := e.At.UnixMicro()
		// Until its result comes, how it ends is not known.
		r.calls = append(r.calls, work.RecordedCall{Evidence: schemas.NewEvidence(e.Tool, e.Input, -1,
			"no result was told"), Started: at, Ended: at})
	case Returned:
		at, ok := r.open[e.ID]
		if !ok {
			return
		}
		delete(r.open, e.ID)
		c := &r.calls[at]
		c.Evidence, c.Ended = schemas.NewEvidence(c.Tool, c.Input, e.Exit, e.Output), e.At.UnixMicro()
	}
}
