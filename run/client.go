package run

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"cordelia/schemas"
	"cordelia/work"
)

// Client is a coding client, or an API, that can fill a seat.
type Client interface {
	// Name is what the client is called in settings and records, such as claude-code.
	Name() string
	// Ask has the client answer an order. It tells each event as it happens and returns
	// once nothing of the client runs any more. The error is a *Fault.
	Ask(ctx context.Context, o Order, emit func(Event)) (Answer, error)
}

// Order is what a client is asked for.
type Order struct {
	System string          // what every answer in this role keeps to
	Prompt string          // the brief
	Schema json.RawMessage // JSON Schema of the answer
	Model  string          // "" = the client's own choice
	Dir    string          // the folder it works in
	Tools  []string        // of [Tools]; none = it judges from the prompt alone
	Socket string          // where `cordelia mcp --connect` reaches the runner, "" = no MCP server
	Shield Shield          // what its processes may reach
	Limits Limits

	family *family    // its processes; nil = not needed
	held   []*os.File // locks that last until its processes have ended
}

// The tools that a plan may name, as every client's are called here.
const (
	toolBash  = "bash"
	toolRead  = "read"
	toolEdit  = "edit"
	toolWrite = "write"
	toolGlob  = "glob"
	toolGrep  = "grep"
)

// ourName is our name of a tool that a client calls theirs: of one of its own, or of one of ours,
// before whose names it puts those of the one server there is.
func ourName(theirs, server string, tools map[string]string) string {
	for ours, name := range tools {
		if name == theirs {
			return ours
		}
	}
	return strings.TrimPrefix(theirs, server)
}

// Tools lists what a plan may name.
func Tools() []string { return []string{toolBash, toolRead, toolEdit, toolWrite, toolGlob, toolGrep} }

// readingTools are given to every executor, also if its plan does not name them: they change
// nothing.
func readingTools() []string { return []string{toolRead, toolGlob, toolGrep} }

// Limits bound one order. Zero values are no limits.
type Limits struct {
	First time.Duration // until the first event
	Idle  time.Duration // between two events
	Total time.Duration
	Turns int // of the model
}

// Event is an event of a client's stream. Only the fields of its kind are set.
type Event struct {
	Kind   EventKind
	At     time.Time
	ID     string          // of a call
	Tool   string          // of a call, as in [Tools] where it is one of them
	Input  string          // of a call
	Exit   int             // of a call that ended; -1 = not known
	Output string          // of a call that ended
	Model  string          // that answers
	Payer  string          // where the client takes its credentials from
	Text   string          // that the model said
	Usage  work.Usage      // so far
	Answer json.RawMessage // the structured answer
	Fault  *Fault          // why there is no answer
}

// EventKind is what an event is about.
type EventKind string

// The kinds.
const (
	Began    EventKind = "began"    // the client is up: Model, Payer
	Called   EventKind = "called"   // a tool call begins: ID, Tool, Input
	Returned EventKind = "returned" // it ended: ID, Exit, Output
	Said     EventKind = "said"     // Text
	Used     EventKind = "used"     // Usage
	Limited  EventKind = "limited"  // Fault
	Ended    EventKind = "ended"    // Answer or Fault, Usage
	Left     EventKind = "left"     // the client ended, and Text says what of it goes on
	Passed   EventKind = "passed"   // the client Text cannot be used, for Fault: the next one is asked
)

// Answer is the result of an order. It has the usage also after a fault.
type Answer struct {
	Structured json.RawMessage
	Model      string
	Payer      string
	Usage      work.Usage
}

// FaultKind says what kept a client from answering.
type FaultKind string

// The kinds of faults.
const (
	NoAnswer FaultKind = "no answer"     // it ended, and there is no structured answer
	Garbled  FaultKind = "garbled"       // its stream cannot be read, or breaks off
	Hung     FaultKind = "hung"          // nothing came for too long
	Crashed  FaultKind = "crashed"       // its process failed
	Refused  FaultKind = "refused"       // the model would not
	Limit    FaultKind = "limit"         // a rate limit or quota: the seat is postponed
	NoStart  FaultKind = "not started"   // the program cannot be run
	Stopped  FaultKind = "stopped"       // the user or a budget ended it
	Unpaid   FaultKind = "not logged in" // the client has no credentials that count
)

// Fault is why a client did not answer.
type Fault struct {
	Kind  FaultKind
	Msg   string
	Until time.Time // of a limit: when to ask again; zero = not known
}

func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.Kind, f.Msg) }

// faultf makes a fault.
func faultf(kind FaultKind, format string, args ...any) *Fault {
	return &Fault{Kind: kind, Msg: schemas.Shorten(fmt.Sprintf(format, args...), 1000)}
}

// faultMarks are words by which clients say why a turn failed, in the order they are
// looked for.
var faultMarks = []struct {
	kind   FaultKind
	traces []string
}{
	{Limit, []string{"usage limit", "rate limit", "429", "quota", "try again later"}},
	{Unpaid, []string{"401", "403", "not logged in", "login", "api key not valid", "auth method"}},
	{Refused, []string{"blocked due to"}},
}

// clientFault reads why a client's turn failed, of one that says it in words alone.
func clientFault(message string) *Fault {
	for _, one := range faultMarks {
		for _, mark := range one.traces {
			if strings.Contains(strings.ToLower(message), mark) {
				return faultf(one.kind, "%s", message)
			}
		}
	}
	return faultf(Crashed, "its turn failed: %s", message)
}
