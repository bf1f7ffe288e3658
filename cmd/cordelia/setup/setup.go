package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/internal/clientsettings"
	"cordelia/schemas"
)

// setupFlags are the flags of setup.
type setupFlags struct {
	clients    []string
	binDir     string
	dryRun     bool
	force      bool
	passphrase bool
	allow      bool
}

// Command is the command setup.
func Command(a *cli.App) *cobra.Command {
	var f setupFlags
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Install, make your identity, and connect your clients",
		Long: `Install this program where clients find it, make your identity, and connect each
client found here: Claude Code by a plugin (server, hooks, skills, a worker),
Codex and Gemini CLI by one entry in their settings. Prints every file. A second
run changes nothing; cordelia uninstall puts everything back.

Claude Code asks before it calls a tool, and where it cannot ask you (claude -p) it
refuses. --allow adds one rule to its settings that allows cordelia's tools and no
others: ` + clientsettings.Rule + `.`,
		Example: `  go run ./cmd/cordelia setup
  cordelia setup --allow
  cordelia setup --dry-run
  cordelia setup --client claude-code --passphrase`,
		Args: cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return setUp(cmd.Context(), a, f) },
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&f.clients, "client", nil,
		"connect only this client, found or not: claude-code, codex or gemini-cli; repeatable")
	fl.StringVar(&f.binDir, "bin-dir", "",
		"install the program into this folder (default ~/.local/bin, if it does not run from PATH already)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print what would be done and touch nothing")
	fl.BoolVar(&f.force, "force", false, "replace another program, or another MCP server, of our name")
	fl.BoolVar(&f.allow, "allow", false, "let Claude Code call cordelia's tools without asking")
	fl.BoolVar(&f.passphrase, "passphrase", false, "ask for a passphrase on the terminal, to protect your key")
	return cmd
}

// Action is what happens, or would happen, to a file.
type Action string

const (
	created   Action = "created"
	Changed   Action = "changed"
	Unchanged Action = "unchanged"
	restored  Action = "restored"
	Removed   Action = "removed"
	kept      Action = "kept"
)

// Change is a line of the report of setup and uninstall.
type Change struct {
	Action Action `json:"action"`
	Path   string `json:"path"`
	What   string `json:"what"`
}

func setUp(ctx context.Context, a *cli.App, f setupFlags) error {
	p, err := planSetup(ctx, a, f)
	if err != nil {
		return err
	}
	if !f.dryRun {
		passphrase, err := passphraseOf(a, p) // asked for before anything is made
		if err != nil {
			return err
		}
		defer clear(passphrase)
		if err := applySetup(ctx, a, p, passphrase); err != nil {
			return err
		}
	}
	return reportSetup(a, p)
}

// applySetup does what is planned. A kill at any point leaves every file old or
// new, and what the manifest needs to go back; a second run does the rest.
func applySetup(ctx context.Context, a *cli.App, p *setupPlan, passphrase []byte) error {
	if err := p.manifestFile.save(p.manifest); err != nil {
		return err
	}
	for _, dir := range p.folders {
		if err := os.Mkdir(dir.path, dir.mode); err != nil && !errors.Is(err, os.ErrExist) {
			return schemas.Errorf(schemas.CodeUnavailable, "the folder %s cannot be made", dir.path).
				Try("check who owns the folder above it: ls -ld %q", filepath.Dir(dir.path)).Because(err)
		}
	}
	if err := p.binary.install(); err != nil {
		return err
	}
	if err := establish(ctx, a, p, passphrase); err != nil {
		return err
	}
	for _, e := range p.edits {
		write := func() error { return e.file.Replace(e.content) }
		if e.content == nil {
			write = e.file.Remove
		}
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// establish makes the identities, unless they are complete: that can be seen
// without the passphrase of the user's key. passphrase protects a new one.
func establish(ctx context.Context, a *cli.App, p *setupPlan, passphrase []byte) (err error) {
	a.Home = string(p.home)
	n, err := a.OpenNode(ctx)
	if err != nil {
		return err
	}
	defer cli.Closing(n, &err)
	if !n.Home.Fresh() {
		if file, err := n.OpenIdentity(ctx, ""); err == nil {
			defer file.Identity.Erase()
			if _, err := n.Caller(ctx, file, "setup"); err == nil {
				return p.unprotected("meanwhile", "your clients were not connected")
			}
		}
	}
	if _, err := n.Establish(ctx, "", passphrase, a.AskPassphrase); err != nil {
		return err
	}
	return p.unprotected("meanwhile", "your clients were not connected")
}

// newPassphrase asks twice where it is typed.
func newPassphrase(a *cli.App) ([]byte, error) {
	fmt.Fprintln(a.ErrOut, "Choose a passphrase for your key.")
	first, err := a.AskPassphrase()
	if err != nil || a.PassphraseFD >= 0 {
		return first, err
	}
	fmt.Fprintln(a.ErrOut, "The same again.")
	second, err := a.AskPassphrase()
	defer clear(second)
	if err == nil && !slices.Equal(first, second) {
		err = schemas.Invalidf("the two passphrases differ; no key was made").Try("run: cordelia setup --passphrase")
	}
	if err != nil {
		clear(first)
		return nil, err
	}
	return first, nil
}

func reportSetup(a *cli.App, p *setupPlan) error {
	if a.AsJSON {
		return a.PrintJSON(map[string]any{
			"dry_run": p.flags.dryRun, "changes": p.changes, "clients": p.connected,
			"notes": append([]string{}, p.notes...),
		})
	}
	if p.flags.dryRun {
		fmt.Fprintln(a.Out, "Dry run, nothing was touched. Setup would leave these files:")
	}
	printChanges(a, p.changes)
	if !slices.ContainsFunc(p.changes, func(c Change) bool { return c.Action != Unchanged }) {
		fmt.Fprintln(a.Out, "\nEverything was set up already; nothing changed.")
	}
	for _, n := range p.notes {
		fmt.Fprintf(a.Out, "\n%s\n", a.Here(n))
	}
	if p.flags.dryRun {
		fmt.Fprintln(a.Out, "\nTo do it, run the same without --dry-run.")
		return nil
	}
	command := "cordelia"
	if !OnPath(filepath.Dir(p.binary.target)) {
		command = cli.Quoted(p.binary.target)
	}
	if len(p.connected) > 0 {
		fmt.Fprintf(a.Out, "\nConnected: %s.\n", strings.Join(p.titles, ", "))
		fmt.Fprintln(a.Out, "\nRestart sessions that are open: a client reads its servers when it starts.")
	}
	fmt.Fprintln(a.Out, "\nTry:")
	for _, id := range p.connected {
		switch id {
		case clientsettings.ClaudeCode:
			fmt.Fprintln(a.Out, `  claude "Register a worker agent named scout, then list your agents"`)
		case clientsettings.Codex:
			fmt.Fprintln(a.Out, `  codex "Register a worker agent named scout with cordelia, then list your agents"`)
		case clientsettings.Gemini:
			fmt.Fprintln(a.Out, `  gemini -i "Register a worker agent named scout with cordelia, then list your agents"`)
		}
	}
	try := a.Here("  cordelia agent list\n  cordelia doctor\n")
	fmt.Fprint(a.Out, strings.ReplaceAll(try, "  cordelia ", "  "+command+" "))
	return nil
}

func printChanges(a *cli.App, changes []Change) {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	for _, c := range changes {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.Action, c.Path, c.What)
	}
	w.Flush() //nolint:errcheck // as for any print to the terminal
}

// Machine is this user's machine as clients see it.
func Machine() (clientsettings.Machine, error) {
	dir, err := os.UserHomeDir()
	if err != nil {
		return clientsettings.Machine{}, schemas.Invalidf("your home folder is not known").Try("set HOME").Because(err)
	}
	return clientsettings.Machine{Home: dir, Getenv: os.Getenv}, nil
}
