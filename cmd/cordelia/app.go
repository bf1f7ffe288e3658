package main

import (
	"errors"
	"fmt"
	"os"

	"cordelia/node"
	"cordelia/schemas"
)

// Exit codes, documented in `cordelia --help`.
const (
	exitFailed  = 1 // something failed; the message says what
	exitUsage   = 2 // the command line is wrong, or the request invalid
	exitDenied  = 3 // not allowed, or not proven who
	exitMissing = 4 // there is no such thing
	exitBusy    = 5 // try again later
)

// exit ends the program with a code of its own; what there is to say was said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

func (a *app) exitCode(err error) int {
	var e *schemas.Error
	if !errors.As(err, &e) {
		return exitFailed
	}
	switch e.Code {
	case schemas.CodeInvalid:
		return exitUsage
	case schemas.CodeDenied, schemas.CodeRevoked, schemas.CodeUnauthenticated:
		return exitDenied
	case schemas.CodeNotFound:
		return exitMissing
	case schemas.CodeBusy, schemas.CodeConflict:
		return exitBusy
	}
	return exitFailed
}

// app is what the commands share.
type app struct {
	out, errOut *os.File
	in          *os.File
	home        string
	durability  string
	asJSON      bool
	verbose     bool

	passphraseFD   int                                   // descriptor the passphrase comes from; -1 = ask at the terminal
	passphraseFile *os.File                              // of passphraseFD
	begun          bool                                  // the command line was understood
	as             string                                // whom the command acts as, "" for the person
	opCommands     []opCommand                           // the commands that call operations
	known          map[schemas.EntityID]string           // names of agents by id, "" for those that may not be named here
	tune           func(*node.Config)                    // changes how the node is opened, nil = nothing
	parents        map[schemas.EntityID]schemas.EntityID // of those agents
}
