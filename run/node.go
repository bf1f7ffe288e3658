package run

import (
	"context"
	"encoding/json"
	"net"
	"time"

	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/work"
)

// Node is what a run needs of the installation it works for. What it asks for in the name
// of an agent is decided as any call of that agent is.
type Node interface {
	// Answer answers the questions of R1; "" = go on without.
	Answer(ctx context.Context, task, answers string) error
	// View is the task with its seats, outcomes and result.
	View(ctx context.Context, task string) (controller.View, error)
	// Changes wakes the caller when the task has changed, until stop is called.
	Changes() (woken <-chan struct{}, stop func())

	// Enlist registers an agent that fills one seat.
	Enlist(ctx context.Context, task string, seat controller.SeatView) (Agent, error)
	// Dismiss ends an agent and its leases.
	Dismiss(ctx context.Context, a Agent) error
	// DismissAll ends the agents that earlier runs of a task left.
	DismissAll(ctx context.Context, task string) error
	// Claim takes a seat, or lengthens the lease of the one the agent has.
	Claim(ctx context.Context, a Agent, workID string) (*work.Claimed, error)
	// Report files what became of a seat. CodeInvalid says what keeps the answer from
	// being taken, while the lease lasts.
	Report(ctx context.Context, a Agent, r Report) error
	// Record keeps what a client really did.
	Record(ctx context.Context, r work.Run) error
	// Serve serves MCP to a connection, acting as the agent, until it ends.
	Serve(ctx context.Context, a Agent, conn net.Conn) error
}

// Agent is an agent that fills a seat.
type Agent struct {
	ID    schemas.EntityID
	Name  string
	Renew time.Time // of one that is hired: from then on another one takes work in its place
}

// Report is what became of a seat.
type Report struct {
	WorkID   string
	Fence    int64
	Outcome  work.Outcome
	Result   json.RawMessage
	Evidence []work.Evidence
	Note     string
}
