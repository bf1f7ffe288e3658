package run

import (
	"time"

	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/work"
)

// Board receives the events of a run. Its methods are called one at a time.
type Board interface {
	// Task tells how the task stands.
	Task(v controller.View)
	// Seat tells how a seat stands that this run fills.
	Seat(s SeatState)
	// Note tells something else that the user wants to know.
	Note(text string)
}

// SeatState is how a seat stands.
type SeatState struct {
	WorkID string               `json:"work_id"`
	Role   schemas.PipelineRole `json:"role"`
	About  string               `json:"about,omitempty"` // the subtask
	Agent  string               `json:"agent"`
	Client string               `json:"client"`
	Phase  Phase                `json:"phase"`
	Doing  string               `json:"doing,omitempty"` // its last tool call, or why it ended so
	Calls  int                  `json:"calls"`
	Usage  work.Usage           `json:"usage"`
	Began  time.Time            `json:"began"`
	Ended  time.Time            `json:"ended,omitzero"`
}

// Phase is what a seat is at.
type Phase string

// The phases.
const (
	Starting  Phase = "starting"
	Working   Phase = "working"
	Postponed Phase = "postponed"
	Filed     Phase = "filed"
	Failing   Phase = "failed"
	GivenBack Phase = "given back"
)

// Over reports whether a seat in this phase has ended.
func (p Phase) Over() bool { return p == Filed || p == Failing || p == GivenBack }
