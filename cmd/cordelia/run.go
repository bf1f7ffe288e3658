package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordelia/internal/check"
	"cordelia/mcp"
	"cordelia/ops"
	runner "cordelia/run"
	"cordelia/schemas"
)

const (
	exitUnfinished exit = 8 // run: it stopped before its task was over
)

// runFlags are the flags of run.
type runFlags struct {
	resume    string
	discard   string
	list      bool
	parallel  int
	model     []string
	client    string
	seat      []string
	sandbox   string
	prepare   string
	read      []string
	ports     []int
	maxTime   time.Duration
	maxCost   float64
	maxTokens int64
	yes       bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run WORDS…",
		Short: "Have your coding client plan, do and judge a task in this git repository",
		Long: `Say what you want in the git repository you are in. Your own coding client (Claude
Code, with the login it has) fills the roles of the pipeline: it carries your words
over, plans, works in git worktrees of its own, and judges. Each role is an agent of its own
with no more rights than it needs; a worker reaches no key and no database. Tool calls
are recorded as they happen, and what the record does not show counts as not done.

What is accepted lies on the branch cordelia/TASK. Your branch, your index and your
working tree are not touched. Ctrl-C gives the roles back; --resume goes on.

Exit codes: 0 accepted, 6 abandoned, 7 cancelled, 8 stopped before its end,
130 interrupted.`,
		Example: "  cordelia run \"rows without a date are kept; the tests pass\"\n  cordelia run --resume 0198c0de",
		Args:    wants(maxWords),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.runTask(cmd.Context(), f, strings.Join(words, " "))
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.resume, "resume", "", "go on with this task")
	fs.BoolVar(&f.list, "list", false, "list the tasks of this repository")
	fs.StringVar(&f.discard, "discard", "", "throw a task of this repository away: cancel it and delete its branch")
	fs.IntVar(&f.parallel, "parallel", 2, "roles filled at once")
	fs.StringSliceVar(&f.model, "model", nil, "model for all roles, or for one: R3=NAME")
	fs.StringVar(&f.client, "client", "claude-code", "who fills the roles: claude-code or codex")
	fs.StringSliceVar(&f.seat, "seat", nil, "who fills one role: R3=codex")
	fs.StringVar(&f.sandbox, "sandbox", "auto",
		"auto: confine workers, or refuse to run; none: workers reach what you can")
	fs.StringVar(&f.prepare, "prepare", "",
		"command that installs dependencies in each fresh worktree: \"npm ci\"")
	fs.StringSliceVar(&f.read, "read", nil,
		"file or folder that confined workers may read, such as a cache of dependencies")
	fs.IntSliceVar(&f.ports, "port", nil, "TCP port that confined workers may connect to, beside 443 and the client's")
	fs.DurationVar(&f.maxTime, "max-time", 0, "stop after this time, such as 30m")
	fs.Float64Var(&f.maxCost, "max-cost", 0, "begin nothing more once this many US dollars are spent")
	fs.Int64Var(&f.maxTokens, "max-tokens", 0, "begin nothing more once this many tokens are used")
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask before the first run in a repository")
	return cmd
}

// runTask begins a task, or goes on with one, and fills its seats.
func (a *app) runTask(ctx context.Context, f runFlags, words string) error {
	given := 0
	for _, yes := range []bool{words != "", f.resume != "", f.discard != "", f.list} {
		if yes {
			given++
		}
	}
	if given != 1 {
		return schemas.Invalidf("it is not clear what to run").
			Expecting("words that say what you want, or --resume or --discard with a task, or --list").
			Try(`run: cordelia run "what you want"`)
	}
	models, err := byRole("model", f.model)
	if err != nil {
		return err
	}
	repo, err := runner.OpenRepository(ctx, ".")
	if err != nil {
		return err
	}
	if f.list || f.discard != "" {
		return a.person(ctx, func(w *acting) error { return w.oldRuns(ctx, repo, f.discard) })
	}
	client, err := f.clients()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	shield, shielded, err := f.shield(ctx, repo)
	if err != nil {
		return err
	}
	// Whoever moves the task on, machine checks of this home's folders say nothing about a
	// worktree, and what an executor only claims proves nothing.
	a.tune = func(c *ops.Config) {
		c.Checks = check.Env{}
		c.Tasks.Evidence.RequireRecorded = true
		c.Tasks.Evidence.JudgeCalls = true // which the runner makes: a judge has no tools
	}
	return a.person(ctx, func(w *acting) error {
		seats := &ops.Seats{Node: w.node, Person: w.caller}
		board := &runBoard{app: a}
		if err := a.agree(ctx, f, seats, repo, client[schemas.Executor], shielded); err != nil {
			return err
		}
		task := f.resume
		if task == "" {
			if task, err = seats.Submit(ctx, runner.Request{Words: words, Folder: repo.Top}); err != nil {
				return err
			}
		}
		view, err := seats.View(ctx, task)
		if err != nil {
			return err
		}
		if !seats.Belongs(view, repo.Top) {
			return schemas.Invalidf("task %s is none of this repository", task).
				Try("run it in the repository it was begun in")
		}
		for _, note := range repo.Notes(ctx) {
			board.Note(note)
		}
		folder, err := runFolder(view.TaskID)
		if err != nil {
			return err
		}
		if err := runner.Sweep(filepath.Dir(folder), time.Now()); err != nil {
			board.Note(fmt.Sprintf("old folders of runs could not be removed: %v", err))
		}
		board.Note(fmt.Sprintf("task %s; its branch: %s", schemas.ShortID(view.TaskID), runner.Branch(view.TaskID)))
		limited := ctx
		if f.maxTime > 0 {
			var cancel context.CancelFunc
			limited, cancel = context.WithTimeoutCause(ctx, f.maxTime,
				fmt.Errorf("the time of this run (%s) is over", f.maxTime))
			defer cancel()
		}
		config := runner.Config{Node: servedSeats{seats, w}, Repo: repo, Task: view.TaskID, Folder: folder,
			Self: self, Prepare: f.prepare,
			Models: models, Parallel: f.parallel,
			Client: func(role schemas.PipelineRole) runner.Client { return client[role] }, Limits: seatLimits(),
			Board: board, Shield: shield,
			Budget: runner.Budget{Cost: int64(f.maxCost * 1e6), Tokens: f.maxTokens}}
		if columns(a.in) > 0 {
			config.Ask = a.askQuestions
		}
		e, err := runner.New(config).Run(limited)
		if err != nil {
			return err
		}
		return w.showEnding(context.WithoutCancel(ctx), ctx.Err() != nil, e)
	})
}

// shield gives what workers may reach, and words it for the user.
func (f runFlags) shield(ctx context.Context,
	repo *runner.Repository) (func(string, *runner.Worktree, string) (runner.Shield, error), string, error) {
	switch f.sandbox {
	case "none":
		return func(string, *runner.Worktree, string) (runner.Shield, error) { return runner.Shield{}, nil },
			"none: workers reach what you can", nil
	case "auto":
	default:
		return nil, "", schemas.Invalidf("--sandbox %s is not known", f.sandbox).Expecting("auto or none")
	}
	holds, _, err := runner.Shielded()
	if err != nil {
		return nil, "", err
	}
	var add runner.Reach
	for _, path := range f.read {
		whole, err := filepath.Abs(path)
		if err != nil {
			return nil, "", err
		}
		add.Read = append(add.Read, whole)
	}
	for _, port := range f.ports {
		if port < 1 || port > 65535 {
			return nil, "", schemas.Invalidf("--port %d is none", port).Expecting("1 to 65535")
		}
		add.Ports = append(add.Ports, uint16(port))
	}
	return func(place string, w *runner.Worktree, door string) (runner.Shield, error) {
		return repo.WorkerShield(ctx, place, w, door, add)
	}, strings.Join(holds, "; "), nil
}

// seatLimits bound one seat.
func seatLimits() runner.Limits {
	return runner.Limits{First: 2 * time.Minute, Idle: 20 * time.Minute, Total: 2 * time.Hour, Turns: 200}
}

// runFolder is where the worktrees of a task are made.
func runFolder(task string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", schemas.Errorf(schemas.CodeUnavailable, "there is no folder for worktrees").Try("set HOME").
			Because(err)
	}
	return filepath.Join(cache, "cordelia", "runs", schemas.ShortID(task)), nil
}

// agree shows, before the first run in a repository, what it will do, and asks.
func (a *app) agree(ctx context.Context, f runFlags, seats *ops.Seats, repo *runner.Repository, client runner.Client,
	shielded string) error {
	known, err := seats.Knows(ctx, repo.Top)
	if err != nil || known || f.yes {
		return err
	}
	fmt.Fprintf(a.errOut, "The first run in %s:\n  client   %s, with its own login: its account pays\n  sandbox  "+
		"%s\n  limits   %s\n", clean(repo.Top), client.Name(), shielded, f.limits())
	if columns(a.in) == 0 {
		return schemas.Invalidf("nobody can be asked whether that is wanted").Try("say so with --yes")
	}
	fmt.Fprint(a.errOut, "Go on? [y/N] ")
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err == nil && (answer == "y" || answer == "yes") {
		return nil
	}
	return exitUnfinished
}

func (f runFlags) limits() string {
	var list []string
	if f.maxCost > 0 {
		list = append(list, fmt.Sprintf("$%.2f", f.maxCost))
	}
	if f.maxTokens > 0 {
		list = append(list, fmt.Sprintf("%d tokens", f.maxTokens))
	}
	if f.maxTime > 0 {
		list = append(list, f.maxTime.String())
	}
	if list == nil {
		return "none (--max-cost, --max-tokens, --max-time)"
	}
	return strings.Join(list, ", ")
}

// askQuestions asks the user R1's questions at the terminal.
func (a *app) askQuestions(ctx context.Context, questions []string) (string, error) {
	for _, q := range questions {
		fmt.Fprintf(a.errOut, "? %s\n", clean(q))
	}
	fmt.Fprint(a.errOut, "Your answer, in a line (empty: go on without): ")
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(a.in).ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	select {
	case text := <-line:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// servedSeats joins the seats of a run to the MCP face.
type servedSeats struct {
	*ops.Seats
	w *acting
}

// Serve serves MCP to a worker, as its agent.
func (s servedSeats) Serve(ctx context.Context, agent runner.Agent, conn net.Conn) error {
	hand, err := s.Hand(agent)
	if err != nil {
		return err
	}
	router := mcp.NewServer(ctx, s.Node, mcp.ServerOptions{Version: version()})
	ctx = mcp.WithPrincipal(ctx, mcp.Principal{ID: string(hand.Entity), Value: hand})
	return mcp.ServeStdio(ctx, router, conn, conn, mcp.StdioOptions{})
}
