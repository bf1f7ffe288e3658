package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/internal/machinecheck"
	"cordelia/mcp"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/pipeline/controller"
	runner "cordelia/run"
	"cordelia/run/cost"
	"cordelia/run/git"
	"cordelia/schemas"
)

// equipment is what fills seats in a repository, as the flags say.
type equipment struct {
	repo     *git.Repository
	home     node.Home
	project  runner.Project
	agreed   runner.Agreements
	asks     bool // its project has a command run that the user did not agree to
	seating  map[schemas.PipelineRole]*runner.Choice
	prices   cost.Prices
	models   map[schemas.PipelineRole]string
	self     string // path of this program
	shield   func(string, *git.Worktree, string) (runner.Shield, error)
	shielded string // what the shield holds, in words
}

// taskRun is one call of cordelia run.
type taskRun struct {
	*cli.Acting
	equipment
	f     runFlags
	seats *ops.Seats
	task  controller.View
	board *runBoard
}

// runTask begins a task, or goes on with one, and fills its seats.
func runTask(ctx context.Context, a *cli.App, f runFlags, words string) error {
	if err := cmp.Or(f.one(words), f.bounds(), reportable(f.report)); err != nil {
		return err
	}
	repo, err := git.Open(ctx, ".")
	if err != nil {
		return err
	}
	if f.list || f.clean || f.discard != "" {
		return a.Person(ctx, func(w *cli.Acting) error { return oldRuns(ctx, w, repo, f) })
	}
	e, err := equip(ctx, a, f, repo)
	if err != nil {
		return err
	}
	a.Tune = recordedOnly
	return a.Person(ctx, func(w *cli.Acting) error {
		r := &taskRun{Acting: w, equipment: e, f: f, seats: &ops.Seats{Node: w.Node, Person: w.Caller}}
		if err := r.agree(ctx); err != nil {
			return err
		}
		return r.run(ctx, words)
	})
}

// recordedOnly has the node demand a record: machine checks of this home's folders say
// nothing about a worktree, and what an executor only claims proves nothing.
func recordedOnly(c *node.Config) {
	c.Checks = machinecheck.Env{}
	c.Tasks.Evidence.RequireRecorded = true
	c.Tasks.Evidence.JudgeCalls = true // which the runner makes: a judge has no tools
}

// equip finds who fills the seats, and what they may reach.
func equip(ctx context.Context, a *cli.App, f runFlags, repo *git.Repository) (e equipment, err error) {
	e.repo = repo
	home, err := a.AbsoluteHome()
	if err != nil {
		return e, err
	}
	e.home = home
	if e.models, err = byRole("model", f.model); err != nil {
		return e, err
	}
	if e.project, err = runner.ProjectOf(repo); err != nil {
		return e, err
	}
	e.agreed = runner.Agreements(home.Agreements())
	if f.prepare != "" {
		e.project.Prepare = f.prepare
	} else if e.asks, err = e.agreed.Asks(repo, e.project); err != nil {
		return e, err
	}
	if e.seating, err = f.seating(home); err != nil {
		return e, err
	}
	if e.prices, err = config.ReadPrices(home); err != nil {
		return e, err
	}
	if e.self, err = os.Executable(); err != nil {
		return e, fmt.Errorf("find this program: %w", err)
	}
	e.shield, e.shielded, err = f.shield(ctx, home, repo)
	return e, err
}

// run fills the seats of the task until it is over, and says how it ended.
func (r *taskRun) run(ctx context.Context, words string) error {
	included := 0
	var err error
	if r.f.include {
		if included, err = r.repo.IncludeChanges(ctx); err != nil {
			return err
		}
	}
	if err := r.begin(ctx, words); err != nil {
		return err
	}
	folder, err := runFolder(r.task.TaskID)
	if err != nil {
		return err
	}
	free, err := r.repo.Occupy(folder)
	if err != nil {
		return err
	}
	defer free()
	r.board = newRunBoard(r.Acting.App, folder)
	defer r.board.done()
	for _, note := range r.repo.Notes(ctx, included) {
		r.board.Note(note)
	}
	if err := git.Sweep(filepath.Dir(folder), time.Now()); err != nil {
		r.board.Note(fmt.Sprintf("old folders of runs could not be removed: %v", err))
	}
	r.board.Note(fmt.Sprintf("task %s; its branch: %s", schemas.ShortID(r.task.TaskID), git.Branch(r.task.TaskID)))
	e, err := r.fill(ctx, folder)
	if err != nil {
		return err
	}
	r.board.done()
	return r.finish(context.WithoutCancel(ctx), ctx.Err() != nil, e)
}

// begin submits the task, or finds the one to go on with.
func (r *taskRun) begin(ctx context.Context, words string) (err error) {
	id := r.f.resume
	if id == "" {
		if id, err = r.seats.Submit(ctx, words, r.repo.Top); err != nil {
			return err
		}
		// At once, also if the run is being stopped: later ones begin from what is included, too.
		if _, err := r.repo.Tip(context.WithoutCancel(ctx), id); err != nil {
			return err
		}
	}
	if r.task, err = r.seats.View(ctx, id); err != nil {
		return err
	}
	if !r.seats.Belongs(r.task, r.repo.Top) {
		return schemas.Invalidf("task %s belongs to another repository", id).
			Try("run it in the repository it was begun in")
	}
	if !r.task.State.Final() {
		return r.repo.Unused(ctx, r.task.TaskID)
	}
	has, err := r.repo.HasBranch(ctx, r.task.TaskID)
	if err != nil {
		return err
	}
	if !has { // else it would be made anew, without the work
		return schemas.Conflictf("task %s is %s, and its branch is gone", schemas.ShortID(r.task.TaskID), r.task.State).
			Try("see it: cordelia task show %s", schemas.ShortID(r.task.TaskID))
	}
	return nil
}

// fill fills seats until the task is over or stopped; with --plan-only it stops at the plan
// and, at a terminal, asks whether to go on.
func (r *taskRun) fill(ctx context.Context, folder string) (e runner.Ending, err error) {
	limited := ctx
	if r.f.maxTime > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, r.f.maxTime,
			fmt.Errorf("the time of this run (%s) is over", r.f.maxTime))
		defer cancel()
	}
	config := runner.Config{Node: servedSeats{r.seats, r.Acting}, Repo: r.repo, Task: r.task.TaskID, Folder: folder,
		Self: r.self, Prepare: r.project.Prepare, Models: r.models, Parallel: r.f.parallel, PlanOnly: r.f.planOnly,
		Client: func(role schemas.PipelineRole) runner.Client { return r.seating[role] }, Limits: r.f.seatLimits(),
		Prices: r.prices, Board: r.board, Shield: r.shield,
		Budget: cost.Budget{Cost: int64(r.f.maxCost * 1e6), Tokens: r.f.maxTokens}}
	if cli.Columns(r.In) > 0 {
		config.Ask = r.ask
	}
	whole := runner.New(config)
	if e, err = whole.Run(limited); err != nil || !e.Planned {
		return e, err
	}
	if !r.confirmsPlan(ctx, e) {
		return e, nil
	}
	whole.PlanOnly = false
	return whole.Run(limited)
}

// confirmsPlan shows a plan at a terminal, and asks whether to go on with it; elsewhere it reports false.
func (r *taskRun) confirmsPlan(ctx context.Context, e runner.Ending) bool {
	if r.AsJSON || cli.Columns(r.In) == 0 || ctx.Err() != nil {
		return false
	}
	r.board.pause()
	defer r.board.resume()
	r.ErrOut.WriteString(planText(e.View, cli.Columns(r.ErrOut), r.Colours())) //nolint:errcheck // as any print
	return confirmed(ctx, r.Acting.App, "Carry it out? [y/N] ")
}

// seatLimits bound one seat.
func (f runFlags) seatLimits() runner.Limits {
	return runner.Limits{First: min(2*time.Minute, f.patience), Idle: f.patience, Total: 2 * time.Hour, Turns: 200}
}

// confirmed asks a question at the terminal.
func confirmed(ctx context.Context, a *cli.App, question string) bool {
	fmt.Fprint(a.ErrOut, question)
	line, err := inputLine(ctx, a)
	answer := strings.ToLower(line)
	return err == nil && (answer == "y" || answer == "yes")
}

// inputLine reads a line of the user's, until ctx ends.
func inputLine(ctx context.Context, a *cli.App) (string, error) {
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(a.In).ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	select {
	case text := <-line:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// ask asks the user R1's questions at the terminal.
func (r *taskRun) ask(ctx context.Context, questions []string) (string, error) {
	r.board.pause()
	defer r.board.resume()
	for _, q := range questions {
		fmt.Fprintf(r.ErrOut, "? %s\n", cli.Clean(q))
	}
	fmt.Fprint(r.ErrOut, "Your answer, in a line (empty: go on without): ")
	return inputLine(ctx, r.Acting.App)
}

// servedSeats joins the seats of a run to the MCP face.
type servedSeats struct {
	*ops.Seats
	w *cli.Acting
}

// Serve serves MCP to a worker, as its agent: the tools that recall memory. Only the runner
// claims and reports, since a model with these tools could take the seat of its own planner or
// judge.
func (s servedSeats) Serve(ctx context.Context, agent runner.Agent, conn net.Conn) error {
	hand, err := s.Hand(agent)
	if err != nil {
		return err
	}
	router := mcp.NewServer(ctx, s.Node, mcp.ServerOptions{Version: cli.Version(), Toolsets: []ops.Toolset{ops.Memory}})
	ctx = mcp.WithPrincipal(ctx, mcp.Principal{ID: string(hand.Entity), Caller: hand})
	return mcp.ServeStdio(ctx, router, conn, conn, mcp.StdioOptions{})
}
