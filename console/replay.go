package console

import (
	"context"

	"cordelia/schemas"
)

// replayPage is what the roles of a task said, one message whole.
type replayPage struct {
	TaskID  string
	Step    int // from 1; 0 = nothing was said yet
	Of      int
	Message schemas.AuditEvent
	Actor   string // whose message it is: a name
	Near    []replayStep
	Full    bool // there are more messages than are listed
}

// replayStep is a message in the list.
type replayStep struct {
	Number int
	Here   bool
	schemas.AuditEvent
}

// nearSteps is how many messages before and after the present one a page lists.
const nearSteps = 8

func replay(ctx context.Context, v *visit) (view, error) {
	step := 0
	if asked := v.r.URL.Query().Get("step"); asked != "" {
		var err error
		if step, err = number(asked); err != nil {
			return view{}, err
		}
	}
	r, err := v.node.ReplayTask(ctx, v.caller.Principal, v.r.PathValue("id"), step)
	if err != nil {
		return view{}, err
	}
	p := replayPage{TaskID: v.r.PathValue("id"), Step: r.At, Of: len(r.Steps), Full: r.More}
	if r.At > 0 {
		p.Message = r.Steps[r.At-1]
		p.Actor = v.nameOf(ctx, p.Message.Actor)
	}
	for i := max(0, r.At-1-nearSteps); i < min(len(r.Steps), r.At+nearSteps); i++ {
		p.Near = append(p.Near, replayStep{i + 1, i+1 == r.At, r.Steps[i]})
	}
	return view{template: "replay", title: "Replay of task " + schemas.ShortID(p.TaskID), body: p,
		still: step > 0 && step < p.Of}, nil
}

// Before is the step before the present one, 0 for none.
func (p replayPage) Before() int { return p.Step - 1 }

// After is the step after the present one, 0 for none.
func (p replayPage) After() int {
	if p.Step >= p.Of {
		return 0
	}
	return p.Step + 1
}
