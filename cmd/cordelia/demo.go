package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/cmd/cordelia/setup"
	"cordelia/internal/demo"
	"cordelia/node"
	"cordelia/schemas"
)

func demoCommand(a *cli.App) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it all in half a minute: scripted agents, no model, nothing of yours touched",
		Long: `Play a story with scripted agents, each a real MCP client of this program: a swarm
is made, its workers race for work, one is killed, one claims what is not so, a task
is planned anew, a returning agent is reviewed, trust moves, and the audit log is
tampered with. No model is asked. The agents live in a temporary folder, which is
removed at the end, and your own home is not opened.

Each step shows what the agents were answered and holds it against what is promised;
exit code 1 if something does not hold. It takes as long as the lease of the worker
that is killed: some 20 seconds.`,
		Example: "  cordelia demo\n  cordelia demo --keep\n  cordelia demo --json",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd.Context(), a, keep, "", demo.Harbour(), "swarm status swarm-harbour")
		},
	}
	cmd.PersistentFlags().BoolVar(&keep, "keep", false, "keep the folder, to look around in it")
	cmd.AddCommand(&cobra.Command{
		Use:   "roles",
		Short: "See roles at work: issues, failed checks and pull requests become work, and you are asked",
		Long: `Play a story with the three workspaces that come with the program: signed requests
of a webhook come in, roles decide over them, their agents do the work, and what a role
may not do alone waits for you. No model is asked, and nothing leaves this machine.`,
		Example: "  cordelia demo roles\n  cordelia demo roles --keep",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd.Context(), a, keep, "", demo.Roles(), "role list")
		},
	})
	var client string
	run := &cobra.Command{
		Use:   "run",
		Short: "See your own coding client do a small task: it asks its model, and its account pays",
		Long: `Have your own coding client do a task as cordelia run does: in a small repository
in a temporary folder, with roles, worktrees, a sandbox and a record. It asks its model,
and its account pays: some ten calls.`,
		Example: "  cordelia demo run\n  cordelia demo run --client codex --keep",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd.Context(), a, keep, client, demo.OwnClient(), "task list")
		},
	}
	run.Flags().StringVar(&client, "client", "claude-code", "who does it: claude-code, codex or gemini-cli")
	cmd.AddCommand(run)
	return cmd
}

// demoReport is what --json prints.
type demoReport struct {
	Held   bool        `json:"held"` // every step came out as promised
	Steps  []demo.Step `json:"steps"`
	TookMS int64       `json:"took_ms"`
	Home   string      `json:"home,omitempty"` // if it was kept
	Try    []string    `json:"try"`
}

func runDemo(ctx context.Context, a *cli.App, keep bool, client string, story demo.Story, look string) (err error) {
	// A reader that went away ends it as Ctrl-C does.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGPIPE)
	defer stop()
	if _, err := node.ParseDurability(a.Durability); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if client, err = demoClient(client, self); err != nil {
		return err
	}
	folder, err := makeFolder()
	if err != nil {
		return err
	}
	show := &stageVoice{App: a, ctx: ctx}
	setting := demo.Setting{Binary: self, Folder: folder, Flags: []string{"--durability", a.Durability}, Teller: show,
		Client: client}
	if !keep {
		defer func() { err = errors.Join(err, strike(setting)) }()
	}
	show.open(setting)
	start := time.Now()
	steps, played := demo.Play(ctx, setting, story)
	report := demoReport{Held: played == nil, Steps: steps, TookMS: time.Since(start).Milliseconds(), Try: tryNext(a)}
	if keep {
		report.Home = setting.Home()
	}
	switch {
	case played != nil && ctx.Err() != nil:
		return schemas.Errorf(schemas.CodeUnavailable,
			"the demo was interrupted").Try("run: cordelia demo").Because(played)
	case a.AsJSON:
		err = a.PrintJSON(report)
	case played == nil:
		show.close(report, look)
	}
	if played != nil {
		hint := "run it again with --keep and look at what is there with --home"
		if keep {
			hint = "look at what is there with --home " + cli.Quoted(report.Home)
		}
		return schemas.Errorf(schemas.CodeInternal, "%v", played).Try("%s", hint)
	}
	return err
}

// demoClient is the name of the client that a story needs, if any, once that is found here.
func demoClient(client, self string) (string, error) {
	if client == "" {
		return "", nil
	}
	name, known := config.ClientName(client), strings.Join(cli.SortedKeys(config.Clients), ", ")
	if config.Clients[name] == "" {
		return "", schemas.Invalidf("--client %s is none that the demo has", client).Expecting("%s", known)
	}
	if _, err := config.ClientNamed(name, nil, "", self); err != nil {
		return "", schemas.Errorf(schemas.CodeOf(err), "%s", schemas.MessageOf(err)).
			Try("install it, start it once and log in; or name another by --client: %s; cordelia demo needs none",
				known).Because(err)
	}
	return name, nil
}

// makeFolder makes the folder of a story. Its path is absolute, also if TMPDIR is not, since
// the agents have other working directories, and without symbolic links, as its database has it.
func makeFolder() (folder string, err error) {
	place, err := filepath.Abs(os.TempDir())
	if err == nil {
		place, err = filepath.EvalSymlinks(place)
	}
	if err == nil {
		folder, err = os.MkdirTemp(place, "cordelia-demo-")
	}
	if err != nil {
		return "", schemas.Errorf(schemas.CodeUnavailable, "there is no place for a temporary folder").
			Try("set TMPDIR, on Windows TMP, to a folder of yours").Because(err)
	}
	return folder, nil
}

// strike removes what a story left.
func strike(s demo.Setting) error {
	err := s.Strike()
	if err != nil {
		return schemas.Errorf(schemas.CodeUnavailable, "the folder %s cannot be removed",
			s.Folder).Try("remove it yourself").Because(err)
	}
	return nil
}

// Pauses for a person who reads along at a terminal; on a slow machine there are none after a
// while. Meanwhile the lease runs out that the demo would otherwise wait for.
const (
	afterTitle = 700 * time.Millisecond
	afterLine  = 400 * time.Millisecond
	pauseUntil = 22 * time.Second
)

// stageVoice tells the story to the output.
type stageVoice struct {
	*cli.App
	ctx   context.Context // ends a pause
	since time.Time
}

// open says what is about to happen.
func (v *stageVoice) open(s demo.Setting) {
	v.since = time.Now()
	if v.AsJSON {
		return
	}
	if s.Client != "" {
		v.Say("Your %s does a task, in a folder of its own: %s", s.Client, filepath.Dir(s.Home()))
		return
	}
	v.Say("Scripted agents, each a real MCP client of this program. No model is asked, nothing")
	v.Say("leaves this machine, and their home is a folder of its own: %s", filepath.Dir(s.Home()))
}

// Begin says which step begins.
func (v *stageVoice) Begin(number int, title string) {
	if v.AsJSON {
		return
	}
	v.Say("\n%s", cli.Paint(v.Colours(), cli.Bold, fmt.Sprintf("%d  %s", number, cli.Clean(title))))
	v.pause(afterTitle)
}

// Tell says what happened, and below it what shows that.
func (v *stageVoice) Tell(l demo.Line) {
	if v.AsJSON {
		return
	}
	v.Say("   %s", cli.Clean(l.Text))
	if l.Proof != "" {
		v.Say("   %s", cli.Paint(v.Colours(), cli.Dim, "→ "+cli.Clean(l.Proof)))
	}
	v.pause(afterLine)
}

// Wait shows that something takes a while.
func (v *stageVoice) Wait(what string) (done func()) { return v.Progress(what) }

func (v *stageVoice) pause(d time.Duration) {
	if cli.Columns(v.Out) == 0 || time.Since(v.since) > pauseUntil {
		return
	}
	select {
	case <-time.After(d):
	case <-v.ctx.Done():
	}
}

// close sums up, and says what to do next.
func (v *stageVoice) close(r demoReport, look string) {
	t := cli.Table{Head: []string{"", "STEP", "WHAT YOU SAW"}, Firm: 2}
	for i, s := range r.Steps {
		t.Add(cli.Text(fmt.Sprint(i+1)), cli.Text(cli.Clean(s.Name)), cli.Styled(cli.Clean(s.Shown), cli.Green))
	}
	v.Say("")
	v.Print(t)
	v.Say("\nAll of it held, in %s.", schemas.Count(int(r.TookMS/1000), "second", "seconds"))
	if r.Home != "" {
		v.Say("It is kept: %s --home %s %s", program(), cli.Quoted(r.Home), look)
		v.Say("In a browser: %s --home %s console", program(), cli.Quoted(r.Home))
	}
	v.Say("\nTry next:")
	for _, line := range r.Try {
		v.Say("  %s", line)
	}
}

// program is how this program is called from where the user is.
func program() string {
	self, err := os.Executable()
	switch {
	case err != nil:
		return "cordelia"
	case setup.Temporary(self) && cli.Exists(filepath.Join("cmd", "cordelia", "main.go")):
		return "go run ./cmd/cordelia"
	case strings.TrimSuffix(filepath.Base(self), ".exe") == "cordelia" && setup.OnPath(filepath.Dir(self)):
		return "cordelia"
	}
	return cli.Quoted(self)
}

// tryNext lists commands that work for this user now.
func tryNext(a *cli.App) []string {
	program := program()
	if node.Home(a.Home).Fresh() {
		return []string{program + " setup --dry-run", program + " setup"}
	}
	if a.Home != defaultHome() {
		program += " --home " + cli.Quoted(a.Home)
	}
	return []string{
		program + " agent list",
		program + ` memory write "The demo took half a minute" --as claude-code`,
		program + " memory search demo --as claude-code",
		program + " audit verify",
	}
}
