package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// Acting is the open node and who acts on it.
type Acting struct {
	*App
	Node    *ops.Service
	Keyring *node.Keyring
	Caller  ops.Caller
	As      string // a descendant the caller acts as
}

// AsFlag is the flag, with a space before it, that has the next command act as this one.
func (a *App) AsFlag() string {
	if a.As == "" {
		return ""
	}
	return " --as " + Quoted(Clean(a.As))
}

// Act opens the node and runs f as who is meant: the person by default; with as
// an agent whose key is on this machine or, failing that, a descendant of the
// person's.
func (a *App) Act(ctx context.Context, as string, f func(*Acting) error) (err error) {
	a.As = as
	n, err := a.OpenFor(ctx, as)
	if err != nil {
		return err
	}
	defer Closing(n, &err)
	who := &Acting{App: a, Node: n, Keyring: n.Keyring(a.AskPassphrase)}
	defer who.Keyring.Close()
	if as != "" {
		file, err := n.OpenIdentity(ctx, as)
		if err == nil {
			defer file.Identity.Erase()
			if who.Caller, err = n.Caller(ctx, file, TerminalSession()); err != nil {
				return err
			}
			return f(who)
		}
		if !errors.Is(err, schemas.ErrNotFound) {
			return err
		}
		who.As = as
	}
	if who.Caller, err = n.Person(ctx, who.Keyring, TerminalSession()); err != nil {
		if n.Home.Fresh() {
			return cmp.Or(n.LostKey(ctx), err)
		}
		return cmp.Or(n.StrangeKey(ctx), err)
	}
	return f(who)
}

// OpenFor is OpenUsed; for an agent also in a home that joined a database without the user's key.
func (a *App) OpenFor(ctx context.Context, as string) (*ops.Service, error) {
	home, err := a.Place()
	if err != nil || as == "" || !home.Fresh() {
		return a.OpenUsed(ctx)
	}
	address, err := a.Database(home)
	if err != nil || address == "" {
		return a.OpenUsed(ctx)
	}
	return a.OpenNode(ctx)
}

// Call calls an operation of the catalogue and returns its output.
func (w *Acting) Call(ctx context.Context, name string, in map[string]any) (any, error) {
	if w.As != "" {
		in["as"] = w.As
	}
	args, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", name, err)
	}
	caller := w.Caller
	if caller.Dir, err = WorkingFolder(""); err != nil {
		return nil, err
	}
	return ops.Find(name).Call(ctx, w.Node, caller, args)
}

// Ask calls an operation and returns its output as what it is.
func Ask[Out any](ctx context.Context, w *Acting, name string, in map[string]any) (out Out, err error) {
	answer, err := w.Call(ctx, name, in)
	if err != nil {
		return out, err
	}
	return OutputOf[Out](answer)
}

// OutputOf is an answer as the output that its operation defines.
func OutputOf[Out any](answer any) (Out, error) {
	out, ok := answer.(Out)
	if !ok {
		return out, fmt.Errorf("the answer is a %T, and no %T", answer, out)
	}
	return out, nil
}

// Closing closes the node at the end of a command that opened it.
func Closing(n *ops.Service, err *error) { *err = errors.Join(*err, n.Close()) }

// TerminalSession names the session of commands given one after the other: the
// client's where one runs them, else that of the shell.
func TerminalSession() string {
	if id := os.Getenv("CLAUDE_CODE_SESSION_ID"); id != "" {
		return id
	}
	return fmt.Sprintf("terminal-%d", os.Getppid())
}
