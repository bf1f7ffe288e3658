// Command cordelia gives coding agents identity, least privilege, shared memory
// and events, as an MCP server and at the command line.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cordelia/cmd/cordelia/audit"
	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/doctor"
	"cordelia/cmd/cordelia/platform"
	"cordelia/cmd/cordelia/setup"
	"cordelia/internal/keys"
	runner "cordelia/run"
	"cordelia/schemas"
)

func main() { os.Exit(run(os.Args[1:])) }

// run runs one command and returns the exit code.
func run(args []string) int {
	if code, ours := runner.Enter(args); ours {
		return code
	}
	platform.KeepDescriptors()
	if err := keys.HardenProcess(); err != nil {
		slog.Debug("process hardening", "err", err)
	}
	stops := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup; else a closed terminal stops the command
		stops = append(stops, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), stops...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends it at once
	a := &cli.App{Out: os.Stdout, In: os.Stdin, ErrOut: os.Stderr, Stopped: ctx.Done()}
	root := rootCommand(a, args)
	cli.StrictHelp(root)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil || cmd.Name() == hookName { // an error of a hook must not stop its client
		return 0
	}
	if code, ok := errors.AsType[cli.Exit](err); ok {
		return int(code)
	}
	if !a.Begun {
		err = cli.Misunderstood(root, err)
	}
	a.Complain(err)
	if errors.Is(err, schemas.ErrAbandoned) {
		return int(exitAbandoned)
	}
	return a.ExitCode(err)
}

// rootCommand makes the commands, for mcp and hook none but themselves: clients wait
// for them to start.
func rootCommand(a *cli.App, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:     "cordelia",
		Version: cli.Version(),
		Short:   "Identity, least privilege, shared memory and events for coding agents",
		Long: `Cordelia gives coding agents identity, least privilege, shared memory and events,
as an MCP server.

  cordelia demo                   see it all in half a minute
  cordelia setup                  connect Claude Code and other clients
  cordelia status                 what runs, what waits, what it took
  cordelia agent list             who is registered
  cordelia memory search WORDS    what they remember
  cordelia run "WORDS"            have your coding client plan, do and judge a task
  cordelia task watch TASK        how a task goes
  cordelia logs                   what changed
  cordelia doctor                 check everything

Exit codes: 0 done, 1 failed, 2 wrong usage or invalid input, 3 not allowed,
4 not found, 5 busy or outdated: try again; name taken: use another (run
--apply: accepted, and not applied); task, run: 6 abandoned, 7 cancelled,
130 interrupted, also at any command's question; run, worker: 8 stopped before
its end.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.Begun, a.Typed = true, cmd
			level := slog.LevelWarn
			if a.Verbose {
				level = slog.LevelDebug
			}
			slog.SetDefault(slog.New(slog.NewTextHandler(a.ErrOut, &slog.HandlerOptions{Level: level})))
			return a.OpenPassphrase()
		},
	}
	root.SetFlagErrorFunc(cli.WrongFlag)
	globalFlags(a, root.PersistentFlags())
	switch {
	case len(args) > 0 && args[0] == "mcp":
		root.AddCommand(mcpCommand(a))
	case len(args) > 0 && args[0] == hookName:
		root.AddCommand(hookCommand(a))
	default:
		root.AddCommand(commands(a)...)
	}
	return root
}

// globalFlags are the flags of all commands.
func globalFlags(a *cli.App, f *pflag.FlagSet) {
	f.StringVar(&a.Home, "home", defaultHome(), "folder of keys and database; also $CORDELIA_HOME")
	a.Given(f.Lookup("home"))
	f.StringVar(&a.Durability, "durability", "full", "when a write counts as done: full (on disk) or relaxed")
	f.BoolVar(&a.AsJSON, "json", false, "print JSON, for programs")
	f.IntVar(&a.PassphraseFD, "passphrase-fd", -1,
		"descriptor to read the passphrase of your key from, up to the end of its line, instead of the terminal")
	f.BoolVarP(&a.Verbose, "verbose", "v", false, "log details to stderr")
}

// commands are all commands, in the order of the manual.
func commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{setup.Command(a), setup.UninstallCommand(a), doctor.Command(a), statusCommand(a),
		logsCommand(a), configCommand(a), embeddingsCommand(a),
		mcpCommand(a), hookCommand(a), serveCommand(a), consoleCommand(a), versionCommand(a), completionCommand(a),
		runCommand(a), workerCommand(a),
		costCommand(a), agentCommand(a), keyCommand(a), memoryCommand(a), eventsCommand(a),
		trustCommand(a), audit.Command(a), taskCommand(a), swarmCommand(a), roleCommand(a), reviewCommand(a),
		exportCommand(a), importCommand(a), backupCommand(a), restoreCommand(a), migrateCommand(a),
		demoCommand(a), proofCommand(a)}
}

// defaultHome is $CORDELIA_HOME, or .cordelia in the user's home folder, or "" if
// that is not known.
func defaultHome() string {
	if dir := os.Getenv("CORDELIA_HOME"); dir != "" {
		return dir
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return "" // refused where it is used
	}
	return filepath.Join(dir, ".cordelia")
}
