package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// acting is the open node and who acts on it.
type acting struct {
	*app
	node    *ops.Service
	keyring *node.Keyring
	caller  ops.Caller
	as      string // a descendant the caller acts as
}

// asFlag is the flag, with a space before it, that has the next command act as this one.
func (a *app) asFlag() string {
	if a.as == "" {
		return ""
	}
	return " --as " + quoted(clean(a.as))
}

// act opens the node and runs f as who is meant: the person by default; with as
// an agent whose key is on this machine or, failing that, a descendant of the
// person's.
func (a *app) act(ctx context.Context, as string, f func(*acting) error) (err error) {
	a.as = as
	n, err := a.openUsed(ctx)
	if err != nil {
		return err
	}
	defer closing(n, &err)
	who := &acting{app: a, node: n, keyring: n.Keyring(a.askPassphrase)}
	defer who.keyring.Close()
	if as != "" {
		file, err := n.OpenIdentity(ctx, as)
		if err == nil {
			defer file.Identity.Erase()
			if who.caller, err = n.Caller(ctx, file, terminalSession()); err != nil {
				return err
			}
			return f(who)
		}
		if !errors.Is(err, schemas.ErrNotFound) {
			return err
		}
		who.as = as
	}
	if who.caller, err = n.Person(ctx, who.keyring, terminalSession()); err != nil {
		return err
	}
	return f(who)
}

// call calls an operation of the catalogue and returns its output.
func (w *acting) call(ctx context.Context, name string, in map[string]any) (any, error) {
	if w.as != "" {
		in["as"] = w.as
	}
	args, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", name, err)
	}
	caller := w.caller
	if caller.Dir, err = workingFolder(""); err != nil {
		return nil, err
	}
	return ops.Find(name).Call(ctx, w.node, caller, args)
}

// ask calls an operation and returns its output as what it is.
func ask[Out any](ctx context.Context, w *acting, name string, in map[string]any) (out Out, err error) {
	answer, err := w.call(ctx, name, in)
	if err != nil {
		return out, err
	}
	return outputOf[Out](answer)
}

// outputOf is an answer as the output that its operation defines.
func outputOf[Out any](answer any) (Out, error) {
	out, ok := answer.(Out)
	if !ok {
		return out, fmt.Errorf("the answer is a %T, and no %T", answer, out)
	}
	return out, nil
}

// closing closes the node at the end of a command that opened it.
func closing(n *ops.Service, err *error) { *err = errors.Join(*err, n.Close()) }

// terminalSession names the session of commands given one after the other: the
// client's where one runs them, else that of the shell.
func terminalSession() string {
	if id := os.Getenv("CLAUDE_CODE_SESSION_ID"); id != "" {
		return id
	}
	return fmt.Sprintf("terminal-%d", os.Getppid())
}
