package run

import (
	"context"
	"errors"
	"sync/atomic"
)

// CodeName is what stands for code where the settings name who fills a seat.
const CodeName = "code"

// Choice is who fills the seats of a role, in order: code where it can, then the first
// client that can be used. One that cannot be started or is not logged in is passed over
// from then on; a limit of its provider postpones the seat.
type Choice struct {
	Code    bool // no model judges a subtask whose criteria all name a command
	Clients []Client
	at      atomic.Int32 // the one that is used
}

// current is the client that is used, with its place.
func (c *Choice) current() (Client, int32) {
	at := c.at.Load()
	return c.Clients[at], at
}

// Name is that of the client that is used.
func (c *Choice) Name() string {
	one, _ := c.current()
	return one.Name()
}

// Names lists all that may fill a seat, in order.
func (c *Choice) Names() (list []string) {
	if c.Code {
		list = []string{CodeName}
	}
	for _, one := range c.Clients {
		list = append(list, one.Name())
	}
	return list
}

// Ask has the first client that can be used answer. The model that is asked for is the
// first client's: the others have their own.
func (c *Choice) Ask(ctx context.Context, o Order, emit func(Event)) (Answer, error) {
	for {
		one, at := c.current()
		if at > 0 {
			o.Model = ""
		}
		answer, err := one.Ask(ctx, o, emit)
		f, ok := errors.AsType[*Fault](err)
		if !ok || f.Kind != NoStart && f.Kind != Unpaid || int(at) == len(c.Clients)-1 {
			return answer, err
		}
		if c.at.CompareAndSwap(at, at+1) {
			emit(Event{Kind: Passed, Text: one.Name(), Fault: f})
		}
	}
}

// Absent stands for a client that cannot be used here.
type Absent struct {
	Client string
	Why    string
}

// Name is that of the client.
func (a Absent) Name() string { return a.Client }

// Ask says why it cannot be used.
func (a Absent) Ask(context.Context, Order, func(Event)) (Answer, error) {
	return Answer{}, faultf(NoStart, "%s", a.Why)
}
