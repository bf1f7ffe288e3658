package ops

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/node"
	"cordelia/schemas"
	"cordelia/work"
)

// Toolset groups operations for the --toolsets flag.
type Toolset string

const (
	Agents Toolset = "agents"
	Memory Toolset = "memory"
	Events Toolset = "events"
	Trust  Toolset = "trust"
	Tasks  Toolset = "tasks"
	Swarms Toolset = "swarm"
	Review Toolset = "review"
	Roles  Toolset = "roles" // offered to callers that have a workspace, or by name
)

// Toolsets lists the toolsets there are, in the order tools are listed.
func Toolsets() []Toolset {
	return []Toolset{Agents, Memory, Events, Trust, Tasks, Swarms, Review, Roles}
}

// Spec is what a caller sees of an operation.
type Spec struct {
	Name        string // the tool's name, and what capabilities grant
	Title       string // for people
	Description string // for models: ≤ 600 characters
	SearchHint  string // words a model may search the tool by
	Toolset     Toolset
	Effect      access.Effect
	AlwaysLoad  bool // among the few tools a client should not defer
	Repeatable  bool // a repeated call changes nothing more
	InPerson    bool // refused when acting as another
	Concurrent  bool // may run beside those of other agents; see store.WriteConcurrent
}

// Operation is one entry of the catalogue.
type Operation struct {
	Spec
	in, out reflect.Type
	schemas func() (compiled, error)
	run     func(ctx context.Context, c *Call, args []byte) (any, error)
	keeping *keeping // nil: its calls never become pending
}

// Define makes an operation from its spec and handler. In and Out are structs with json tags;
// fields without omitempty are required. These tags say more of a field:
//
//	jsonschema:"…"      describes it, for models
//	enum:"a,b"          closes it
//	also:"id,name"      other names that models give it, which are taken for it
//	hint:"cursor"       other names for which it is proposed
//	ref:"task"          it names a thing by an id, which may be given shortened
//	text:"event"        an object, of which a mere string gives this member
//	free:"lines"        free words: a list of lines is taken, too ("json": any value)
//	commas:"true"       a list of words that hold no comma: a text of several is split
//	like:"item"         an object whose members are published in words; patch:"true": null deletes
//	any:"true"          any JSON value
//
// The common arguments as and, on mutating operations, idempotency_key are added.
func Define[In, Out any](s Spec, handle func(ctx context.Context, c *Call, in In) (Out, error)) *Operation {
	o := &Operation{Spec: s, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out]()}
	o.schemas = sync.OnceValues(o.compile) // made at the start they take a seventh of the time to the first answer
	o.run = func(ctx context.Context, c *Call, args []byte) (any, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			refusal := schemas.Invalidf("the arguments of %s cannot be read", s.Name).Because(err)
			if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
				refusal = refusal.With(schemas.Violation{
					Path: "/" + strings.ReplaceAll(wrong.Field, ".", "/"), Msg: noFit(wrong.Type)})
			}
			return nil, refusal
		}
		out, err := handle(ctx, c, in)
		c.addressed(out, err)
		return out, err
	}
	return o
}

// noFit says which numbers an argument of a type takes, for one that it does not.
func noFit(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return fmt.Sprintf("must be a whole number in digits, from %d to %d", math.MinInt64, math.MaxInt64)
	case reflect.Float64:
		return "must be a number from -1.8e308 to 1.8e308"
	}
	return "is no number that fits there"
}

// Mutates reports whether the operation changes anything.
func (o *Operation) Mutates() bool { return o.Effect != access.Read }

// Caller is who calls, as the face proved it.
type Caller struct {
	access.Principal
	Sign Signer         // signs what the caller writes; nil leaves it to the node
	key  *keys.Identity // the caller's private key, nil where this process does not hold it
	Dir  string         // the folder its process works in, as Folder gives it; "" over HTTP

	Apart work.Apart // groups whose work it does not claim

	Toolsets []Toolset // that its client offers; nil: all

	MayPend bool // it comes back for the answer of a call that waits; Call's error is then ErrPending
	Asks    bool // its client asks the user what a call that waits wants to know
	// Explains: the parts of scores are shown, which cost a model too many words.
	Explains bool
	// ExplainsItem is the id, or a short form of it, of an item whose standing a search says, too.
	ExplainsItem string
	// Consulted: its client says that the user has decided what NeedsPerson named.
	Consulted bool
}

// Signer signs a message and names whose key did it.
type Signer func(message []byte) (signature []byte, by schemas.EntityID)

// Call is one call of an operation.
type Call struct {
	Node   *node.Node
	on     *Service
	Op     *Operation
	Caller Caller
	As     string

	args        json.RawMessage
	key         string // idempotency key
	requestHash []byte
	pending     *pendingRow  // nil: this is not a pending call being tried again
	acted       access.Grant // what it last acted by, used up or not
}

// Call runs the operation. The error, if any, is for the face to word. A refusal takes its time,
// so that how long it takes does not tell what is hidden from what is absent; a person does not wait.
func (o *Operation) Call(ctx context.Context, s *Service, caller Caller, args json.RawMessage) (any, error) {
	s.Called()
	began := time.Now()
	answer, err := o.call(ctx, s, caller, args)
	if code := schemas.CodeOf(err); (code == schemas.CodeNotFound || code == schemas.CodeDenied) &&
		!caller.Principal.Reads() {
		until(began.Add(refusalTakes))
	}
	return answer, err
}

// refusalTakes is how long a refusal takes at least: longer than the work before it.
const refusalTakes = 5 * time.Millisecond

// until returns at a time, to the µs. A sleep alone ends up to a millisecond late, and by how much
// depends on when it began.
func until(at time.Time) {
	time.Sleep(time.Until(at) - 2*time.Millisecond)
	for time.Until(at) > 0 {
		runtime.Gosched()
	}
}

func (o *Operation) call(ctx context.Context, s *Service, caller Caller, args json.RawMessage) (any, error) {
	c, err := o.prepare(s, caller, args)
	if err != nil {
		return nil, err
	}
	if err := c.resolve(ctx); err != nil {
		c.addressed(nil, err)
		return nil, err
	}
	answer, err := o.run(ctx, c, c.args)
	if bad, ok := errors.AsType[*schemas.Error](err); ok && bad.Code == schemas.CodeInvalid && len(bad.Hint) == 0 {
		bad.Hint = schemas.Hintf("correct that and %s again", schemas.Do(o.Name))
	}
	return answer, err
}

// prepare checks the arguments.
func (o *Operation) prepare(on *Service, caller Caller, args json.RawMessage) (*Call, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	s, err := o.schemas()
	if err != nil {
		return nil, err
	}
	args, err = s.validate(o, args)
	if err != nil {
		if slow := on.Auth.Failed(caller.Principal); slow != nil {
			return nil, slow
		}
		return nil, err
	}
	var common commonArgs
	if err := json.Unmarshal(args, &common); err != nil {
		return nil, schemas.Invalidf("the arguments of %s cannot be read", o.Name).Because(err)
	}
	if len(common.IdempotencyKey) > maxIdempotencyKey {
		return nil, schemas.Invalidf("idempotency_key has %d bytes", len(common.IdempotencyKey)).
			Expecting("at most %d", maxIdempotencyKey).Try("%s again with a shorter one", schemas.Do(o.Name))
	}
	c := &Call{Node: on.Node, on: on, Op: o, Caller: caller, As: common.As, args: args, key: common.IdempotencyKey}
	if c.key != "" {
		sum := sha256.Sum256(append([]byte(o.Name+"\x00"), args...))
		c.requestHash = sum[:]
	}
	return c, nil
}

// maxIdempotencyKey is the longest key, in bytes: each is kept for a day.
const maxIdempotencyKey = 200

// commonArgs are the arguments Define adds.
type commonArgs struct {
	As             string `json:"as"`
	IdempotencyKey string `json:"idempotency_key"`
}

// op is what the authorizer is asked for.
func (c *Call) op() access.Op {
	return access.Op{Tool: c.Op.Name, Effect: c.Op.Effect, As: c.As, InPerson: c.Op.InPerson,
		Concurrent: c.Op.Concurrent}
}

// Do runs f with the caller's grant, in one transaction.
func (c *Call) Do(ctx context.Context, f func(access.Grant) error) error {
	return c.do(ctx, c.op(), f)
}

// do is Do for an operation that asks for less than the call's own.
func (c *Call) do(ctx context.Context, op access.Op, f func(access.Grant) error) error {
	return c.Node.Auth.Do(ctx, c.Caller.Principal, op, func(g access.Grant) error {
		c.acted = g
		return f(g)
	})
}

// sign signs msg with the caller's key where it is the actor's own, else with
// the node's.
func (c *Call) sign(actor schemas.EntityID, msg []byte) (signature []byte, by schemas.EntityID) {
	if c.Caller.Sign != nil && actor == c.Caller.Entity {
		return c.Caller.Sign(msg)
	}
	return c.Node.Sign(msg)
}

// Transact runs f with the caller's grant, in one transaction, and returns its
// answer. For a mutating call with an idempotency key the answer is recorded in
// that transaction, and a repetition gets it without running f (INV-ONCE). A
// write uses exactly one Transact.
func Transact[Out any](ctx context.Context, c *Call, f func(access.Grant) (Out, error)) (Out, error) {
	var out Out
	err := c.Do(ctx, func(g access.Grant) (err error) {
		if out, err = once(g, c, f); err != nil || !c.Op.Mutates() {
			return err
		}
		c.addressed(out, nil) // before it is words
		return c.pending.answered(g, out)
	})
	if err == nil && c.pending != nil && !c.Op.Mutates() { // a snapshot takes no answer
		err = c.Node.Routine(ctx, pendingRoutine, func(g access.Grant) error { return c.pending.answered(g, out) })
	}
	if err != nil {
		var none Out
		return none, err
	}
	return out, nil
}

func once[Out any](g access.Grant, c *Call, f func(access.Grant) (Out, error)) (out Out, err error) {
	if c.key == "" || !c.Op.Mutates() {
		return f(g)
	}
	done, err := recorded(g, c, &out)
	if done || err != nil {
		return out, err
	}
	if out, err = f(g); err != nil {
		return out, err
	}
	c.addressed(out, nil) // before it is words
	return out, record(g, c, out)
}

// recorded fetches the answer a call with the same key got before.
func recorded(g access.Grant, c *Call, out any) (done bool, err error) {
	var tool, result string
	var hash []byte
	err = g.Tx().QueryRow(selectRecorded, g.Actor(), c.key).Scan(&tool, &hash, &result)
	if noRows(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read idempotency record: %w", err)
	}
	if tool != c.Op.Name || !bytes.Equal(hash, c.requestHash) {
		return false, schemas.Conflictf("this idempotency_key was used for a different call of %s", tool).
			Try("repeat the call with a new idempotency_key")
	}
	return true, json.Unmarshal([]byte(result), out)
}

func record(g access.Grant, c *Call, out any) error {
	result, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("record answer: %w", err)
	}
	if _, err := g.Tx().Exec(insertRecorded, g.Actor(), c.key, c.Op.Name, c.requestHash, string(result),
		g.Tx().Micros()); err != nil {
		return fmt.Errorf("record answer: %w", err)
	}
	return nil
}
