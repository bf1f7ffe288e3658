package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cordelia/node"
	"cordelia/schemas"
)

// Exit codes, documented in `cordelia --help`.
const (
	ExitFailed  = 1 // something failed; the message says what
	ExitUsage   = 2 // the command line is wrong, or the request invalid
	ExitDenied  = 3 // not allowed, or not proven who
	ExitMissing = 4 // there is no such thing
	ExitBusy    = 5 // busy or outdated: try again; name taken: use another; run --apply: accepted, and not applied

	// task watch, run, a question at the terminal: interrupted, as a shell says of Ctrl-C
	ExitInterrupted Exit = 130
)

// Exit is an error that ends the program with this exit code and prints nothing.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

func (a *App) ExitCode(err error) int {
	e, ok := errors.AsType[*schemas.Error](err)
	if !ok {
		return ExitFailed
	}
	switch e.Code {
	case schemas.CodeInvalid:
		return ExitUsage
	case schemas.CodeDenied, schemas.CodeRevoked, schemas.CodeUnauthenticated:
		return ExitDenied
	case schemas.CodeNotFound:
		return ExitMissing
	case schemas.CodeBusy, schemas.CodeConflict:
		return ExitBusy
	}
	return ExitFailed
}

// App is what the commands share.
type App struct {
	Out, ErrOut *os.File
	In          *os.File
	Stopped     <-chan struct{} // closed once the user stops the command, nil = never
	Home        string
	Durability  string
	DB          string // address of a PostgreSQL database, from the command line
	ownDB       string // from the environment
	AsJSON      bool
	Verbose     bool

	// descriptor the passphrase comes from; -1 = ask at the terminal
	PassphraseFD   int
	PassphraseFile *os.File // of PassphraseFD
	Begun          bool     // the command line was understood
	Typed          *cobra.Command
	As             string      // the agent that the command acts as, "" for the person
	opCommands     []opCommand // the commands that call operations
	given          []*pflag.Flag
	// names of agents by id, "" for those that may not be named here
	known   map[schemas.EntityID]string
	Tune    func(*node.Config)                    // changes how the node is opened, nil = nothing
	parents map[schemas.EntityID]schemas.EntityID // of those agents
}
